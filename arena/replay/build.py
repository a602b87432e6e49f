"""From a finished game to its public replay."""

from collections.abc import Iterator, Sequence
from typing import Final

from arena.match import Decision
from arena.replay.document import (
    FORMAT,
    Cards,
    PublicReplay,
    ReplayPuddings,
    ReplayRound,
    ReplayTurn,
    Seat,
    Variant,
)
from arena.rules import SHUFFLE, Card, RoundScore, Rules, State, Turn, deals

_LABELS: Final = {card: card.label for card in Card}

Step = Sequence[Decision | None]
"""A joint decision: one entry a seat, None for a seat that was not asked."""


def build(  # noqa: PLR0913 - a record has these parts; all are named at the call
    *,
    game: str,
    seed: str,
    state: State,
    seats: Sequence[Seat],
    places: Sequence[int] | None = None,
    steps: Sequence[Step] | None = None,
) -> PublicReplay:
    """Build the public replay of a game that is over.

    Args:
        game: Its id.
        seed: 32 hexadecimal digits; the deck of ``state`` follows from it.
        state: The game at its end.
        seats: Who played, one a seat.
        places: The places that count, one a seat: with faults those of
            :func:`arena.referee.places.places_with_faults`; None for those of
            the rules.
        steps: The decisions as the referee recorded them, in order; without
            them nothing is known of faults and time.

    Raises:
        ValueError: The game is not over, or the lists don't fit it.
    """
    rules, result = state.rules, state.result
    if result is None:
        raise ValueError(f"game {game}: it is not over, so there is no replay of it yet")
    places = result.places if places is None else places
    if not len(seats) == len(places) == rules.players:
        raise ValueError(
            f"game {game}: {len(seats)} seats and {len(places)} places for {rules.players} players"
        )
    return PublicReplay(
        format=FORMAT,
        game=game,
        seed=seed,
        shuffle=SHUFFLE,
        rules=Variant.of(rules),
        seats=tuple(seats),
        deals=dealt(rules, state.deck),
        turns=turns_of(state, steps),
        rounds=tuple(scored(scores) for scores in state.rounds),
        puddings=ReplayPuddings(counts=result.puddings, scores=result.pudding_scores),
        totals=result.totals,
        places=tuple(places),
        rules_places=result.places,
    )


def dealt(rules: Rules, deck: Sequence[Card]) -> tuple[tuple[Cards, ...], ...]:
    """Return the deals of a game by name: ``[round][participant]``, each in deal order."""
    return tuple(tuple(labels(hand) for hand in hands) for hands in deals(rules, deck))


def scored(scores: Sequence[RoundScore]) -> ReplayRound:
    """Return the points of one round, one a participant."""
    return ReplayRound(
        scores=tuple([sum(score) for score in scores]),
        breakdown=tuple([score._asdict() for score in scores]),
    )


def labels(cards: Sequence[Card]) -> Cards:
    """Return the names of cards."""
    return tuple([_LABELS[card] for card in cards])


def is_automatic(rules: Rules, turn: int) -> bool:
    """Whether nobody is asked in this turn of a round: everybody holds one card."""
    return turn == rules.turns and not rules.dummy


def turns_of(state: State, steps: Sequence[Step] | None) -> tuple[ReplayTurn, ...]:
    """Join what was revealed with what the referee noted, which knows no automatic turns.

    Args:
        state: The game at its end, or right after the end of a round.
        steps: The decisions so far; None where nothing was noted.

    Raises:
        ValueError: These are fewer or more.
    """
    return tuple(_turns(state, steps))


def _turns(state: State, steps: Sequence[Step] | None) -> Iterator[ReplayTurn]:
    nobody: Step = (None,) * state.rules.players
    asked = sum(not is_automatic(state.rules, turn.turn) for turn in state.turns)
    if steps is not None and len(steps) != asked:
        raise ValueError(f"{len(steps)} steps for a game of {asked} joint decisions")
    step = iter(steps if steps is not None else (nobody,) * asked)
    for turn in state.turns:
        seats = nobody if is_automatic(state.rules, turn.turn) else next(step)
        yield _turn(turn, seats, timed=steps is not None)


def _turn(turn: Turn, step: Step, *, timed: bool) -> ReplayTurn:
    return ReplayTurn(
        round=turn.round,
        turn=turn.turn,
        plays=tuple([labels(play) for play in turn.plays]),
        standin=tuple([seat is not None and seat.standin for seat in step]),
        fault=tuple([seat.fault if seat else None for seat in step]),
        millis=tuple([seat.millis if seat else None for seat in step]) if timed else None,
    )
