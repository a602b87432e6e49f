"""The public part of a game in progress: its finished rounds.

It discloses nothing else: no seed, no later deals, no authors. See "Games in progress" in docs/viewer.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from arena.play.replay.document import (
    Cards,
    InvalidReplay,
    ReplayPuddings,
    ReplayRound,
    ReplayTurn,
    Step,
    Variant,
    dealt,
    scored,
    turns_of,
)
from arena.protocol.decoding import prepared
from arena.rules import State

DISCLOSED_FORMAT: Final = "kaiten-live/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSeat:
    """The bot in a seat.

    Attributes:
        bot: The bot's name.
        version: The version's number, from 1.
    """

    bot: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DisclosedGame:
    """The public part of a game: its finished rounds.

    Attributes:
        format: ``kaiten-live/1``.
        game: The id that its replay will have.
        rules: The rules in play.
        seats: The bots, in seat order.
        deals: The hands as dealt: ``[round][participant]``, each in deal order.
        turns: Revealed turns, in order.
        rounds: Points by round.
        puddings: Puddings; empty before the end of the game.
        totals: Points including puddings; empty before the end.
        places: Places from 1; empty before the end.
    """

    format: str
    game: str
    rules: Variant
    seats: tuple[LiveSeat, ...]
    deals: tuple[tuple[Cards, ...], ...]
    turns: tuple[ReplayTurn, ...]
    rounds: tuple[ReplayRound, ...]
    puddings: ReplayPuddings
    totals: tuple[int, ...]
    places: tuple[int, ...]

    @property
    def over(self) -> bool:
        """True if the game is over."""
        return bool(self.totals)


def disclose(
    *, game: str, state: State, seats: Sequence[LiveSeat], places: Sequence[int], steps: Sequence[Step]
) -> DisclosedGame:
    """Return the finished rounds of a game.

    ``state`` is the game at the end of a round, and ``steps`` are the decisions so far. ``places`` are
    ignored before the end of the game. Raises ValueError if no round has just ended, or if the steps don't
    fit the game.
    """
    rules, result, over = state.rules, state.result, len(state.rounds)
    if not over or len(state.turns) != over * rules.turns:
        raise ValueError(f"game {game}: round {state.round}, turn {state.turn} is in progress")
    return DisclosedGame(
        format=DISCLOSED_FORMAT,
        game=game,
        rules=Variant.of(rules),
        seats=tuple(seats),
        deals=dealt(rules, state.deck)[:over],
        turns=turns_of(state, steps),
        rounds=tuple(scored(scores) for scores in state.rounds),
        puddings=ReplayPuddings(
            counts=result.puddings if result else (), scores=result.pudding_scores if result else ()
        ),
        totals=result.totals if result else (),
        places=tuple(places) if result else (),
    )


def encode_disclosed(game: DisclosedGame) -> str:
    """Return a partial game as compact JSON; the same game gives the same text."""
    return msgspec.json.encode(game).decode()


def parse_disclosed(text: str) -> DisclosedGame:
    """Read text from :func:`encode_disclosed`. Raises InvalidReplay."""
    try:
        game = msgspec.json.decode(text, type=prepared(DisclosedGame))
    except msgspec.MsgspecError as error:
        raise InvalidReplay(f"not a valid partial game: {error}") from error
    if game.format != DISCLOSED_FORMAT:
        raise InvalidReplay(
            f'the format is "{game.format[:64]}"; this program reads only "{DISCLOSED_FORMAT}"'
        )
    return game
