"""A position as a file: one seat's decision, and the game's earlier decisions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec

from arena.platform.text import counted
from arena.play.replay.document import Cards, HexSeed, Variant
from arena.protocol.decoding import prepared
from arena.protocol.match import Decision, move_of
from arena.rules import Card, GameLog, Move, Rules, View, replay, seats_to_move, shuffled_deck, view

PUZZLE_FORMAT: Final = "kaiten-puzzle/1"


class InvalidPuzzle(ValueError):
    """The text is not a valid puzzle. The message says why."""


class PlayedMove(NamedTuple):
    """A seat's move: names of card kinds, and the dummy's card, if any."""

    cards: Cards
    dummy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """A position in which a seat has to decide."""

    format: str  # `kaiten-puzzle/1`
    rules: Variant
    seed: HexSeed  # determines the deck
    seat: int  # whose decision it is
    # The joint decisions before this position. Each has one entry per seat: None if it had no move.
    moves: tuple[tuple[PlayedMove | None, ...], ...]

    def views(self) -> tuple[View, ...]:
        """Return the seat's view at each of its decisions, ending with this one.

        Raises InvalidPuzzle if the rules don't allow the position.
        """
        try:
            rules = self.rules.as_rules
            log = GameLog(rules, shuffled_deck(rules, bytes.fromhex(self.seed)), self.joint_moves())
            played = replay(log)
        except ValueError as error:
            raise InvalidPuzzle(str(error)) from error
        if played.stopped is not None:
            raise InvalidPuzzle(f"decision {len(played.states)} breaks the rules: {played.stopped}")
        if self.seat not in seats_to_move(played.state):
            raise InvalidPuzzle(f"seat {self.seat} has no decision in this position")
        return tuple(view(state, self.seat) for state in played.states if self.seat in seats_to_move(state))

    def joint_moves(self) -> tuple[tuple[Move | None, ...], ...]:
        """Return the moves as :class:`arena.rules.Move` objects. Raises ValueError if a card is unknown."""
        return tuple(
            tuple(
                [
                    None if each is None else move_of(Decision(cards=each.cards, dummy=each.dummy))
                    for each in step
                ]
            )
            for step in self.moves
        )


def puzzle_of(view: View, seed: str, steps: Sequence[Sequence[Decision | None]]) -> Puzzle:
    """Return the puzzle for a view that follows these recorded decisions."""
    moves = tuple(
        tuple([None if each is None else PlayedMove(each.cards, each.dummy) for each in step])
        for step in steps
    )
    rules = Variant.of(view.rules)
    return Puzzle(format=PUZZLE_FORMAT, rules=rules, seed=seed, seat=view.seat, moves=moves)


def encode_puzzle(puzzle: Puzzle) -> bytes:
    """Encode a puzzle as JSON. Equal puzzles give the same bytes."""
    return msgspec.json.encode(puzzle)


def parse_puzzle(text: bytes) -> Puzzle:
    """Parse a puzzle without replaying its moves. Raises InvalidPuzzle."""
    try:
        puzzle = msgspec.json.decode(text, type=prepared(Puzzle))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InvalidPuzzle(f"not a puzzle: {error}") from error
    if puzzle.format != PUZZLE_FORMAT:
        raise InvalidPuzzle(
            f'the format is "{puzzle.format[:64]}"; this program reads only "{PUZZLE_FORMAT}"'
        )
    return puzzle


def position_lines(seen: View) -> tuple[str, ...]:
    """Return a position as text: the turn, the hand, and every seat's table."""
    tables = [
        f"  {_owner(seen, seat):8} {_cards(table)}  "
        f"({counted(score, 'point')}, {counted(puddings, 'pudding')} before this round)"
        for seat, (table, score, puddings) in enumerate(
            zip(seen.tables, seen.scores, seen.puddings, strict=True)
        )
    ]
    hand = f"  hand     {_cards(seen.hand)}"
    if seen.control and seen.drawn is not None:
        hand += f"  ({seen.drawn.label} was drawn for the dummy, which you control)"
    return (
        f"  round {seen.round}, turn {seen.turn}, seat {seen.seat} ({rules_text(seen.rules)})",
        hand,
        *tables,
    )


def rules_text(rules: Rules) -> str:
    """Return the number of players and the variants as text."""
    return ", ".join((f"{rules.players} players", *rules.variants)).replace("_", " ")


def move_text(move: Move) -> str:
    """Return a move as text."""
    dummy = f", {move.dummy.label} for the dummy" if move.dummy is not None else ""
    return _cards(move.cards) + dummy


def _owner(seen: View, seat: int) -> str:
    if seat == seen.seat:
        return "own"
    return "dummy" if seat == seen.rules.players else f"seat {seat}"


def _cards(cards: Sequence[Card]) -> str:
    return " ".join(card.label for card in cards) or "nothing"
