"""A public replay against the rules: the first place where they differ."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.referee.places import places_with_faults, taken_over
from arena.replay.build import dealt, labels, scored
from arena.replay.document import Cards, PublicReplay, ReplayTurn
from arena.rules import (
    SHUFFLE,
    Card,
    IllegalMove,
    InvalidRules,
    Move,
    State,
    Turn,
    apply,
    asked,
    new_game,
    shuffled_deck,
)

_CARDS: Final = {card.label: card for card in Card}
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """What a replay says against the rules.

    Attributes:
        path: Where in the document, such as ``turns[12].plays[1][0]``.
        text: What is there, and what should be.
    """

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


class _Found(Exception):
    """Not an error: it carries the answer out of the walk."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, text)
        self.difference = Difference(path, text)


def verify(replay: PublicReplay) -> Difference | None:
    """Play a replay again from its seed and compare everything with what it says.

    Returns:
        The first difference in the order of the document, or None.
    """
    try:
        _verify(replay)
    except _Found as found:
        return found.difference
    return None


def _verify(replay: PublicReplay) -> None:
    state = _start(replay)
    referee = _Referee(state.rules.players)
    for number, turn in enumerate(replay.turns):
        path = f"turns[{number}]"
        # Where the rules are a turn ahead, this one is automatic: nobody was asked.
        automatic = number < len(state.turns)
        seats = () if automatic else asked(state)
        if not automatic:
            state = _play(path, turn, state)
        _compare_turn(path, turn, state.turns[number])
        referee.check(path, turn, seats)
    _compare_end(replay, state, referee.moments)


def _start(replay: PublicReplay) -> State:
    """Deal from the seed."""
    _compare("shuffle", replay.shuffle, SHUFFLE)
    try:
        rules = replay.variant
    except InvalidRules as error:
        raise _Found("rules", str(error)) from error
    _expect_length("seats", replay.seats, rules.players)
    deck = shuffled_deck(rules, bytes.fromhex(replay.seed))
    _compare("deals", replay.deals, dealt(rules, deck))
    return new_game(rules, deck)


def _play(path: str, turn: ReplayTurn, state: State) -> State:
    """Play what a recorded turn says."""
    if state.over:
        raise _Found(path, "is one turn more than the game has")
    _compare(f"{path}.round", turn.round, state.round)
    _compare(f"{path}.turn", turn.turn, state.turn)
    _expect_length(f"{path}.plays", turn.plays, state.rules.participants)
    plays = [_cards(f"{path}.plays[{player}]", play) for player, play in enumerate(turn.plays)]
    dummy = None
    if state.rules.dummy:
        _expect_length(f"{path}.plays[{state.rules.players}]", plays[-1], 1)
        dummy = plays[-1][0]
    seats, controller = asked(state), state.controller
    moves = [
        Move(plays[seat], dummy if seat == controller else None) if seat in seats else None
        for seat in range(state.rules.players)
    ]
    try:
        return apply(state, moves)
    except IllegalMove as error:
        raise _Found(f"{path}.plays[{error.seat}]", f"the rules refuse it: {error}") from error


def _cards(path: str, names: Cards) -> tuple[Card, ...]:
    cards = []
    for number, name in enumerate(names):
        card = _CARDS.get(name)
        if card is None:
            raise _Found(f"{path}[{number}]", f"is {_shown(name)}, which is not a kind of card")
        cards.append(card)
    return tuple(cards)


def _compare_turn(path: str, turn: ReplayTurn, revealed: Turn) -> None:
    _compare(f"{path}.round", turn.round, revealed.round)
    _compare(f"{path}.turn", turn.turn, revealed.turn)
    _compare(f"{path}.plays", turn.plays, tuple([labels(play) for play in revealed.plays]))


def _compare_end(replay: PublicReplay, state: State, moments: Sequence[int | None]) -> None:
    result = state.result
    if result is None or len(replay.turns) < len(state.turns):
        raise _Found("turns", f"has {len(replay.turns)} entries, and the game is not over after them")
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


class _Referee:
    """What the referee noted, checked turn by turn.

    The rules know no faults, but notes can contradict each other: the
    stand-in plays exactly where a fault says so or the seat was taken over.

    Attributes:
        moments: When each seat was taken over, as an index into the turns.
    """

    def __init__(self, players: int) -> None:
        self.moments: tuple[int | None, ...] = (None,) * players
        self._players = players
        self._faults: list[Sequence[str | None]] = []

    def check(self, path: str, turn: ReplayTurn, seats: Sequence[int]) -> None:
        """Check the notes of the next turn, in which these seats were asked."""
        _expect_length(f"{path}.standin", turn.standin, self._players)
        _expect_length(f"{path}.fault", turn.fault, self._players)
        if turn.millis is not None:
            _expect_length(f"{path}.millis", turn.millis, self._players)
        for seat, fault in enumerate(turn.fault):
            where = f"{path}.fault[{seat}]"
            if fault and seat not in seats:
                raise _Found(where, f"is {_shown(fault)}, but the seat was not asked")
            if fault and self.moments[seat] is not None:
                raise _Found(where, f"is {_shown(fault)}, but the seat had been taken over")
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
    """Raise the first difference of two values made of tuples, dictionaries, numbers and texts."""
    if recorded == given:
        return
    if isinstance(recorded, tuple) and isinstance(given, tuple):
        for number, (one, other) in enumerate(zip(recorded, given, strict=False)):
            _compare(f"{path}[{number}]", one, other, source)
        _expect_length(path, recorded, len(given))
    if isinstance(recorded, dict) and isinstance(given, dict):
        for key in [key for key in given if key in recorded]:
            _compare(f"{path}.{key}", recorded[key], given[key], source)
        raise _Found(path, f"has the keys {_shown(sorted(recorded))}, the rules give {_shown(sorted(given))}")
    raise _Found(path, f"is {_shown(recorded)}, {source} give {_shown(given)}")


def _expect_length(path: str, recorded: Sequence[object], length: int) -> None:
    if len(recorded) != length:
        entries = "1 entry" if len(recorded) == 1 else f"{len(recorded)} entries"
        raise _Found(path, f"has {entries}, the rules give {length}")


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
