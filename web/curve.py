"""The curve of a bot's rating as it is drawn: paths on a square of a thousand by a thousand. Pure.

Its versions follow one after another, each as wide as it has games; one that came back goes on where it was.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, floor
from typing import Final

from arena.rating import Rating, thinned
from arena.store import CurvePoint, VersionCurve

MOST_POINTS: Final = 200
"""So many are drawn at most."""

MOST_ROWS: Final = 24
"""So many are written out at most."""

SIDE: Final = 1000
_SIGMAS: Final = 2
_FEWEST_STEPS: Final = 3
_LABEL: Final = 60
"""A label needs so much room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something that is marked on an axis.

    Attributes:
        at: Where, from 0 to ``SIDE``.
        value: What is written there: a rating, a number of games, a version; None where there is no room.
    """

    at: float
    value: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A version, drawn.

    Attributes:
        mean: The path of μ.
        band: The path around μ ± 2σ.
    """

    mean: str
    band: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRow:
    """A point of the curve in words.

    Attributes:
        version: Number of the version.
        games: After so many of its games.
        ended: UTC, when the last of them did; None before the first.
        mean: μ.
        spread: 2σ.
    """

    version: int
    games: int
    ended: datetime | None
    mean: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve, drawn and in words.

    Attributes:
        games: Of all its versions.
        lines: One a version, oldest first.
        ratings: Marks from the bottom up.
        counts: Marks of games, from the left.
        versions: Where each begins.
        rows: Some of its points, the first and the last of each version's among them where there is room.
    """

    games: int
    lines: tuple[Line, ...]
    ratings: tuple[Mark, ...]
    counts: tuple[Mark, ...]
    versions: tuple[Mark, ...]
    rows: tuple[CurveRow, ...]


def draw(versions: Sequence[VersionCurve]) -> Curve | None:
    """Draw the curves of versions, oldest first; None where none has played.

    Args:
        versions: Those without a game are left out.
    """
    curves = [_Thinned(each.version, each.points) for each in versions if each.points[-1].games]
    if not curves:
        return None
    total = sum(len(each.points) for each in curves)
    if total > MOST_POINTS:
        # Both ends of each are drawn whatever their share.
        rest = MOST_POINTS - 2 * len(curves)
        curves = [
            _Thinned(each.version, thinned(each.points, 2 + rest * len(each.points) // total))
            for each in curves
        ]
    games = sum(each.points[-1].games for each in curves)
    scale = _scale(point.rating for each in curves for point in each.points)
    lines: list[Line] = []
    begins: list[tuple[int, int]] = []
    before = 0
    for each in curves:
        begins.append((before, each.version))
        lines.append(_line(each.points, before, games, scale))
        before += each.points[-1].games
    return Curve(
        games=games,
        lines=tuple(lines),
        ratings=tuple(Mark(at=scale.at(value), value=value) for value in scale.ticks),
        counts=tuple(Mark(at=_at(value, games), value=value) for value in _counts(games)),
        versions=tuple(_spaced((_at(at, games), version) for at, version in begins)),
        rows=_rows(curves),
    )


@dataclass(frozen=True, slots=True)
class _Thinned:
    """The points of a version that are drawn."""

    version: int
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True)
class _Scale:
    """The axis of ratings, whole numbers at both ends."""

    low: int
    high: int
    step: int

    def at(self, rating: float) -> float:
        """Return where a rating lies, from ``SIDE`` at the bottom to 0."""
        return round(SIDE * (self.high - rating) / (self.high - self.low), 1)

    @property
    def ticks(self) -> tuple[int, ...]:
        """Ratings between the ends that are marked."""
        return tuple(range(self.low + self.step, self.high, self.step))


def _scale(ratings: Iterable[Rating]) -> _Scale:
    ends = [
        (rating.mean - _SIGMAS * rating.deviation, rating.mean + _SIGMAS * rating.deviation)
        for rating in ratings
    ]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    step = _step(high - low)
    bottom = floor(low / step) * step
    return _Scale(bottom, max(ceil(high / step) * step, bottom + step), step)


def _counts(games: int) -> tuple[int, ...]:
    """Return the numbers of games that are marked: round ones, without the start."""
    step = _step(games)
    return tuple(range(step, games + 1, step))


def _step(span: float) -> int:
    """Return the largest round number that fits into a span a few times; at least 1."""
    step, power = 1, 1
    while True:
        for digit in (1, 2, 5):
            if digit * power * _FEWEST_STEPS > span:
                return step
            step = digit * power
        power *= 10


def _at(games: int, total: int) -> float:
    return round(SIDE * games / total, 1)


def _spaced(marks: Iterable[tuple[float, int]]) -> Iterable[Mark]:
    """Yield marks, of which only those say their value that have room for it."""
    free = 0.0
    for at, value in marks:
        fits = at >= free
        if fits:
            free = at + _LABEL
        yield Mark(at=at, value=value if fits else None)


def _line(points: Sequence[CurvePoint], before: int, games: int, scale: _Scale) -> Line:
    across = [_at(before + point.games, games) for point in points]

    def path(sigmas: int) -> list[str]:
        return [
            f"{x:g} {scale.at(point.rating.mean + sigmas * point.rating.deviation):g}"
            for x, point in zip(across, points, strict=True)
        ]

    around = [*path(_SIGMAS), *reversed(path(-_SIGMAS))]
    return Line(mean=f"M{'L'.join(path(0))}", band=f"M{'L'.join(around)}z")


def _rows(curves: Sequence[_Thinned]) -> tuple[CurveRow, ...]:
    each = max(2, MOST_ROWS // len(curves))
    return tuple(
        CurveRow(
            version=curve.version,
            games=point.games,
            ended=point.ended,
            mean=point.rating.mean,
            spread=_SIGMAS * point.rating.deviation,
        )
        for curve in curves
        for point in thinned(curve.points, each)
    )
