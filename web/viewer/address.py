"""Where a frame is found: its turn, its stage, and whose eyes look at it."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Self
from urllib.parse import urlencode


class Stage(StrEnum):
    """What is shown of a turn, in this order; the last two follow a round's and the game's last turn."""

    PICK = "pick"
    """All have chosen; nothing is revealed."""
    REVEAL = "reveal"
    """The cards lie on the tables; the hands have not been passed."""
    PASS = "pass"  # noqa: S105 - no password
    """Every hand has gone to the next seat."""
    SCORE = "score"
    """The points of the round."""
    END = "end"
    """Puddings, totals and places."""


class Frame(NamedTuple):
    """One picture of a game; ``round`` and ``turn`` are from 1."""

    round: int
    turn: int
    stage: Stage


class Sight(StrEnum):
    """What may be seen of the hands."""

    ALL = "all"
    SEAT = "seat"
    INFER = "infer"


_EYES: Final = re.compile(r"(seat|infer):([0-4])")
EYES_PATTERN: Final = r"^(all|(seat|infer):[0-4])$"


@dataclass(frozen=True, slots=True)
class Eyes:
    """Who looks.

    Attributes:
        sight: Everything, what a seat saw, or what it could infer.
        seat: Whose eyes these are; None for everything.
    """

    sight: Sight = Sight.ALL
    seat: int | None = None

    @classmethod
    def read(cls, text: str) -> Self:
        """Read ``all``, ``seat:N`` or ``infer:N``.

        Raises:
            ValueError: It is none of these.
        """
        if text == Sight.ALL:
            return cls()
        found = _EYES.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no view: it is all, seat:N or infer:N")
        return cls(Sight(found[1]), int(found[2]))

    def __str__(self) -> str:
        return self.sight if self.seat is None else f"{self.sight}:{self.seat}"


EVERYBODY: Final = Eyes()


def address(game: str, frame: Frame, eyes: Eyes = EVERYBODY) -> str:
    """Return the address of a frame.

    Args:
        game: The address of the game, without a slash at the end.
        frame: Which frame; the stage is left out where it is the choice.
        eyes: Who looks; left out where everything is seen.
    """
    query = {}
    if frame.stage is not Stage.PICK:
        query["step"] = str(frame.stage)
    if eyes != EVERYBODY:
        query["view"] = str(eyes)
    path = f"{game}/{frame.round}/{frame.turn}"
    return f"{path}?{urlencode(query, safe=':')}" if query else path
