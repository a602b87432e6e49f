"""Changes to bots' states and active versions. Every change takes the ladder lock."""

from collections.abc import Callable, Collection
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, select, update

from arena.db import audit, bots, card_counts, ladder, queue, submissions, subscriptions
from arena.db.audit import NewAuditEntry
from arena.db.database import Repository
from arena.db.errors import BotDisqualified, NoSuchBot, NoSuchVersion, VersionGone, WrongState
from arena.db.games import last_games
from arena.db.ladder import Rebuilt
from arena.db.schema import PLAYS, BotRow, BotVersionRow, GameRow, GameSeatRow, SubmissionRow
from arena.ladder.qualification import BENCHING_WINDOW, benching_reason, keeps_failing
from arena.ladder.rating import update as update_ratings
from arena.ladder.rating_events import Rate
from arena.ladder.settings import MAX_DEALS
from arena.protocol.news import Topic, state_changed
from arena.protocol.states import BotState
from arena.protocol.submissions import HINTS, Cause, CauseKind, Stage

_NO_IMAGE = "the image of the bot's active version was removed while the bot was disqualified"


class BotStates(Repository):
    """Changes to bots' states.

    Every method raises NoSuchBot for an unknown bot and WrongState for a house bot. All methods except
    :meth:`disqualify` and :meth:`reinstate` raise BotDisqualified for a disqualified bot.
    """

    def play_version(self, name: str, number: int, at: datetime, entry: NewAuditEntry | None = None) -> bool:
        """Activate a version and reactivate the bot; return False if both are already active.

        Waiting and running matches keep the versions they were drawn with. If nothing changes, nothing is
        written to the audit log. Raises NoSuchVersion, VersionGone, or WrongState if the bot's account was
        deleted.
        """
        with self._transactions.write() as connection:
            changed = _activate_version(connection, _lock(connection, name), number, at)
            audit.record(connection, entry if changed else None)
            return changed

    def reactivate(self, name: str, at: datetime) -> bool:
        """Reactivate a benched or retired bot; return False if it is already active.

        Raises VersionGone, or WrongState if the bot's account was deleted.
        """
        with self._transactions.write() as connection:
            bot = _lock(connection, name)
            return _activate_version(connection, bot, bot.playing, at)

    def retire(self, name: str, at: datetime, entry: NewAuditEntry | None = None) -> bool:
        """Take a bot off the ladder; return False if it is already retired.

        Its waiting and running matches are still played. If nothing changes, nothing is written to the audit
        log.
        """
        with self._transactions.write() as connection:
            bot = _lock(connection, name)
            if bot.state == BotState.RETIRED:
                return False
            _set_state(connection, bot.id, BotState.RETIRED, None, at)
            audit.record(connection, entry)
            return True

    def open_to_people(self, name: str, *, is_open: bool) -> None:
        """Set whether anyone can play against a bot."""
        with self._transactions.write() as connection:
            bot = _lock(connection, name)
            connection.execute(update(BotRow).where(BotRow.id == bot.id).values(open_to_people=is_open))

    def bench(self, name: str, why: str, at: datetime, entry: NewAuditEntry) -> None:
        """Bench a bot for a public reason, which replaces any earlier reason.

        Raises WrongState if the bot is retired.
        """
        with self._transactions.write() as connection:
            bot = _lock(connection, name)
            if bot.state == BotState.RETIRED:
                raise WrongState(f"{name} is retired, so it gets no new rated matches anyway")
            _set_state(connection, bot.id, BotState.BENCHED, why, at)
            audit.record(connection, entry)

    def unbench(self, name: str, at: datetime, entry: NewAuditEntry) -> None:
        """Reactivate a benched bot. Raises VersionGone or WrongState."""
        with self._transactions.write() as connection:
            bot = _lock(connection, name)
            if bot.state != BotState.BENCHED:
                raise WrongState(f"{name} is {bot.state}, not benched")
            _activate_version(connection, bot, bot.playing, at)
            audit.record(connection, entry)

    def disqualify(self, name: str, why: str, at: datetime, entry: NewAuditEntry) -> Rebuilt:
        """Disqualify a bot, and recompute ratings and statistics as if it had never played.

        Its waiting matches are deleted, and its open submissions are rejected. Running matches won't count
        and, if interrupted, aren't played again. Recomputing takes about two milliseconds per rated game, but
        only the last part blocks other changes.
        Raises WrongState.
        """

        def change(connection: Connection, bot: Row[Any]) -> None:
            _set_state(connection, bot.id, BotState.DISQUALIFIED, why, at)
            cause = Cause(
                stage=Stage.RECEIVED,
                kind=CauseKind.BARRED,
                text=str(BotDisqualified(name, why)),
                hint=HINTS[CauseKind.BARRED],
            )
            submissions.reject_open(connection, SubmissionRow.bot == name, cause, at)
            queue.delete_cancelled(connection)

        return self._recompute_ratings(name, change, entry, counts=False)

    def reinstate(self, name: str, at: datetime, entry: NewAuditEntry) -> Rebuilt:
        """Lift a disqualification, so that the bot's games count again.

        This takes as long as :meth:`disqualify`. The bot is retired if its author's account was
        deleted, benched if its image was removed, and active otherwise. Raises WrongState.
        """

        def change(connection: Connection, bot: Row[Any]) -> None:
            gone = connection.execute(
                select(BotVersionRow.gone).where(
                    BotVersionRow.bot_id == bot.id, BotVersionRow.number == bot.playing
                )
            ).scalar_one()
            if bots.is_deleted(connection, bot.account_id):
                _set_state(connection, bot.id, BotState.RETIRED, bots.ACCOUNT_DELETED, at)
            elif gone is None:
                _set_state(connection, bot.id, BotState.ACTIVE, None, at)
            else:
                _set_state(connection, bot.id, BotState.BENCHED, _NO_IMAGE, at)

        return self._recompute_ratings(name, change, entry, counts=True)

    def _recompute_ratings(
        self,
        name: str,
        change: Callable[[Connection, Row[Any]], None],
        entry: NewAuditEntry,
        *,
        counts: bool,
    ) -> Rebuilt:
        """Compute all ratings with or without a bot's games, then apply the change in one transaction."""
        rate: Rate = cache(update_ratings)
        with self._transactions.read() as connection:
            bot = _find(connection, name, disqualified=counts)
            version_ids = select(BotVersionRow.id).where(BotVersionRow.bot_id == bot.id)
            versions = frozenset(connection.execute(version_ids).scalars())
            before = ladder.disqualified(connection)
            barred = before - versions if counts else before | versions
            ladder.precompute_ratings(connection, barred, rate)
            counted = card_counts.count_all(connection, barred)
        with self._transactions.write() as connection:
            ladder.lock(connection)
            change(connection, _find(connection, name, disqualified=counts))
            rebuilt = ladder.rebuild(connection, rate)
            card_counts.rebuild(connection, counted)
            audit.record(connection, entry)
            return rebuilt


def bench_failing(connection: Connection, played: Collection[tuple[int, str]], at: datetime) -> None:
    """Bench bots that keep failing in their latest games. House bots are exempt.

    ``played`` contains pairs: the id of a version whose seat the stand-in has just taken over, and a
    description of the failure. The caller holds the ladder lock.
    """
    benched: list[int] = []
    for version, trouble in played:
        bot = connection.execute(
            select(BotRow.__table__)
            .join(BotVersionRow, PLAYS)
            .where(BotVersionRow.id == version, BotRow.state == BotState.ACTIVE, ~BotRow.house)
        ).one_or_none()
        if bot is None:
            continue
        last = _recent_takeovers(connection, version, bot.forgiven)
        if keeps_failing(last):
            _write_state(connection, bot.id, BotState.BENCHED, benching_reason(last, trouble), at)
            benched.append(bot.id)
    if benched:
        ladder.mark_changed(connection, BotRow.id.in_(benched))


def _activate_version(connection: Connection, bot: Row[Any], number: int, at: datetime) -> bool:
    version = connection.execute(
        select(BotVersionRow.gone).where(BotVersionRow.bot_id == bot.id, BotVersionRow.number == number)
    ).one_or_none()
    if version is None:
        raise NoSuchVersion(f"{bot.name} has no version {number}: its versions are 1 to {bot.newest}")
    if bots.is_deleted(connection, bot.account_id):
        raise WrongState(f"{bot.name} can't play: {bots.ACCOUNT_DELETED}")
    if version.gone is not None:
        raise VersionGone(
            f"the image of {bot.name}@{number} was removed on {version.gone:%Y-%m-%d} to make room: "
            "submit its file again"
        )
    if (bot.playing, bot.state) == (number, BotState.ACTIVE):
        return False
    bots.set_playing(connection, bot.id, number, at)
    return True


def _lock(connection: Connection, name: str) -> Row[Any]:
    """Take the ladder lock and return the row of a bot that is not disqualified."""
    ladder.lock(connection)
    bot = _find(connection, name)
    if bot.state == BotState.DISQUALIFIED:
        raise BotDisqualified(bot.name, bot.reason)
    return bot


def _find(connection: Connection, name: str, *, disqualified: bool | None = None) -> Row[Any]:
    """Return a bot's row. If ``disqualified`` isn't None, check that it matches the bot's state.

    House bots are refused: they fill tables and are the opponents in qualification, and the arena registers
    them again at every start.
    """
    bot = connection.execute(select(BotRow.__table__).where(BotRow.name == name)).one_or_none()
    if bot is None:
        raise NoSuchBot(f"there is no bot called {name}")
    if bot.house:
        raise WrongState(f"{name} is a house bot, which always plays")
    if disqualified is True and bot.state != BotState.DISQUALIFIED:
        raise WrongState(f"{name} is {bot.state}, not disqualified")
    if disqualified is False and bot.state == BotState.DISQUALIFIED:
        raise WrongState(f"{name} is already disqualified: {bot.reason}")
    return bot


def _set_state(connection: Connection, bot: int, state: BotState, why: str | None, at: datetime) -> None:
    """Write a bot's state and the reason for it, and mark the bot as changed."""
    _write_state(connection, bot, state, why, at)
    ladder.mark_changed(connection, BotRow.id == bot)


def _write_state(connection: Connection, bot: int, state: BotState, why: str | None, at: datetime) -> None:
    """Write a bot's state, and notify the author if the bot is benched or disqualified."""
    row = connection.execute(
        update(BotRow)
        .where(BotRow.id == bot)
        .values(state=state, reason=why, since=at, forgiven=bots.forgiven(at))
        .returning(BotRow.name, BotRow.account_id)
    ).one()
    if state in {BotState.BENCHED, BotState.DISQUALIFIED}:
        subscriptions.notify_account(
            connection, row.account_id, Topic.BENCHED, state_changed(row.name, state, why, at)
        )


def _recent_takeovers(connection: Connection, version: int, since: datetime | None) -> list[bool]:
    """Return whether the stand-in finished the last game of each of a version's last matches, oldest first.

    Matches that ended before ``since`` are left out.
    """
    columns = (GameRow.match_id, GameSeatRow.taken_over, GameRow.ended)
    found: dict[str, bool] = {}
    for row in connection.execute(last_games(version, BENCHING_WINDOW * MAX_DEALS, *columns)):
        if since is None or row.ended > since:
            found.setdefault(row.match_id, row.taken_over)
    return list(found.values())[BENCHING_WINDOW - 1 :: -1]
