"""A line of a ladder's log, as the store goes through them."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.rating import Event


@dataclass(frozen=True, slots=True)
class Logged:
    """An event with its place in the log.

    Attributes:
        number: From 1, without gaps.
        event: What happened.
        game: Number of the game that was played, None for a version that starts.
        points: One a seat of that game, None for a seat that was taken over; empty for a version that starts.
    """

    number: int
    event: Event
    game: int | None = None
    points: tuple[int | None, ...] = ()


def counted_points(points: Sequence[int], taken_over: Sequence[bool]) -> tuple[int | None, ...]:
    """Return the points of a game's seats without those that the stand-in made."""
    return tuple(None if taken else made for made, taken in zip(points, taken_over, strict=True))
