"""The arena's current and recent work, and its hosts. The queries don't slow down as games accumulate."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec
from sqlalchemy import Connection, ScalarSelect, delete, func, select, text

from arena.db import games, ladder, projections, queue
from arena.db.database import Repository, put
from arena.db.games import GameSummary
from arena.db.queue import OpenMatch
from arena.db.schema import OPEN_MATCH, BotRow, GameRow, HostReportRow, LadderRow, MatchRow
from arena.ladder.highlights import Highlight, HighlightKind
from arena.protocol.decoding import prepared
from arena.protocol.sandbox_controls import HostReport, admit, unaccepted
from arena.protocol.states import MatchKind, MatchState
from arena.protocol.status import Hour


@dataclass(frozen=True, slots=True, kw_only=True)
class RemarkableGame:
    """A game with a very high score, or an upset."""

    kind: HighlightKind
    seat: int  # the remarkable seat
    other: int | None  # the beaten seat; None for a high score
    value: float  # the points of a high score; for an upset, its probability before the game
    game: GameSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """The arena's current activity."""

    running: tuple[OpenMatch, ...]  # rated matches in progress, oldest first
    matches_running: int  # all matches in progress, rated or not
    games_last_hour: int  # approximate: games from up to two matches may be wrongly included or left out
    games_last_day: int  # approximate, as above
    remarkable: tuple[RemarkableGame, ...]  # from the last two days with such games, by kind, best first
    upset: RemarkableGame | None  # the least expected upset of the last 24 hours


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Totals for the whole arena."""

    bots: int
    games: int
    matches_waiting: int
    matches_running: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """The arena's queue and recent output."""

    paused: bool  # whether no new matches are drawn
    waiting: Mapping[MatchKind, int]  # number of waiting matches by kind
    running: tuple[OpenMatch, ...]  # oldest first
    quarantined: int  # number of matches
    hours: tuple[Hour, ...]  # oldest first; the last one is the current, incomplete hour
    last_game: datetime | None  # end of the latest rated game, UTC; None before the first


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStatus:
    """A host's sandbox controls, and the missing ones that its operator accepts."""

    report: HostReport  # the latest one
    accepted: frozenset[str]  # names of the missing controls that were accepted when the report was made

    @property
    def unaccepted(self) -> tuple[str, ...]:
        """Names of the missing controls that keep untrusted bots out; empty if these bots may play."""
        return unaccepted(self.report, self.accepted)


_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_MAX_HOST_NAME_LENGTH: Final = 64
"""The column's width; longer host names are truncated."""

_MAX_HOSTS: Final = 1_000
"""Maximum number of reports to keep. Each recreated container has a new host name, so reports accumulate."""

_NEWEST_FIRST: Final = (HostReportRow.checked.desc(), HostReportRow.host)


class ActivityRepository(Repository):
    """Counts and lists of current work, and hosts' sandbox reports."""

    def current(self, at: datetime) -> Activity:
        """Return running matches, counts of recent games, and remarkable games."""
        with self._transactions.read() as connection:
            running = queue.running(connection)
            last_hour, last_day = games_since(connection, (at - _HOUR, at - _DAY))
            return Activity(
                running=tuple(match for match in running if match.kind is MatchKind.RATED),
                matches_running=len(running),
                games_last_hour=last_hour,
                games_last_day=last_day,
                remarkable=_remarkable_games(connection, projections.newest(connection)),
                upset=next(
                    iter(_remarkable_games(connection, projections.upset_since(connection, at - _DAY))), None
                ),
            )

    def totals(self) -> Totals:
        """Return the arena's totals."""

        def matches(state: MatchState) -> ScalarSelect[int]:
            return (
                select(func.count())
                .select_from(MatchRow)
                .where(text(OPEN_MATCH), MatchRow.state == state)
                .scalar_subquery()
            )

        bots = select(func.count()).select_from(BotRow).scalar_subquery()
        query = select(bots, LadderRow.games, matches(MatchState.WAITING), matches(MatchState.RUNNING))
        with self._transactions.read() as connection:
            row = connection.execute(query).one()
        return Totals(bots=row[0], games=row[1], matches_waiting=row[2], matches_running=row[3])

    def workload(self, at: datetime) -> Workload:
        """Return the queue, the running matches, and the output of the last 24 clock hours."""
        with self._transactions.read() as connection:
            sizes = queue.sizes(connection)
            newest = select(GameRow.ended).join(LadderRow, LadderRow.games == GameRow.number)
            return Workload(
                paused=ladder.settings(connection).paused,
                waiting={kind: sizes[MatchState.WAITING, kind] for kind in MatchKind},
                running=queue.running(connection),
                quarantined=sum(sizes[MatchState.QUARANTINED, kind] for kind in MatchKind),
                hours=_hours(connection, at),
                last_game=connection.execute(newest).scalar_one_or_none(),
            )

    def check_admission(self, accepted: Collection[str] | None = None) -> None:
        """Raise UntrustedBotsRefused unless the host that was checked last accepts untrusted bots.

        ``accepted`` contains the missing controls that the operator accepts; by default, those accepted when
        the host was checked.
        """
        newest = next(iter(self.hosts(at_most=1)), None)
        if accepted is None:
            accepted = () if newest is None else newest.accepted
        admit(None if newest is None else newest.report, accepted)

    def hosts(self, *, at_most: int = _MAX_HOSTS) -> tuple[HostStatus, ...]:
        """Return hosts' latest sandbox reports, the most recently checked first."""
        with self._transactions.read() as connection:
            rows = connection.execute(select(HostReportRow.__table__).order_by(*_NEWEST_FIRST).limit(at_most))
            return tuple(
                HostStatus(
                    report=msgspec.json.decode(row.report, type=prepared(HostReport)),
                    accepted=frozenset(row.accepted),
                )
                for row in rows
            )

    def record_host(self, report: HostReport, accepted: Collection[str]) -> None:
        """Replace a host's report, and delete the oldest reports if there are too many.

        ``accepted`` contains the missing controls that the operator accepts.
        """
        host = report.host[:_MAX_HOST_NAME_LENGTH]
        with self._transactions.write() as connection:
            row = {
                "host": host,
                "checked": report.checked,
                "accepted": sorted(accepted),
                "report": msgspec.json.encode(report),
            }
            put(connection, HostReportRow, [row])
            kept = select(HostReportRow.host).order_by(*_NEWEST_FIRST).limit(_MAX_HOSTS)
            connection.execute(delete(HostReportRow).where(HostReportRow.host.not_in(kept)))


def games_since(connection: Connection, moments: Sequence[datetime]) -> tuple[int, ...]:
    """Return the number of games that ended after each of these times, without counting rows.

    Games are numbered approximately in the order in which they ended, so it is enough to find the first game
    after each time.
    """
    firsts = [
        select(GameRow.number)
        .where(GameRow.ended > moment)
        .order_by(GameRow.ended, GameRow.number)
        .limit(1)
        .scalar_subquery()
        for moment in moments
    ]
    games, *numbers = connection.execute(select(LadderRow.games, *firsts)).one()
    return tuple(0 if first is None else games - first + 1 for first in numbers)


def _remarkable_games(connection: Connection, found: Collection[Highlight]) -> tuple[RemarkableGame, ...]:
    played = games.by_number(connection, {each.game for each in found})
    return tuple(RemarkableGame(**asdict(each) | {"game": played[each.game]}) for each in found)


def _hours(connection: Connection, at: datetime) -> tuple[Hour, ...]:
    begun = at.replace(minute=0, second=0, microsecond=0)
    begins = [begun - back * _HOUR for back in reversed(range(_DAY // _HOUR))]
    since = (*games_since(connection, begins), 0)
    return tuple(
        Hour(begins=begin, games=since[place] - since[place + 1]) for place, begin in enumerate(begins)
    )
