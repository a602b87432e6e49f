"""A game's points as a whole: the race to the end, and the score sheet."""

from dataclasses import dataclass

from arena.rules import ROUNDS
from web.viewer.film import Film, FilmStage
from web.viewer.stacks import standing


@dataclass(frozen=True, slots=True)
class Race:
    """The players' points by frame, as paths: one unit per frame and per point, from the upper left.

    Attributes:
        width: Width of the drawing.
        height: Height of the drawing.
        lines: One path per player.
        rounds: A path that marks the ends of rounds.
    """

    width: int
    height: int
    lines: tuple[str, ...]
    rounds: str


def race(film: Film) -> Race:
    """Return the race of a game, as far as it is disclosed."""
    scoring = [
        (number, standing(film, frame).scores[: film.rules.players])
        for number, frame in enumerate(film.frames)
        if frame.stage not in {FilmStage.PICK, FilmStage.PASS}
    ]
    seen = [points for _, scores in scoring for points in scores]
    top, low = max(seen, default=0) or 1, min(0, *seen)
    ends = [number for number, frame in enumerate(film.frames) if frame.stage is FilmStage.SCORE]
    return Race(
        width=max(len(film.frames) - 1, 1),
        height=top - low,
        lines=tuple(
            f"M0 {top}" + "".join(f"L{number} {top - points[seat]}" for number, points in scoring)
            for seat in range(film.rules.players)
        ),
        rounds="".join(f"M{number} 0V{top - low}" for number in ends),
    )


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A player's points by round and by category.

    Attributes:
        rounds: One entry per round, without puddings.
        kinds: One entry per category of :attr:`ScoreSheet.kinds`, all rounds together.
        counted: Number of puddings.
        puddings: Their points.
    """

    place: int
    name: str
    rounds: tuple[int, ...]
    kinds: tuple[int, ...]
    counted: int
    puddings: int
    total: int


@dataclass(frozen=True, slots=True)
class ScoreSheet:
    """The end of a game, best place first."""

    kinds: tuple[str, ...]
    rows: tuple[SheetRow, ...]


def score_sheet(film: Film) -> ScoreSheet | None:
    """Return a game's score sheet; None if it isn't over."""
    replay = film.replay
    if len(replay.rounds) < ROUNDS or not replay.totals:
        return None
    kinds = tuple(replay.rounds[0].breakdown[0])
    shown = tuple(kind for kind in kinds if kind != "soy_sauce" or film.rules.soy_sauce)
    order = sorted(range(film.rules.players), key=lambda seat: (replay.places[seat], seat))
    return ScoreSheet(
        tuple(kind.replace("_", " ") for kind in shown),
        tuple(
            SheetRow(
                replay.places[seat],
                film.names[seat],
                tuple(played.scores[seat] for played in replay.rounds),
                tuple(sum(played.breakdown[seat][kind] for played in replay.rounds) for kind in shown),
                replay.puddings.counts[seat],
                replay.puddings.scores[seat],
                replay.totals[seat],
            )
            for seat in order
        ),
    )
