"""A bot as its page shows it: how it stands and stood, its versions, opponents and games, what it does."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal
from urllib.parse import urlencode

from arena.rating import OVERALL, Entry, conservative, median
from arena.store import FoundGames, KnownBot, KnownVersion, QueuePlace, Store, WantedGames
from web.board import PROVISIONAL_DEVIATION
from web.bothistory import (
    OPPONENTS_A_PAGE,
    Failures,
    Habits,
    OpponentLine,
    read_failures,
    read_habits,
    read_opponents_of,
)
from web.curve import Curve, draw
from web.text import image_name

VERSIONS_A_PAGE: Final = 10
GAMES_A_PAGE: Final = 20
CURVE_VERSIONS: Final = 20
"""The curve shows so many of the newest versions."""

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
        image: Id of its image, or the name of its folder.
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
    """What of a bot is looked at. The names are those in addresses.

    Attributes:
        version: Games of this version alone; None for all, as with the other filters.
        opponent: Games with this bot.
        players: Games of so many players.
        place: Games in which it had this place.
        min: Games in which it scored at least so much.
        max: Games in which it scored at most so much.
        fault: Games with a fault of its own, or without.
        before: Only games with a smaller number; None starts with the newest.
        versions: Only versions with a smaller number; None starts with the newest.
        opponents: So many opponents are left out; None starts with the one it met most.
        curve: The curve of games of so many players; None for all games.
    """

    version: int | None = None
    opponent: str | None = None
    players: int | None = None
    place: int | None = None
    min: int | None = None
    max: int | None = None
    fault: Literal["yes", "no"] | None = None
    before: int | None = None
    versions: int | None = None
    opponents: int | None = None
    curve: int | None = None

    @property
    def wanted(self) -> WantedGames:
        """Which games are wanted."""
        return WantedGames(
            version=self.version,
            opponent=self.opponent,
            players=self.players,
            place=self.place,
            low=self.min,
            high=self.max,
            faulty=None if self.fault is None else self.fault == "yes",
        )

    @property
    def filters(self) -> bool:
        """Whether only some of its games are wanted."""
        return self.wanted != WantedGames()

    def at(self, **changes: Any) -> str:  # noqa: ANN401 - of any field
        """Return the end of the address that differs from this one's by these changes."""
        values = asdict(replace(self, **changes))
        query = urlencode({name: value for name, value in values.items() if value is not None})
        return f"?{query}" if query else ""

    def all_games(self) -> str:
        """Return the end of the address where nothing is left out of the games, from the newest on."""
        kept: dict[str, Any] = {"versions": self.versions, "opponents": self.opponents, "curve": self.curve}
        return Where(**kept).at()


@dataclass(frozen=True, slots=True, kw_only=True)
class BotPage:
    """What a bot's page shows beside the bot itself.

    Attributes:
        results: Of the version that plays: all games first, then by number of players.
        median_millis: Of its games' decisions in the middle the one in the middle; None without a time.
        curve: Of its rating; None where there were no games in that list.
        older_curve: Whether there are older versions than the curve's.
        versions: A page of them, newest first.
        older_versions: Where the next page of them begins, or None.
        opponents: A page of them, most games first.
        more_opponents: How many the next page of them leaves out, or None.
        found: A page of its games, as they are wanted.
        habits: What it did lately.
        failures: How it failed lately.
        queue: Where it is in the queue.
    """

    results: tuple[Result, ...]
    median_millis: float | None
    curve: Curve | None
    older_curve: bool
    versions: tuple[VersionLine, ...]
    older_versions: int | None
    opponents: tuple[OpponentLine, ...]
    more_opponents: int | None
    found: FoundGames
    habits: Habits
    failures: Failures
    queue: QueuePlace


def read_bot_page(store: Store, bot: KnownBot, where: Where, *, private: bool) -> BotPage:
    """Read what the page of a bot shows.

    Args:
        store: Where it is.
        bot: Which.
        where: What of it is looked at.
        private: Whether who looks may read the author's notes.
    """
    (playing,) = store.bots.versions(bot.name, bot.playing + 1, 1)
    overall = playing.results[OVERALL]
    micros = median(overall.times)
    versions = store.bots.versions(bot.name, where.versions, VERSIONS_A_PAGE + 1)
    skipped = where.opponents or 0
    opponents = read_opponents_of(store, bot.name, overall.rating, skipped, OPPONENTS_A_PAGE + 1)
    curve = store.histories.curve(bot.name, where.curve or OVERALL, CURVE_VERSIONS)
    return BotPage(
        results=tuple(_result(players, entry) for players, entry in playing.results.items()),
        median_millis=None if micros is None else micros / 1000,
        curve=draw(curve),
        older_curve=curve[0].version > 1,
        versions=tuple(_line(version, private=private) for version in versions[:VERSIONS_A_PAGE]),
        older_versions=versions[-2].number if len(versions) > VERSIONS_A_PAGE else None,
        opponents=opponents[:OPPONENTS_A_PAGE],
        more_opponents=skipped + OPPONENTS_A_PAGE if len(opponents) > OPPONENTS_A_PAGE else None,
        found=store.histories.games(bot.name, where.wanted, where.before, GAMES_A_PAGE),
        habits=read_habits(store, bot.name),
        failures=read_failures(store, bot.name),
        queue=store.histories.queued(bot.name),
    )


def _line(version: KnownVersion, *, private: bool) -> VersionLine:
    return VersionLine(
        number=version.number,
        playing=version.playing,
        created=version.created,
        note=version.note or None if private else None,
        image=image_name(version.source),
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
