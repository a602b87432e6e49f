"""A public replay played again, turn by turn: for those who show it."""

from dataclasses import dataclass

from arena.referee.places import taken_over
from arena.replay.document import InvalidReplay, PublicReplay, ReplayTurn
from arena.replay.verify import verify
from arena.rules import Card, Moment, Move, State, apply, asked, moments, new_game, shuffled_deck


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
    ends = taken_over([turn.fault for turn in replay.turns], rules.players)
    state = new_game(rules, shuffled_deck(rules, bytes.fromhex(replay.seed)))
    steps: list[Step] = []
    while not state.over:
        moves = _moves(replay.turns[len(steps)], state)
        for moment in moments(state, moves):
            gone = tuple([end is not None and end <= len(steps) for end in ends])
            steps.append(Step(moment, replay.turns[len(steps)], gone))
        state = apply(state, moves)
    return tuple(steps)


def _moves(turn: ReplayTurn, state: State) -> list[Move | None]:
    plays = [tuple([Card.from_label(label) for label in play]) for play in turn.plays]
    seats, controller = asked(state), state.controller
    return [
        Move(plays[seat], plays[-1][0] if seat == controller else None) if seat in seats else None
        for seat in range(state.rules.players)
    ]
