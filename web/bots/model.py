"""A bot's page: standing, versions, opponents, games, habits."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Final

from fastapi import Query

from arena.db.bots import KnownBot, KnownVersion
from arena.db.histories import BotGameFilter, FoundGames
from arena.db.queue import QueuePlace
from arena.db.store import Store
from arena.ladder.rating import median
from arena.ladder.rating_events import OVERALL, Entry
from arena.protocol.bots import RatedResult, Version
from arena.protocol.match import image_name
from web.bots.curve import Curve, draw
from web.bots.history import (
    OPPONENTS_PER_PAGE,
    Failures,
    Habits,
    Mistakes,
    OpponentLine,
    read_failures,
    read_habits,
    read_mistakes,
    read_opponents,
)
from web.http.parameters import (
    BLANK,
    Before,
    BeforeVersion,
    Faults,
    OfBot,
    Offset,
    OfVersion,
    Players,
    query_string,
)

VERSIONS_PER_PAGE: Final = 10
GAMES_PER_PAGE: Final = 20
CURVE_VERSIONS: Final = 20
"""Maximum number of versions in the curve: the latest."""

_MAX_POINTS: Final = 999
"""More points than any seat can score."""

_Place = Annotated[int | None, Query(ge=1, le=5)]
_Points = Annotated[int | None, Query(ge=-_MAX_POINTS, le=_MAX_POINTS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BotPageQuery:
    """The query parameters of a bot's page. None means no filter, or the first page of a list."""

    version: Annotated[OfVersion, BLANK] = None
    opponent: Annotated[OfBot, BLANK] = None
    players: Annotated[Players, BLANK] = None
    place: Annotated[_Place, BLANK] = None
    min: Annotated[_Points, BLANK] = None  # minimum points scored
    max: Annotated[_Points, BLANK] = None  # maximum points scored
    fault: Annotated[Faults, BLANK] = None  # games with or without a fault by the bot
    before: Before = None  # games with a smaller number
    versions: BeforeVersion = None  # versions with a smaller number
    opponents: Offset = 0  # number of opponents to skip
    curve: Players = None  # number of players, for the curve and for expected results

    @property
    def criteria(self) -> BotGameFilter:
        """The filters for the store's list of games."""
        return BotGameFilter(
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
        """True if any game filter is set."""
        return self.criteria != BotGameFilter()

    def at(self, **changes: Any) -> str:  # noqa: ANN401 - values of any field
        """Return the query string with these parameters changed."""
        return query_string(asdict(replace(self, **changes)), asdict(BotPageQuery()))

    def all_games(self) -> str:
        """Return the query string without game filters."""
        return BotPageQuery(versions=self.versions, opponents=self.opponents, curve=self.curve).at()


@dataclass(frozen=True, slots=True, kw_only=True)
class BotPage:
    """The contents of a bot's page, except the bot itself."""

    results: Mapping[int, Entry]  # the active version's: in all games, then by number of players
    median_millis: float | None  # median decision time: the median of the games' medians; None if unknown
    curve: Curve | None  # None if there are no games to draw
    older_curve: bool  # whether some versions are too old to be shown in the curve
    # A page of versions, newest first, each with its results in all games.
    versions: tuple[tuple[Version, Entry], ...]
    older_versions: int | None  # `versions` parameter of the next page; None on the last
    opponents: tuple[OpponentLine, ...]  # a page, most games first
    more_opponents: int | None  # offset of the next page; None on the last
    found: FoundGames  # a page of the games that match the filter
    habits: Habits
    failures: Failures
    mistakes: Mistakes
    queue: QueuePlace


def read_bot_page(store: Store, bot: KnownBot, where: BotPageQuery, *, private: bool) -> BotPage:
    """Read a bot's page; ``private`` includes the author's notes."""
    (playing,) = store.bots.versions(bot.name, bot.version + 1, 1)
    overall = playing.results[OVERALL]
    micros = median(overall.times)
    versions = store.bots.versions(bot.name, where.versions, VERSIONS_PER_PAGE + 1)
    opponents = read_opponents(
        store, bot.name, playing.results, where.curve, where.opponents, OPPONENTS_PER_PAGE + 1
    )
    curve = store.histories.curve(bot.name, where.curve or OVERALL, CURVE_VERSIONS)
    return BotPage(
        results=playing.results,
        median_millis=None if micros is None else micros / 1000,
        curve=draw(curve),
        older_curve=curve[0].version > 1,
        versions=tuple(version_line(version, noted=private) for version in versions[:VERSIONS_PER_PAGE]),
        older_versions=versions[-2].number if len(versions) > VERSIONS_PER_PAGE else None,
        opponents=opponents[:OPPONENTS_PER_PAGE],
        more_opponents=where.opponents + OPPONENTS_PER_PAGE if len(opponents) > OPPONENTS_PER_PAGE else None,
        found=store.histories.games(bot.name, where.criteria, where.before, GAMES_PER_PAGE),
        habits=read_habits(store, bot.name),
        failures=read_failures(store, bot.name),
        mistakes=read_mistakes(store, bot.name, bot.version),
        queue=store.queue.place(bot.name),
    )


def version_line(known: KnownVersion, *, noted: bool) -> tuple[Version, Entry]:
    """Return a version, as :func:`version_of` does, and its results in all games."""
    return version_of(known, noted=noted), known.results[OVERALL]


def version_of(known: KnownVersion, *, noted: bool) -> Version:
    """Return a version for the API; ``noted`` says whether to include the author's note."""
    return Version(
        number=known.number,
        playing=known.playing,
        created=known.created,
        image=image_name(known.source),
        sha256=known.sha256,
        size=known.size,
        note=known.note if noted else None,
        available=known.available,
        results=tuple(_rated_result(players, entry) for players, entry in known.results.items()),
    )


def _rated_result(players: int, entry: Entry) -> RatedResult:
    return RatedResult(
        players=players,
        games=entry.games,
        wins=entry.wins,
        mean_place=entry.mean_place,
        faulty=entry.faulty,
        mean=entry.rating.mean,
        deviation=entry.rating.deviation,
        score=entry.rating.score,
    )
