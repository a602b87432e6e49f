"""A public replay, or as much as may be seen of a game, played again turn by turn: for those who show it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from arena.referee.places import taken_over
from arena.replay.disclosed import DisclosedGame
from arena.replay.document import InvalidReplay, PublicReplay, ReplayTurn
from arena.replay.verify import verify
from arena.rules import (
    Card,
    InvalidRules,
    Moment,
    Move,
    State,
    apply,
    asked,
    moments,
    new_game,
    shuffled_deck,
    unshuffled_deck,
)


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of a game.

    Attributes:
        moment: What lay where.
        noted: What the replay says of it.
        gone: Which seats have been taken over, by this decision or an earlier one.
    """

    moment: Moment
    noted: ReplayTurn
    gone: tuple[bool, ...]


def course(replay: PublicReplay) -> tuple[Step, ...]:
    """Play a replay again.

    Returns:
        Every turn in order, those among them in which the last cards are played by themselves.

    Raises:
        InvalidReplay: The rules do not agree with it; the text is the first difference.
    """
    if difference := verify(replay):
        raise InvalidReplay(str(difference))
    rules = replay.variant
    return _walk(new_game(rules, shuffled_deck(rules, bytes.fromhex(replay.seed))), replay.turns)


def course_so_far(game: DisclosedGame) -> tuple[Step, ...]:
    """Play again what may be seen of a game. The states in it hold nothing else.

    Raises:
        InvalidReplay: The rules do not agree with it.
    """
    try:
        return _walk(new_game(game.variant, _deck(game)), game.turns)
    except (ValueError, InvalidRules) as error:
        raise InvalidReplay(f"not a game so far: {error}") from error


def _deck(game: DisclosedGame) -> tuple[Card, ...]:
    """Return a deck that begins with the deals so far; all others lie in it sorted, which tells nothing."""
    dealt = [Card.from_label(label) for hands in game.deals for hand in hands for label in hand]
    rest = Counter(unshuffled_deck(game.variant)) - Counter(dealt)
    return (*dealt, *sorted(rest.elements()))


def _walk(state: State, turns: Sequence[ReplayTurn]) -> tuple[Step, ...]:
    ends = taken_over([turn.fault for turn in turns], state.rules.players)
    steps: list[Step] = []
    while len(steps) < len(turns):
        moves = _moves(turns[len(steps)], state)
        for moment in moments(state, moves):
            gone = tuple([end is not None and end <= len(steps) for end in ends])
            steps.append(Step(moment, turns[len(steps)], gone))
        state = apply(state, moves)
    return tuple(steps)


def _moves(turn: ReplayTurn, state: State) -> list[Move | None]:
    plays = [tuple([Card.from_label(label) for label in play]) for play in turn.plays]
    seats, controller = asked(state), state.controller
    return [
        Move(plays[seat], plays[-1][0] if seat == controller else None) if seat in seats else None
        for seat in range(state.rules.players)
    ]
