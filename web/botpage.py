"""A bot as its page shows it: how it stands, its versions, its newest games."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from arena.rating import OVERALL, Entry, conservative
from arena.store import KnownBot, KnownVersion, Store
from arena.store.reads import GameSummary
from web.board import PROVISIONAL_DEVIATION

VERSIONS_A_PAGE: Final = 10
GAMES_A_PAGE: Final = 20
_SIGMAS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a version did, in one list.

    Attributes:
        players: 2 to 5 players, or None for all games.
        mean: μ.
        spread: 2σ.
        score: μ - 3σ.
        provisional: Whether the rating is still too uncertain to say much.
        games: Rated ones.
        win_share: Share of its games in which it was first, alone or shared; None without a game.
        mean_place: 1 is best; None without a game.
        fault_share: Share of its games with a fault; None without a game.
        last_played: UTC; None without a game.
    """

    players: int | None
    mean: float
    spread: float
    score: float
    provisional: bool
    games: int
    win_share: float | None
    mean_place: float | None
    fault_share: float | None
    last_played: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionLine:
    """A version of a bot.

    Attributes:
        number: From 1.
        playing: Whether it is the one that plays, or would.
        created: UTC.
        note: Its author's own words; None where there are none, or they are not for who looks.
        image: Id of its image, or its folder.
        size: Bytes of the file that it came of; None where it came of none.
        sha256: Of that file, hexadecimal; None as above.
        available: Whether its image is still kept.
        result: In all games.
    """

    number: int
    playing: bool
    created: datetime
    note: str | None
    image: str
    size: int | None
    sha256: str | None
    available: bool
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """What of a bot is looked at.

    Attributes:
        version: Games of this version alone; None for all.
        before: Only games with a smaller number; None starts with the newest.
        versions: Only versions with a smaller number; None starts with the newest.
    """

    version: int | None = None
    before: int | None = None
    versions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BotPage:
    """What a bot's page shows beside the bot itself.

    Attributes:
        results: Of the version that plays: all games first, then by number of players.
        versions: A page of them, newest first.
        older_versions: Where the next page of them begins, or None.
        games: A page of them, newest first.
        older_games: Where the next page of them begins, or None.
    """

    results: tuple[Result, ...]
    versions: tuple[VersionLine, ...]
    older_versions: int | None
    games: tuple[GameSummary, ...]
    older_games: int | None


def read_bot_page(store: Store, bot: KnownBot, where: Where, *, private: bool) -> BotPage:
    """Read what the page of a bot shows.

    Args:
        store: Where it is.
        bot: Which.
        where: What of it is looked at.
        private: Whether who looks may read the author's notes.
    """
    (playing,) = store.bots.versions(bot.name, bot.playing + 1, 1)
    versions = store.bots.versions(bot.name, where.versions, VERSIONS_A_PAGE + 1)
    games = store.reads.games(where.before, GAMES_A_PAGE + 1, bot=bot.name, version=where.version)
    return BotPage(
        results=tuple(_result(players, entry) for players, entry in playing.results.items()),
        versions=tuple(_line(version, private=private) for version in versions[:VERSIONS_A_PAGE]),
        older_versions=versions[-2].number if len(versions) > VERSIONS_A_PAGE else None,
        games=games[:GAMES_A_PAGE],
        older_games=games[-2].number if len(games) > GAMES_A_PAGE else None,
    )


def _line(version: KnownVersion, *, private: bool) -> VersionLine:
    return VersionLine(
        number=version.number,
        playing=version.playing,
        created=version.created,
        note=version.note or None if private else None,
        image=version.source,
        size=version.size,
        sha256=version.sha256,
        available=version.available,
        result=_result(OVERALL, version.results[OVERALL]),
    )


def _result(players: int, entry: Entry) -> Result:
    games = entry.games
    return Result(
        players=None if players == OVERALL else players,
        mean=entry.rating.mean,
        spread=_SIGMAS * entry.rating.deviation,
        score=conservative(entry.rating),
        provisional=entry.rating.deviation > PROVISIONAL_DEVIATION,
        games=games,
        win_share=entry.wins / games if games else None,
        mean_place=entry.place_sum / games if games else None,
        fault_share=entry.faulty / games if games else None,
        last_played=entry.last_played,
    )
