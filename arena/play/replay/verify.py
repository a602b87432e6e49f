"""Replays a recorded game by the rules, to find the first difference or to list turns and decisions."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from arena.play.replay.disclosed import DisclosedGame
from arena.play.replay.document import (
    Cards,
    InvalidReplay,
    PublicReplay,
    ReplayTurn,
    dealt,
    is_automatic,
    labels,
    scored,
)
from arena.protocol.faults import places_with_faults, taken_over
from arena.rules import (
    SHUFFLE,
    Card,
    GameLog,
    IllegalMove,
    InvalidRules,
    Moment,
    Move,
    Play,
    State,
    Turn,
    View,
    apply,
    moments,
    new_game,
    seats_to_move,
    shuffled_deck,
    unshuffled_deck,
    view,
)

_CARDS: Final = {card.label: card for card in Card}
_MAX_QUOTED: Final = 200


class Difference(Exception):
    """A difference from the rules: its position, such as ``turns[12].plays[1][0]``, and what is wrong.

    It is an exception only so that it can end the recursion.
    """

    def __init__(self, path: str, text: str) -> None:
        super().__init__(f"{path}: {text}")


def verify(replay: PublicReplay) -> Difference | None:
    """Replay a game from its seed; return the first difference in document order, if there is one."""
    try:
        _verify(replay)
    except Difference as difference:
        return difference
    return None


def _verify(replay: PublicReplay) -> None:
    state = _start(replay)
    checker = _FaultFieldChecker(state.rules.players)
    for number, turn in enumerate(replay.turns):
        path = f"turns[{number}]"
        # If `state` is already past this turn, the turn is automatic: no seat had a choice.
        automatic = number < len(state.turns)
        seats = () if automatic else seats_to_move(state)
        if not automatic:
            state = _play(path, turn, state)
        _compare_turn(path, turn, state.turns[number])
        checker.check(path, turn, seats)
    _compare_end(replay, state, checker.moments)


def _start(replay: PublicReplay) -> State:
    """Deal from the seed."""
    _compare("shuffle", replay.shuffle, SHUFFLE)
    try:
        rules = replay.rules.as_rules
    except InvalidRules as error:
        raise Difference("rules", str(error)) from error
    _expect_length("seats", replay.seats, rules.players)
    deck = shuffled_deck(rules, bytes.fromhex(replay.seed))
    _compare("deals", replay.deals, dealt(rules, deck))
    return new_game(rules, deck)


def _play(path: str, turn: ReplayTurn, state: State) -> State:
    """Apply a recorded turn."""
    if state.over:
        raise Difference(path, "is one turn more than the game has")
    _compare(f"{path}.round", turn.round, state.round)
    _compare(f"{path}.turn", turn.turn, state.turn)
    _expect_length(f"{path}.plays", turn.plays, state.rules.participants)
    plays = [_parse_cards(f"{path}.plays[{player}]", play) for player, play in enumerate(turn.plays)]
    if state.rules.dummy:
        _expect_length(f"{path}.plays[{state.rules.players}]", plays[-1], 1)
    moves = _moves(plays, state)
    try:
        return apply(state, moves)
    except IllegalMove as error:
        raise Difference(f"{path}.plays[{error.seat}]", f"the rules forbid it: {error}") from error


def _parse_cards(path: str, names: Cards) -> tuple[Card, ...]:
    cards = []
    for number, name in enumerate(names):
        card = _CARDS.get(name)
        if card is None:
            raise Difference(f"{path}[{number}]", f"is {_quote(name)}, which is not a kind of card")
        cards.append(card)
    return tuple(cards)


def _compare_turn(path: str, turn: ReplayTurn, revealed: Turn) -> None:
    _compare(f"{path}.round", turn.round, revealed.round)
    _compare(f"{path}.turn", turn.turn, revealed.turn)
    _compare(f"{path}.plays", turn.plays, tuple([labels(play) for play in revealed.plays]))


def _compare_end(replay: PublicReplay, state: State, moments: Sequence[int | None]) -> None:
    result = state.result
    if result is None or len(replay.turns) < len(state.turns):
        raise Difference("turns", f"has {len(replay.turns)} entries, but the game doesn't end there")
    rounds = [scored(scores) for scores in state.rounds]
    _expect_length("rounds", replay.rounds, len(rounds))
    for number, (recorded, given) in enumerate(zip(replay.rounds, rounds, strict=True)):
        _compare(f"rounds[{number}].scores", recorded.scores, given.scores)
        _compare(f"rounds[{number}].breakdown", recorded.breakdown, given.breakdown)
    _compare("puddings.counts", replay.puddings.counts, result.puddings)
    _compare("puddings.scores", replay.puddings.scores, result.pudding_scores)
    _compare("totals", replay.totals, result.totals)
    _compare("places", replay.places, places_with_faults(result.places, moments))
    _compare("rules_places", replay.rules_places, result.places)


class _FaultFieldChecker:
    """Checks the fields ``standin``, ``fault`` and ``millis`` turn by turn.

    Faults are not part of the rules, but these fields must be consistent: the stand-in plays only after a
    fault in the same decision, or after the seat's take-over.
    """

    def __init__(self, players: int) -> None:
        # When each seat was taken over, as an index into the turns.
        self.moments: tuple[int | None, ...] = (None,) * players
        self._players = players
        self._faults: list[Sequence[str | None]] = []

    def check(self, path: str, turn: ReplayTurn, seats: Sequence[int]) -> None:
        """Check the next turn, in which ``seats`` had to move."""
        _expect_length(f"{path}.standin", turn.standin, self._players)
        _expect_length(f"{path}.fault", turn.fault, self._players)
        if turn.millis is not None:
            _expect_length(f"{path}.millis", turn.millis, self._players)
        for seat, fault in enumerate(turn.fault):
            where = f"{path}.fault[{seat}]"
            if fault and seat not in seats:
                raise Difference(where, f"is {_quote(fault)}, but the seat had no move to make")
            if fault and self.moments[seat] is not None:
                raise Difference(where, f"is {_quote(fault)}, but the seat had been taken over")
        self._faults.append(turn.fault)
        if any(turn.fault):
            self.moments = taken_over(self._faults, self._players)
        standin = tuple(
            [
                seat in seats and (turn.fault[seat] is not None or self.moments[seat] is not None)
                for seat in range(self._players)
            ]
        )
        _compare(f"{path}.standin", turn.standin, standin, source="the faults")


def _compare(path: str, recorded: object, given: object, source: str = "the rules") -> None:
    """Raise the first difference between two values made of tuples, dictionaries, numbers and strings."""
    if recorded == given:
        return
    if isinstance(recorded, tuple) and isinstance(given, tuple):
        for number, (one, other) in enumerate(zip(recorded, given, strict=False)):
            _compare(f"{path}[{number}]", one, other, source)
        _expect_length(path, recorded, len(given))
    if isinstance(recorded, dict) and isinstance(given, dict):
        for key in [key for key in given if key in recorded]:
            _compare(f"{path}.{key}", recorded[key], given[key], source)
        keys = f"has the keys {_quote(sorted(recorded))}, but the rules give {_quote(sorted(given))}"
        raise Difference(path, keys)
    raise Difference(path, f"is {_quote(recorded)}, but {source} give {_quote(given)}")


def _expect_length(path: str, recorded: Sequence[object], length: int) -> None:
    if len(recorded) != length:
        entries = "1 entry" if len(recorded) == 1 else f"{len(recorded)} entries"
        raise Difference(path, f"has {entries}, but the rules give {length}")


def _quote(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}…"


class Step(NamedTuple):
    """One turn of a game."""

    moment: Moment  # the hands and tables
    noted: ReplayTurn  # the replay's entry
    gone: tuple[bool, ...]  # per seat, whether it was taken over in this turn or earlier


def course(replay: PublicReplay) -> tuple[Step, ...]:
    """Return every turn of a replay in order, including automatic ones.

    Raises InvalidReplay if it breaks the rules; the message describes the first difference.
    """
    if difference := verify(replay):
        raise InvalidReplay(str(difference))
    rules = replay.rules.as_rules
    return _walk(new_game(rules, shuffled_deck(rules, bytes.fromhex(replay.seed))), replay.turns)


def course_so_far(game: DisclosedGame) -> tuple[Step, ...]:
    """Return the public turns of a running game. Their states contain nothing hidden.

    Raises InvalidReplay.
    """
    try:
        return _walk(new_game(game.rules.as_rules, _deck(game)), game.turns)
    except ValueError as error:
        raise InvalidReplay(f"not a valid partial game: {error}") from error


def _deck(game: DisclosedGame) -> tuple[Card, ...]:
    """Return a deck that begins with the deals so far; the rest is sorted, so it discloses nothing."""
    dealt = [Card.from_label(label) for hands in game.deals for hand in hands for label in hand]
    rest = Counter(unshuffled_deck(game.rules.as_rules)) - Counter(dealt)
    return (*dealt, *sorted(rest.elements()))


def _walk(state: State, turns: Sequence[ReplayTurn]) -> tuple[Step, ...]:
    ends = taken_over([turn.fault for turn in turns], state.rules.players)
    steps: list[Step] = []
    while len(steps) < len(turns):
        moves = moves_of(turns[len(steps)], state)
        for moment in moments(state, moves):
            gone = tuple([end is not None and end <= len(steps) for end in ends])
            steps.append(Step(moment, turns[len(steps)], gone))
        state = apply(state, moves)
    return tuple(steps)


def moves_of(turn: ReplayTurn, state: State) -> list[Move | None]:
    """Return a turn's moves: one entry per seat, None if it had no move. ``state`` precedes the turn."""
    return _moves([tuple([Card.from_label(label) for label in play]) for play in turn.plays], state)


def _moves(plays: Sequence[Play], state: State) -> list[Move | None]:
    seats, controller = seats_to_move(state), state.controller
    return [
        Move(plays[seat], plays[-1][0] if seat == controller else None) if seat in seats else None
        for seat in range(state.rules.players)
    ]


class RecordedDecision(NamedTuple):
    """A request to one seat, and the move played."""

    step: int  # number of joint decisions before it: an index into ``log_of(replay).moves``
    view: View  # as the bot received it; ``view.legal_moves()`` are the choices
    move: Move
    standin: bool  # whether the stand-in chose instead of the bot


def log_of(recorded: PublicReplay) -> GameLog:
    """Return the deck and the joint moves of a recorded game, excluding automatic turns.

    Raises InvalidReplay if it breaks the rules; the message describes the first difference.
    """
    decided = _decision_steps(recorded)
    start = decided[0].moment.state
    moves = tuple([tuple(moves_of(step.noted, step.moment.state)) for step in decided])
    return GameLog(start.rules, start.deck, moves)


def decisions(recorded: PublicReplay) -> tuple[RecordedDecision, ...]:
    """Return every decision in a recorded game: turn by turn, and seat by seat within a turn.

    Raises InvalidReplay if it breaks the rules; the message describes the first difference.
    """
    found = []
    for number, (moment, turn, _) in enumerate(_decision_steps(recorded)):
        for seat, move in enumerate(moves_of(turn, moment.state)):
            if move is not None:
                seen = view(moment.state, seat)
                found.append(RecordedDecision(number, seen, move, turn.standin[seat]))
    return tuple(found)


def _decision_steps(recorded: PublicReplay) -> list[Step]:
    """Return the turns in which seats had to move."""
    return [step for step in course(recorded) if not is_automatic(recorded.rules.as_rules, step.noted.turn)]
