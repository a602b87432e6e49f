"""What one bot takes, compared with what everybody takes in the same place."""

from collections.abc import Iterable
from dataclasses import dataclass

from arena.cardstats.counts import ALL_TURNS, Tally
from arena.rules import Card


@dataclass(frozen=True, slots=True, kw_only=True)
class CardHabit:
    """How often a bot takes a kind of card.

    Attributes:
        card: Its name, as in replays.
        seen: Decisions whose hand held it.
        taken: Decisions that took it.
        rate: Taken by seen.
        usual: How often everybody takes it with as many players and in the same turns of the round: the bot
            would, were it like everybody. None where that is not counted.
        difference: The first less the second; None where that is missing.
    """

    card: str
    seen: int
    taken: int
    rate: float
    usual: float | None
    difference: float | None


def habits(own: Tally, everybody: Tally) -> tuple[CardHabit, ...]:
    """Return a bot's habits, in the order of the deck; without what it never saw.

    Args:
        own: What was counted of the bot's seats.
        everybody: What was counted of all seats.
    """
    found = (_habit(card, own, everybody) for card in Card)
    return tuple(habit for habit in found if habit is not None)


def _habit(card: Card, own: Tally, everybody: Tally) -> CardHabit | None:
    counts = [
        (count, everybody.counts.get(key))
        for key, count in own.counts.items()
        if key[1] is card and key[2] != ALL_TURNS
    ]
    seen, taken = sum(mine.seen for mine, _ in counts), sum(mine.taken for mine, _ in counts)
    if not seen:
        return None
    usual = _mean((mine.seen, all_.taken / all_.seen if all_ else None) for mine, all_ in counts)
    rate = taken / seen
    return CardHabit(
        card=card.label,
        seen=seen,
        taken=taken,
        rate=rate,
        usual=usual,
        difference=None if usual is None else rate - usual,
    )


def _mean(weighted: Iterable[tuple[int, float | None]]) -> float | None:
    """Return the mean of values with weights; None where a value is missing."""
    total, weights = 0.0, 0
    for weight, value in weighted:
        if value is None:
            return None
        total += weight * value
        weights += weight
    return total / weights
