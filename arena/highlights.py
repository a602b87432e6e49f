"""What was remarkable in a game, pure: who won against the odds, and who made many points.

Of every day the best of each kind are kept. Whatever the order in which games come, the same are left.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from arena.rating import Rating, expected

KEPT = 5
"""So many of a kind a day."""

SURPRISE = 0.25
"""At most so probable is what counts as an upset."""


class HighlightKind(StrEnum):
    """What is remarkable in a game."""

    UPSET = "upset"
    """Somebody finished ahead of somebody who was expected to finish ahead."""
    POINTS = "points"
    """Somebody made many points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Highlight:
    """What was remarkable in a game.

    Attributes:
        kind: What kind of thing.
        game: Number of the game.
        seat: Whose it is.
        other: The seat that was beaten; None where it is about points.
        value: The points; of an upset how probable it was before the game.
    """

    kind: HighlightKind
    game: int
    seat: int
    other: int | None
    value: float


def highlights(
    game: int, before: Sequence[Rating], places: Sequence[int], points: Sequence[int | None]
) -> tuple[Highlight, ...]:
    """Return what was remarkable in a rated game: at most one thing of each kind.

    A seat that was taken over gives no honour to anybody.

    Args:
        game: Its number.
        before: Overall ratings before it, one a seat; as are the others.
        places: From 1.
        points: None for a seat that was taken over.
    """
    seats = [seat for seat, made in enumerate(points) if made is not None]
    upsets = [
        Highlight(
            kind=HighlightKind.UPSET,
            game=game,
            seat=seat,
            other=other,
            value=expected(before[seat], before[other]),
        )
        for seat in seats
        for other in seats
        if places[seat] < places[other]
    ]
    scores = [
        Highlight(kind=HighlightKind.POINTS, game=game, seat=seat, other=None, value=made)
        for seat, made in enumerate(points)
        if made is not None
    ]
    surprising = [each for each in upsets if each.value <= SURPRISE]
    return tuple(min(each, key=_order) for each in (surprising, scores) if each)


def best(found: Iterable[Highlight]) -> tuple[Highlight, ...]:
    """Return the ``KEPT`` best of each kind, best first; equals in the order of their games."""
    order = sorted(found, key=_order)
    return tuple(each for kind in HighlightKind for each in [one for one in order if one.kind is kind][:KEPT])


def _order(highlight: Highlight) -> tuple[float, int, int, int]:
    rarest_first = highlight.kind is HighlightKind.UPSET
    value = highlight.value if rarest_first else -highlight.value
    other = -1 if highlight.other is None else highlight.other
    return value, highlight.game, highlight.seat, other
