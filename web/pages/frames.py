"""How frames of games are asked for, by whatever shows them."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, HTTPException, Path, Query, Request

from web.viewer.address import EYES_PATTERN, Eyes, Frame, Stage
from web.viewer.film import Film, film
from web.viewer.screen import BACK, FORWARD, Screen, Shown, screen
from web.viewer.words import STAGES, card_name, where

Round = Annotated[str, Path(pattern=r"^[1-3]$")]
Turn = Annotated[str, Path(pattern=r"^([1-9]|10)$")]
Step = Annotated[Stage, Query()]
View = Annotated[str, Query(pattern=EYES_PATTERN)]

WORDS: Final = {"BACK": BACK, "FORWARD": FORWARD, "STAGES": STAGES, "card_name": card_name, "where": where}
"""What the viewer's templates call."""


@dataclass(frozen=True, slots=True)
class AskedFrame:
    """Which frame of a game, seen by whose eyes."""

    frame: Frame
    eyes: Eyes


def _asked(round: Round, turn: Turn, step: Step = Stage.PICK, view: View = "all") -> AskedFrame:  # noqa: A002 - as in the address
    return AskedFrame(Frame(int(round), int(turn), step), Eyes.read(view))


Asked = Annotated[AskedFrame, Depends(_asked)]


def origin(request: Request) -> str:
    """Return what absolute addresses of this site begin with, as the visitor wrote it."""
    return str(request.base_url).rstrip("/")


def asked_screen(shown: Shown, asked: AskedFrame, base: str) -> Screen:
    """Return a frame and what lies around it.

    Args:
        shown: The game.
        asked: Which frame.
        base: What the addresses of frames begin with here.

    Raises:
        HTTPException: There is no such frame.
    """
    return screen(shown, asked_film(shown, asked), asked.frame, asked.eyes, base)


def asked_film(shown: Shown, asked: AskedFrame) -> Film:
    """Return a game of which a frame is asked for.

    Raises:
        HTTPException: It has no such frame.
    """
    played = film(shown.replay)
    if asked.frame not in played.frames:
        raise HTTPException(404, "This game has no such turn, or that step is not shown of it.")
    seated(played, asked.eyes)
    return played


def seated(played: Film, eyes: Eyes) -> Eyes:
    """Return these eyes.

    Raises:
        HTTPException: Nobody sits there.
    """
    if eyes.seat is not None and eyes.seat >= played.rules.players:
        raise HTTPException(404, f"This game has no seat {eyes.seat}.")
    return eyes
