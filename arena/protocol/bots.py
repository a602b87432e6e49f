"""Bots and their versions, as the API returns them and commands print them."""

from dataclasses import dataclass
from datetime import datetime

from arena.protocol.states import BotState


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A bot.

    Attributes:
        name: The bot's name.
        author: Its author's name.
        house: Whether it is a house bot.
        state: The bot's state.
        reason: Why it is not playing; null if no reason was given.
        since: Time of the last change of state or version; null if neither has ever changed.
        version: Number of the version that plays, or would play if the bot were active.
        newest: Number of the newest version.
        open_to_people: Whether its author allows anyone to play against it. House bots are always open.
    """

    name: str
    author: str
    house: bool
    state: BotState
    reason: str | None
    since: datetime | None
    version: int
    newest: int
    open_to_people: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BotList:
    """A page of bots.

    Attributes:
        bots: Sorted by name.
        next: The URL of the next page; null on the last page.
    """

    bots: tuple[Bot, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedResult:
    """A version's results in rated games.

    Attributes:
        players: Number of players, or 0 for all games.
        games: Number of games.
        wins: Games in which it was first or tied for first.
        mean_place: Mean place (1 is best); null if no games were played.
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
        number: Version number, from 1.
        playing: Whether it is the version that plays, or would play if the bot were active.
        created: When it joined the ladder.
        image: Id of its image, or the name of its folder.
        sha256: SHA-256 hash of its uploaded file; null if there was none.
        size: Size of its uploaded file in bytes; null if there was none.
        note: The author's note; null unless you are the bot's owner or an operator.
        available: Whether its image is still stored. A version without its image can't play again.
        results: Results in all games first, then by number of players.
    """

    number: int
    playing: bool
    created: datetime
    image: str
    sha256: str | None
    size: int | None
    note: str | None
    available: bool
    results: tuple[RatedResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionList:
    """A page of versions.

    Attributes:
        versions: Newest first.
        next: The URL of the next page; null on the last page.
    """

    versions: tuple[Version, ...]
    next: str | None
