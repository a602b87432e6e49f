"""A bot's rating curve, as SVG paths in a square of 1000 by 1000 units.

Versions are drawn one after another, each with a width proportional to its number of games. A reactivated
version continues its earlier line.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Final

from arena.db.histories import RatingCurve, RatingPoint
from arena.ladder.rating_events import thinned

MAX_POINTS: Final = 200
"""Maximum number of points to draw."""

MAX_ROWS: Final = 24
"""Desired number of table rows. There may be more, because each version has at least two."""

SIDE: Final = 1000
_SIGMAS: Final = 2
_MIN_STEPS: Final = 3
_LABEL: Final = 60
"""Minimum distance between labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveMark:
    """A mark on an axis."""

    at: float  # position, from 0 to `SIDE`
    value: int | None  # its label: a rating, a number of games or a version; None if there is no room


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveLine:
    """A version's line: the path of μ, and the band of μ ± 2σ."""

    mean: str
    band: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve, as a drawing and as a table."""

    games: int  # number of games played by all versions
    lines: tuple[CurveLine, ...]  # one per version, oldest first
    ratings: tuple[CurveMark, ...]  # marks on the vertical axis, from the bottom up
    counts: tuple[CurveMark, ...]  # marks on the horizontal axis, from the left
    versions: tuple[CurveMark, ...]  # where each version begins
    # Version numbers and points: a sample that includes the first and last point of each version.
    rows: tuple[tuple[int, RatingPoint], ...]


def draw(versions: Sequence[RatingCurve]) -> Curve | None:
    """Draw the curves of all versions with games, oldest first. Return None if no version has games."""
    curves = [each for each in versions if each.points[-1].games]
    if not curves:
        return None
    total = sum(len(each.points) for each in curves)
    if total > MAX_POINTS:
        # Always draw both ends of each version.
        rest = MAX_POINTS - 2 * len(curves)
        curves = [
            replace(each, points=thinned(each.points, 2 + rest * len(each.points) // total))
            for each in curves
        ]
    games = sum(each.points[-1].games for each in curves)
    scale = _scale(end for each in curves for point in each.points for end in _ends(point))
    lines: list[CurveLine] = []
    begins: list[tuple[int, int]] = []
    before = 0
    for each in curves:
        begins.append((before, each.version))
        lines.append(_line(each.points, before, games, scale))
        before += each.points[-1].games
    return Curve(
        games=games,
        lines=tuple(lines),
        ratings=scale.marks,
        counts=_counts(games),
        versions=tuple(_space_labels((_position(at, games), version) for at, version in begins)),
        rows=_rows(curves),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPlot:
    """The mean ratings of several bots, by number of games."""

    lines: tuple[str, ...]  # a path per bot; empty for a bot without games
    ratings: tuple[CurveMark, ...]  # marks on the vertical axis, from the bottom up
    counts: tuple[CurveMark, ...]  # marks on the horizontal axis, from the left


def draw_together(bots: Sequence[Sequence[RatingCurve]]) -> SharedPlot | None:
    """Draw the mean ratings of several bots over all their versions. Return None if no bot has games."""
    played = [[each for each in versions if each.points[-1].games] for versions in bots]
    points = [point for versions in played for each in versions for point in each.points]
    if not points:
        return None
    games = max(sum(each.points[-1].games for each in versions) for versions in played)
    scale = _scale(point.mean for point in points)
    return SharedPlot(
        lines=tuple(_mean_line(versions, games, scale) for versions in played),
        ratings=scale.marks,
        counts=_counts(games),
    )


def _mean_line(versions: Sequence[RatingCurve], games: int, scale: "_Scale") -> str:
    path: list[str] = []
    before = 0
    for each in versions:
        shown = thinned(each.points, max(2, MAX_POINTS // len(versions)))
        path += [f"{_position(before + point.games, games):g} {scale.at(point.mean):g}" for point in shown]
        before += each.points[-1].games
    return f"M{'L'.join(path)}" if path else ""


@dataclass(frozen=True, slots=True)
class _Scale:
    """The rating axis, with whole numbers at both ends."""

    low: int
    high: int
    step: int

    def at(self, rating: float) -> float:
        """Return a rating's position, from ``SIDE`` at the bottom to 0 at the top."""
        return round(SIDE * (self.high - rating) / (self.high - self.low), 1)

    @property
    def marks(self) -> tuple[CurveMark, ...]:
        """Marks between the ends, from the bottom up."""
        values = range(self.low + self.step, self.high, self.step)
        return tuple(CurveMark(at=self.at(value), value=value) for value in values)


def _ends(point: RatingPoint) -> tuple[float, float]:
    return point.mean - _SIGMAS * point.deviation, point.mean + _SIGMAS * point.deviation


def _scale(drawn: Iterable[float]) -> _Scale:
    values = list(drawn)
    low, high = min(values), max(values)
    step = _step(high - low)
    bottom = floor(low / step) * step
    return _Scale(bottom, max(ceil(high / step) * step, bottom + step), step)


def _counts(games: int) -> tuple[CurveMark, ...]:
    """Return marks at round numbers of games, excluding 0."""
    step = _step(games)
    return tuple(CurveMark(at=_position(value, games), value=value) for value in range(step, games + 1, step))


def _step(span: float) -> int:
    """Return the largest round number that fits ``_MIN_STEPS`` times into a span, or 1 if none does."""
    step, power = 1, 1
    while True:
        for digit in (1, 2, 5):
            if digit * power * _MIN_STEPS > span:
                return step
            step = digit * power
        power *= 10


def _position(games: int, total: int) -> float:
    return round(SIDE * games / total, 1)


def _space_labels(marks: Iterable[tuple[float, int]]) -> Iterable[CurveMark]:
    """Yield marks, omitting labels that would overlap."""
    free = 0.0
    for at, value in marks:
        fits = at >= free
        if fits:
            free = at + _LABEL
        yield CurveMark(at=at, value=value if fits else None)


def _line(points: Sequence[RatingPoint], before: int, games: int, scale: _Scale) -> CurveLine:
    across = [_position(before + point.games, games) for point in points]

    def path(sigmas: int) -> list[str]:
        return [
            f"{x:g} {scale.at(point.mean + sigmas * point.deviation):g}"
            for x, point in zip(across, points, strict=True)
        ]

    around = [*path(_SIGMAS), *reversed(path(-_SIGMAS))]
    return CurveLine(mean=f"M{'L'.join(path(0))}", band=f"M{'L'.join(around)}z")


def _rows(curves: Sequence[RatingCurve]) -> tuple[tuple[int, RatingPoint], ...]:
    each = max(2, MAX_ROWS // len(curves))
    return tuple((curve.version, point) for curve in curves for point in thinned(curve.points, each))
