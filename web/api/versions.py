"""Versions of bots as programs are told of them."""

from dataclasses import dataclass
from datetime import datetime

from arena.rating import Entry, conservative
from arena.store import KnownVersion
from web.text import image_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a version did in rated games.

    Attributes:
        players: Games of so many; 0 for all.
        games: How many.
        wins: Games in which it was first, alone or shared.
        mean_place: 1 is best; null without a game.
        faulty: Games in which it had a fault.
        mean: μ.
        deviation: σ.
        score: μ - 3σ.
    """

    players: int
    games: int
    wins: int
    mean_place: float | None
    faulty: int
    mean: float
    deviation: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of a bot.

    Attributes:
        number: From 1.
        playing: Whether it is the one that plays, or would.
        created: When it came to the ladder.
        image: Id of its image, or the name of its folder.
        sha256: Of the file that it came of; null where it came of none.
        size: Of that file, in bytes; null as above.
        note: Its author's own words; null for others than its owner and operators.
        available: Whether its image is still kept. Without it can't play again.
        results: For all games first, then by number of players.
    """

    number: int
    playing: bool
    created: datetime
    image: str
    sha256: str | None
    size: int | None
    note: str | None
    available: bool
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionList:
    """A page of versions.

    Attributes:
        versions: Newest first.
        next: The address of the next page, or null.
    """

    versions: tuple[Version, ...]
    next: str | None


def version_of(known: KnownVersion, *, noted: bool) -> Version:
    """Return a version as it is told to somebody.

    Args:
        known: What the store has of it.
        noted: Whether its note is for whoever asks.
    """
    return Version(
        number=known.number,
        playing=known.playing,
        created=known.created,
        image=image_name(known.source),
        sha256=known.sha256,
        size=known.size,
        note=known.note if noted else None,
        available=known.available,
        results=tuple(_result(players, entry) for players, entry in known.results.items()),
    )


def _result(players: int, entry: Entry) -> Result:
    return Result(
        players=players,
        games=entry.games,
        wins=entry.wins,
        mean_place=entry.place_sum / entry.games if entry.games else None,
        faulty=entry.faulty,
        mean=entry.rating.mean,
        deviation=entry.rating.deviation,
        score=conservative(entry.rating),
    )
