"""The moments of a game that somebody may want to jump to."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from web.text import signed
from web.viewer.address import Frame, Stage
from web.viewer.film import Film
from web.viewer.points import standing
from web.viewer.words import card_name

MANY_POINTS: Final = 9
"""A turn that brings as many is an event."""


class EventKind(StrEnum):
    """What kind of moment it is."""

    FAULT = "fault"
    TAKE_OVER = "take-over"
    CHOPSTICKS = "chopsticks"
    POINTS = "points"
    LEAD = "lead"
    ROUND = "round"
    END = "end"


@dataclass(frozen=True, slots=True)
class Event:
    """A moment: where it is, what kind it is of, and what happens in it."""

    frame: Frame
    kind: EventKind
    text: str


def events(film: Film) -> tuple[Event, ...]:
    """Return all of them, in order."""
    found: list[Event] = []
    leader = None
    for frame in film.frames:
        if frame.stage is Stage.PICK:
            found += _faults(film, frame)
        if frame.stage is Stage.REVEAL:
            found += _moves(film, frame)
        leaders = standing(film, frame).leaders
        if len(leaders) == 1 and leader not in {None, *leaders}:
            (seat,) = leaders
            found.append(Event(frame, EventKind.LEAD, f"{film.names[seat]} takes the lead"))
        leader = next(iter(leaders)) if len(leaders) == 1 else leader
        if frame.stage is Stage.SCORE:
            found.append(Event(frame, EventKind.ROUND, f"end of round {frame.round}"))
        if frame.stage is Stage.END:
            found.append(Event(frame, EventKind.END, "end of the game"))
    return tuple(found)


def _faults(film: Film, frame: Frame) -> Iterator[Event]:
    step = film.step(frame)
    for seat, (fault, gone) in enumerate(zip(step.noted.fault, step.gone, strict=True)):
        if fault:
            yield Event(frame, EventKind.FAULT, f"{film.names[seat]}: {fault}")
            if gone:
                yield Event(frame, EventKind.TAKE_OVER, f"{film.names[seat]} is taken over")


def _moves(film: Film, frame: Frame) -> Iterator[Event]:
    plays, gains = film.step(frame).moment.plays, standing(film, frame).gains
    for name, play, gain in zip(film.names, plays, gains, strict=True):
        if len(play) > 1:
            cards = " and ".join(map(card_name, play))
            yield Event(frame, EventKind.CHOPSTICKS, f"{name}: chopsticks for {cards}")
        if gain >= MANY_POINTS:
            yield Event(frame, EventKind.POINTS, f"{name}: {signed(gain, 0)}")
