"""A public replay as a sequence of frames."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Self
from urllib.parse import urlencode

from arena.platform.text import clean_name
from arena.play.replay.disclosed import DisclosedGame, parse_disclosed
from arena.play.replay.document import PublicReplay, parse
from arena.play.replay.verify import Step, course, course_so_far
from arena.rules import ROUNDS, Rules, Table, score_round


class FilmStage(StrEnum):
    """The stages of a turn, in order.

    In the last turn of a round, ``SCORE`` replaces ``PASS``. ``END`` follows the last turn of the game.
    """

    PICK = "pick"
    """Everyone has chosen; nothing is revealed."""
    REVEAL = "reveal"
    """The cards are on the tables; the hands have not been passed."""
    PASS = "pass"  # noqa: S105 - not a password
    """Every hand has been passed on."""
    SCORE = "score"
    """The points for the round."""
    END = "end"
    """Puddings, totals and places."""


class Frame(NamedTuple):
    """A moment in a game; ``round`` and ``turn`` are numbered from 1."""

    round: int
    turn: int
    stage: FilmStage


class VisibleHands(StrEnum):
    """Which hands are visible."""

    ALL = "all"
    SEAT = "seat"
    INFER = "infer"


VIEWPOINT_PATTERN: Final = r"^(all|(seat|infer):[0-4])$"


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """The hands that a viewer sees."""

    visible: VisibleHands = VisibleHands.ALL  # everything, what a seat saw, or what it could infer
    seat: int | None = None  # None for everything

    @classmethod
    def read(cls, text: str) -> Self:
        """Read ``all``, ``seat:N`` or ``infer:N``. Raises ValueError for any other text."""
        if re.fullmatch(VIEWPOINT_PATTERN, text) is None:
            raise ValueError(f"{text!r} is not a view: use all, seat:N or infer:N")
        visible, _, seat = text.partition(":")
        return cls(VisibleHands(visible), int(seat) if seat else None)

    def __str__(self) -> str:
        return self.visible if self.seat is None else f"{self.visible}:{self.seat}"


ALL_HANDS: Final = Viewpoint()


def address(game: str, frame: Frame, viewpoint: Viewpoint = ALL_HANDS) -> str:
    """Return the address of a frame, omitting defaults.

    ``game`` is the game's address, without a trailing slash.
    """
    query = {}
    if frame.stage is not FilmStage.PICK:
        query["step"] = str(frame.stage)
    if viewpoint != ALL_HANDS:
        query["view"] = str(viewpoint)
    path = f"{game}/{frame.round}/{frame.turn}"
    return f"{path}?{urlencode(query, safe=':')}" if query else path


@dataclass(frozen=True, slots=True)
class Film:
    """A replayed game."""

    replay: PublicReplay | DisclosedGame  # the replay document; for a running game, its disclosed part
    rules: Rules
    steps: tuple[Step, ...]  # its turns, replayed under the rules
    frames: tuple[Frame, ...]  # all frames, in order
    # The participants' display names, the dummy last; seats occupied by the same bot get distinct names.
    names: tuple[str, ...]
    certain: tuple[tuple[int, ...], ...]  # per turn: each table's certain points in the round, after the turn

    @property
    def seed(self) -> str | None:
        """The deck's seed; None until the whole game is disclosed."""
        return self.replay.seed if isinstance(self.replay, PublicReplay) else None

    def step(self, frame: Frame) -> Step:
        """Return a frame's turn."""
        return self.steps[self._index(frame)]

    def certain_points(self, frame: Frame) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return each table's certain points in the frame's round, before the frame's turn and after it."""
        after = self._index(frame)
        return self.certain[after - 1] if frame.turn > 1 else (0,) * len(self.names), self.certain[after]

    def following(self, frame: Frame) -> Step:
        """Return the turn after a frame's turn."""
        return self.steps[self._index(frame) + 1]

    def _index(self, frame: Frame) -> int:
        return (frame.round - 1) * self.rules.turns + frame.turn - 1


def film(text: str) -> Film:
    """Replay a game from JSON. Raises InvalidReplay if the text is not a replay, or breaks the rules."""
    replay = parse(text)
    return _film(replay, course(replay), ROUNDS)


def film_so_far(text: str) -> Film:
    """Replay the disclosed part of a running game from JSON (``kaiten-live/1``).

    Raises InvalidReplay if the text is something else, or breaks the rules.
    """
    game = parse_disclosed(text)
    return _film(game, course_so_far(game), len(game.rounds))


def _film(replay: PublicReplay | DisclosedGame, steps: tuple[Step, ...], rounds: int) -> Film:
    rules = replay.rules.as_rules
    return Film(
        replay=replay,
        rules=rules,
        steps=steps,
        frames=tuple(_frames(rules, rounds)),
        names=_names(replay),
        certain=tuple(tuple(earned(rules, table) for table in step.moment.tables) for step in steps),
    )


def earned(rules: Rules, table: Table) -> int:
    """Return a table's certain points: those for tempura, sashimi, dumplings and nigiri."""
    score = score_round(rules, (table, ()))[0]  # a single table
    return score.tempura + score.sashimi + score.dumpling + score.nigiri


def _frames(rules: Rules, rounds: int) -> Iterator[Frame]:
    for round_number in range(1, rounds + 1):
        for turn in range(1, rules.turns + 1):
            yield Frame(round_number, turn, FilmStage.PICK)
            yield Frame(round_number, turn, FilmStage.REVEAL)
            yield Frame(round_number, turn, FilmStage.PASS if turn < rules.turns else FilmStage.SCORE)
    if rounds == ROUNDS:
        yield Frame(ROUNDS, rules.turns, FilmStage.END)


def _names(replay: PublicReplay | DisclosedGame) -> tuple[str, ...]:
    bots = [clean_name(seat.bot) for seat in replay.seats]
    distinct = [bot if bots.count(bot) == 1 else f"{bot} {seat}" for seat, bot in enumerate(bots)]
    return (*distinct, *(["dummy"] if replay.rules.dummy else []))
