"""Statistics from a tally, by card and turn."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from operator import add
from typing import Final

from arena.ladder.card_counts import ALL_TURNS, POINT, WIN, Count, Games, Tally
from arena.rules import PLAYER_COUNTS, Card, Rules

_Z: Final = 1.959964
"""Half the width of a 95% interval, in standard deviations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number and its 95% interval.

    Attributes:
        value: The number.
        low: The lower end.
        high: The upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate(Estimate):
    """A share of games won, from 0 to 1, with Wilson's score interval.

    Attributes:
        effective: Effective number of independent decisions.
    """

    effective: float


def win_rate(won: int, times: int, squares: int) -> WinRate | None:
    """Return the share of decisions that were made in won games, or None if there are no decisions.

    ``won`` is in units of 1 / ``WIN``. ``times`` is the number of decisions. ``squares`` is the sum of the
    squares of each seat's number of decisions in each game.
    """
    if not times:
        return None
    rate = won / WIN / times
    effective = times * times / squares
    low, high = _wilson(rate, effective)
    return WinRate(value=rate, low=low, high=high, effective=effective)


def difference(one: WinRate, other: WinRate) -> Estimate:
    """Return ``one`` minus ``other`` with Newcombe's hybrid score interval."""
    value = one.value - other.value
    return Estimate(
        value=value,
        low=value - sqrt((one.value - one.low) ** 2 + (other.high - other.value) ** 2),
        high=value + sqrt((one.high - one.value) ** 2 + (other.value - other.low) ** 2),
    )


def _wilson(rate: float, number: float) -> tuple[float, float]:
    square = _Z * _Z
    middle = rate + square / (2 * number)
    half = _Z * sqrt(rate * (1 - rate) / number + square / (4 * number * number))
    whole = 1 + square / number
    # Without min and max, rounding could exclude a rate of 0 or 1 from its own interval.
    return max(0.0, min((middle - half) / whole, rate)), min(1.0, max((middle + half) / whole, rate))


FEW: Final = 100
"""Minimum effective number of decisions for a reliable figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFigures:
    """The counts and figures for a card. The page /cards/definitions explains them.

    Attributes:
        turn: Turn of the round, numbered from 1; None for all turns.
        seen: Decisions with the card in the hand.
        taken: Decisions that took the card.
        copies: Number of copies taken; with chopsticks, a decision may take two.
        take_rate: ``taken`` divided by ``seen``; None if the card was never seen.
        won_taken: Share of games won after taking the card; None if it was never taken.
        won_passed: Share of games won after passing the card; None if it was never passed.
        difference: ``won_taken`` minus ``won_passed``; None if one is missing.
        mean_points: Mean points per copy; None for chopsticks, or if the card was never taken.
        few: Whether bots took or passed the card too rarely for reliable shares of games won.
    """

    turn: int | None
    seen: int
    taken: int
    copies: int
    take_rate: float | None
    won_taken: WinRate | None
    won_passed: WinRate | None
    difference: Estimate | None
    mean_points: float | None
    few: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CardLine:
    """The statistics for a kind of card.

    Attributes:
        card: Name of the card, as in replays.
        total: Figures over all turns.
        mean_turn_seen: Mean turn of the decisions with the card in the hand; None if it was never seen.
        mean_turn_taken: Mean turn of the decisions that took the card; None if it was never taken.
        turns: Figures for each turn in which bots decide, in order.
    """

    card: str
    total: CardFigures
    mean_turn_seen: float | None
    mean_turn_taken: float | None
    turns: tuple[CardFigures, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardTable:
    """The statistics for all kinds of cards.

    Attributes:
        players: Number of players, or None for all games.
        games: Number of games counted.
        seats: Seats in these games, except those that the stand-in took over.
        decisions: Decisions made by these seats, except the stand-in's.
        win_rate: Share of decisions that were made in won games; None if there are no decisions.
        cards: Cards in the order of the deck. Soy sauce, used only in a variant, is included only if seen.
    """

    players: int | None
    games: int
    seats: int
    decisions: int
    win_rate: float | None
    cards: tuple[CardLine, ...]


def table_of(tally: Tally, players: int | None) -> CardTable:
    """Return the statistics for games with this number of players; for all games if ``players`` is None."""
    counts: dict[tuple[Card, int], Count] = {}
    for (number, card, turn), more in tally.counts.items():
        if players in {None, number}:
            counts[card, turn] = Count(*map(add, counts.get((card, turn), Count()), more))
    games = Games()
    for number, each in tally.games.items():
        if players in {None, number}:
            games = Games(*map(add, games, each))
    # The last card of a round is played without a decision.
    turns = range(1, Rules(players=players or PLAYER_COUNTS[0]).turns)
    return CardTable(
        players=players,
        games=games.games,
        seats=games.seats,
        decisions=games.decisions,
        win_rate=games.won / WIN / games.decisions if games.decisions else None,
        cards=tuple(
            _line(card, counts, turns)
            for card in Card
            if card is not Card.SOY_SAUCE or (card, ALL_TURNS) in counts
        ),
    )


def _line(card: Card, counts: Mapping[tuple[Card, int], Count], turns: range) -> CardLine:
    total = counts.get((card, ALL_TURNS), Count())
    by_turn = {turn: counts.get((card, turn), Count()) for turn in turns}
    return CardLine(
        card=card.label,
        total=_figures(card, None, total),
        mean_turn_seen=_mean(sum(turn * count.seen for turn, count in by_turn.items()), total.seen),
        mean_turn_taken=_mean(sum(turn * count.taken for turn, count in by_turn.items()), total.taken),
        turns=tuple(_figures(card, turn, count) for turn, count in by_turn.items()),
    )


def _figures(card: Card, turn: int | None, count: Count) -> CardFigures:
    taken = win_rate(count.won_taken, count.taken, count.taken_squares)
    passed = win_rate(count.won_passed, count.seen - count.taken, count.passed_squares)
    return CardFigures(
        turn=turn,
        seen=count.seen,
        taken=count.taken,
        copies=count.cards,
        take_rate=_mean(count.taken, count.seen),
        won_taken=taken,
        won_passed=passed,
        difference=difference(taken, passed) if taken and passed else None,
        mean_points=None if card is Card.CHOPSTICKS else _mean(count.points, count.cards * POINT),
        few=taken is None or passed is None or min(taken.effective, passed.effective) < FEW,
    )


def _mean(total: int, number: int) -> float | None:
    return total / number if number else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CardHabit:
    """A bot's decisions about one kind of card."""

    card: str  # name, as in replays
    seen: int  # decisions with the card in the hand
    taken: int  # decisions that took it
    rate: float  # taken / seen
    # How often all bots take it in the same turns with the same number of players. None if unknown.
    usual: float | None
    difference: float | None  # the bot's rate minus `usual`; None if `usual` is None


def habits(own: Tally, everybody: Tally) -> tuple[CardHabit, ...]:
    """Return a bot's habits in the order of the deck, without cards that it never saw."""
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
    usual = _weighted_mean((mine.seen, all_.taken / all_.seen if all_ else None) for mine, all_ in counts)
    rate = taken / seen
    return CardHabit(
        card=card.label,
        seen=seen,
        taken=taken,
        rate=rate,
        usual=usual,
        difference=None if usual is None else rate - usual,
    )


def _weighted_mean(weighted: Iterable[tuple[int, float | None]]) -> float | None:
    """Return the mean of (weight, value) pairs, or None if a value is missing."""
    total, weights = 0.0, 0
    for weight, value in weighted:
        if value is None:
            return None
        total += weight * value
        weights += weight
    return total / weights
