"""Highlights of games: upsets and high scores. A day's highlights don't depend on the order of its games."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from arena.ladder.rating import Rating, expected

KEPT = 5
"""Number of highlights of each kind to keep per day."""

SURPRISE = 0.25
"""Maximum predicted probability of an upset."""


class HighlightKind(StrEnum):
    """A kind of highlight."""

    UPSET = "upset"
    """A bot finished ahead of another that was expected to beat it."""
    POINTS = "points"
    """A bot scored many points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Highlight:
    """A highlight of a game."""

    kind: HighlightKind
    game: int
    seat: int
    other: int | None  # the beaten seat in an upset; None for a high score
    value: float  # the points, or the probability of the upset before the game


def highlights(
    game: int, before: Sequence[Rating], places: Sequence[int], points: Sequence[int | None]
) -> tuple[Highlight, ...]:
    """Return the highlights of a rated game, at most one of each kind.

    ``before`` contains the overall ratings before the game. Seats that the stand-in took over have None
    in ``points`` and are ignored.
    """
    seats = [seat for seat, total in enumerate(points) if total is not None]
    upsets = [
        Highlight(
            kind=HighlightKind.UPSET,
            game=game,
            seat=seat,
            other=other,
            value=expected(before[seat], before[other], (len(before),)),
        )
        for seat in seats
        for other in seats
        if places[seat] < places[other]
    ]
    scores = [
        Highlight(kind=HighlightKind.POINTS, game=game, seat=seat, other=None, value=total)
        for seat, total in enumerate(points)
        if total is not None
    ]
    surprising = [each for each in upsets if each.value <= SURPRISE]
    return tuple(min(each, key=_order) for each in (surprising, scores) if each)


def best(found: Iterable[Highlight]) -> tuple[Highlight, ...]:
    """Return the ``KEPT`` best of each kind, best first; equal highlights are in the order of games."""
    order = sorted(found, key=_order)
    return tuple(each for kind in HighlightKind for each in [one for one in order if one.kind is kind][:KEPT])


def _order(highlight: Highlight) -> tuple[float, int, int, int]:
    rarest_first = highlight.kind is HighlightKind.UPSET
    value = highlight.value if rarest_first else -highlight.value
    other = -1 if highlight.other is None else highlight.other
    return value, highlight.game, highlight.seat, other
