"""Finds bots and their versions, and adds versions. State changes are in :mod:`arena.db.bot_states`."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    bindparam,
    case,
    func,
    insert,
    or_,
    select,
    text,
    true,
    union,
    update,
)

from arena.db import ladder, names
from arena.db.database import Repository, from_row
from arena.db.errors import BotDisqualified, BotTaken, WrongState
from arena.db.projections import LoggedEvent
from arena.db.schema import (
    ON_THE_BOARD,
    OPEN_MATCH,
    OPEN_SUBMISSION,
    QUARANTINED,
    AccountRow,
    BotRow,
    BotVersionRow,
    MatchRow,
    MatchSeatRow,
    SubmissionRow,
)
from arena.ladder.rating_events import Entry, VersionStarted
from arena.protocol.bots import Bot
from arena.protocol.states import BotState


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBot(Bot):
    """A bot and its owner."""

    account: int | None  # the owner's id; None if no account owns it

    def is_of(self, author: str, account: int | None) -> bool:
        """Return True if the bot belongs to this author and account.

        A bot that an operator added may have no account even if its author has one. In that case, the
        author's name is enough, because no one else can register that name.
        """
        return not self.house and self.author == author and self.account in {None, account}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownVersion:
    """A version of a bot."""

    number: int  # from 1
    playing: bool  # whether it is the active version
    created: datetime  # UTC
    note: str  # by its author; private to the owner and operators
    source: str  # image id, or the bot's folder
    size: int | None  # bytes of the submitted file; None if there was none
    sha256: str | None  # of that file, hexadecimal; None as above
    available: bool  # whether its image or folder still exists
    results: dict[int, Entry]  # by list, as in `arena.ladder.rating_events.LISTS`


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseVersion:
    """A version of a house bot."""

    id: int
    bot: str
    source: str  # image id, or the bot's folder
    available: bool  # whether the source existed at the last check


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """A version to add to a bot. Names have at most 64 characters."""

    bot: str
    author: str
    house: bool  # whether it is a house bot
    source: str  # image id, or the bot's folder
    created: datetime  # UTC
    account: int | None = None  # the owner's id; None if no account owns it
    note: str = ""  # by its author
    size: int | None = None  # bytes of the submitted file, if any
    sha256: str | None = None  # of that file, hexadecimal


ACCOUNT_DELETED: Final = "its author's account was deleted"
"""The reason that is stored for a bot whose author's account was deleted."""


class Bots(Repository):
    """Bots and their versions."""

    def find(self, name: str) -> KnownBot | None:
        """Return the bot with this name, or None."""
        with self._transactions.read() as connection:
            return find(connection, name)

    def find_in_any_case(self, name: str) -> KnownBot | None:
        """Return the bot with this name, or else one whose name differs only in case, or None.

        New bots can't have such similar names; see :mod:`arena.db.names`.
        """
        with self._transactions.read() as connection:
            return find(connection, name) or _first_bot(connection, func.lower(BotRow.name) == name.lower())

    def of_account(self, account: int) -> tuple[KnownBot, ...]:
        """Return an account's bots, sorted by name."""
        with self._transactions.read() as connection:
            rows = connection.execute(_bots().where(BotRow.account_id == account).order_by(BotRow.name))
            return tuple(map(_known, rows))

    def listed(
        self,
        after: str | None = None,
        limit: int = 100,
        *,
        state: BotState | None = None,
        author: str | None = None,
    ) -> tuple[KnownBot, ...]:
        """Return at most ``limit`` bots whose names come after ``after``, sorted by name.

        ``state`` and ``author`` (case-insensitive) narrow the list.
        """
        query = _bots().order_by(BotRow.name).limit(limit)
        if after is not None:
            query = query.where(BotRow.name > after)
        if state is not None:
            query = query.where(BotRow.state == state)
        if author is not None:
            # SQLite's lower() changes only ASCII letters.
            same = func.lower(BotRow.author) == author.lower()
            query = query.where(or_(BotRow.author == author, same))
        with self._transactions.read() as connection:
            return tuple(map(_known, connection.execute(query)))

    def against_people(self, limit: int) -> tuple[KnownBot, ...]:
        """Return the active bots that anyone may play against, house bots first, then by name."""
        query = (
            _bots()
            .where(BotRow.state == BotState.ACTIVE, BotRow.house | BotRow.open_to_people)
            .order_by(BotRow.house.desc(), BotRow.name)
            .limit(limit)
        )
        with self._transactions.read() as connection:
            return tuple(map(_known, connection.execute(query)))

    def versions(self, name: str, before: int | None = None, limit: int = 50) -> tuple[KnownVersion, ...]:
        """Return a bot's versions with numbers below ``before``, newest first, or none for an unknown bot."""
        query = (
            select(BotVersionRow.__table__, BotRow.playing, BotRow.house)
            .join(BotRow, BotRow.id == BotVersionRow.bot_id)
            .where(BotRow.name == name)
            .order_by(BotVersionRow.number.desc())
            .limit(limit)
        )
        if before is not None:
            query = query.where(BotVersionRow.number < before)
        with self._transactions.read() as connection:
            rows = connection.execute(query).all()
            entries = ladder.load(connection, [row.id for row in rows])
        return tuple(
            from_row(
                KnownVersion,
                row,
                playing=row.number == row.playing,
                available=row.gone is None,
                results={
                    players: entry
                    for (version, players), entry in sorted(entries.items())
                    if version == row.id
                },
            )
            for row in rows
        )

    def version_id(self, name: str, number: int) -> int | None:
        """Return a version's id; None if it doesn't exist, its image is gone or its bot is disqualified."""
        with self._transactions.read() as connection:
            return connection.execute(
                select(BotVersionRow.id)
                .join(BotRow, BotRow.id == BotVersionRow.bot_id)
                .where(BotRow.name == name, BotRow.state != BotState.DISQUALIFIED)
                .where(BotVersionRow.number == number, BotVersionRow.gone.is_(None))
            ).scalar_one_or_none()

    def sources_in_use(self, *, untrusted_only: bool = False) -> frozenset[str]:
        """Return the sources used by active versions on the leaderboard, open matches and open submissions.

        ``untrusted_only`` leaves out house bots.
        """
        untrusted = BotVersionRow.bot_id.in_(select(BotRow.id).where(~BotRow.house))
        whose = untrusted if untrusted_only else true()
        playing = (
            select(BotVersionRow.source)
            .join(BotRow, BotRow.id == BotVersionRow.bot_id)
            .where(BotVersionRow.number == BotRow.playing, BotRow.state.in_(ON_THE_BOARD), whose)
        )
        seated = (
            select(BotVersionRow.source)
            .join(MatchSeatRow, MatchSeatRow.version_id == BotVersionRow.id)
            .join(MatchRow, MatchRow.id == MatchSeatRow.match_id)
            .where(text(OPEN_MATCH), whose)
        )
        submitted = select(SubmissionRow.source).where(
            text(OPEN_SUBMISSION), SubmissionRow.source.is_not(None)
        )
        # A running match of a cancelled submission still needs its image.
        qualifying = (
            select(SubmissionRow.source)
            .join(MatchSeatRow, MatchSeatRow.submission_number == SubmissionRow.number)
            .join(MatchRow, MatchRow.id == MatchSeatRow.match_id)
            .where(text(OPEN_MATCH))
        )
        with self._transactions.read() as connection:
            return frozenset(connection.execute(union(playing, seated, submitted, qualifying)).scalars())

    def add_version(self, new: NewVersion) -> int:
        """Add a version and activate it; see :func:`add_version`."""
        with self._transactions.write() as connection:
            return add_version(connection, new)

    def record_missing_images(self, kept: Collection[str], at: datetime) -> int:
        """Record which images of untrusted bots were removed or restored; return the number removed.

        ``kept`` contains the sources whose images exist.
        """
        with self._transactions.write() as connection:
            rows = connection.execute(
                select(BotVersionRow.id, BotVersionRow.source, BotVersionRow.gone)
                .join(BotRow, BotRow.id == BotVersionRow.bot_id)
                .where(~BotRow.house)
            ).all()
            gone = [row.id for row in rows if row.gone is None and row.source not in kept]
            back = [row.id for row in rows if row.gone is not None and row.source in kept]
            _set_gone(connection, gone, back, at)
            return len(gone)

    def house_versions(self) -> tuple[HouseVersion, ...]:
        """Return the active versions of house bots, sorted by name."""
        with self._transactions.read() as connection:
            rows = connection.execute(_house_versions().where(BotVersionRow.number == BotRow.playing))
            return tuple(from_row(HouseVersion, row) for row in rows)

    def superseded_house_versions(self) -> tuple[HouseVersion, ...]:
        """Return available superseded versions of house bots with seats in open or quarantined matches."""
        seated = (
            select(MatchSeatRow.version_id)
            .join(MatchRow, MatchRow.id == MatchSeatRow.match_id)
            .where(or_(text(OPEN_MATCH), text(QUARANTINED)))
        )
        with self._transactions.read() as connection:
            rows = connection.execute(
                _house_versions()
                .where(BotVersionRow.number != BotRow.playing, BotVersionRow.gone.is_(None))
                .where(BotVersionRow.id.in_(seated))
            )
            return tuple(from_row(HouseVersion, row) for row in rows)

    def record_house_versions(self, *, gone: Collection[int], back: Collection[int], at: datetime) -> None:
        """Record which versions of house bots, by id, have lost or regained their source."""
        if not gone and not back:
            return
        with self._transactions.write() as connection:
            _set_gone(connection, gone, back, at)


def _house_versions() -> Select[Any]:
    return (
        select(BotVersionRow.id, BotRow.name.label("bot"), BotVersionRow.source)
        .add_columns(BotVersionRow.gone.is_(None).label("available"))
        .join(BotRow, BotRow.id == BotVersionRow.bot_id)
        .where(BotRow.house)
        .order_by(BotRow.name)
    )


def _set_gone(connection: Connection, gone: Collection[int], back: Collection[int], at: datetime) -> None:
    for ids, value in ((gone, at), (back, None)):
        connection.execute(update(BotVersionRow).where(BotVersionRow.id.in_(ids)).values(gone=value))


def find(connection: Connection, name: str) -> KnownBot | None:
    """Return the bot with this name, or None."""
    return _first_bot(connection, BotRow.name == name)


def _first_bot(connection: Connection, condition: ColumnElement[bool]) -> KnownBot | None:
    row = connection.execute(_bots().where(condition).order_by(BotRow.id).limit(1)).one_or_none()
    return None if row is None else _known(row)


def add_version(connection: Connection, new: NewVersion) -> int:
    """Add a version and activate it, unless the active version has the same source.

    A new bot starts at the initial rating, and a new version starts at one based on its predecessor's. A
    benched or retired bot becomes active again. Returns the active version's id. Raises BotDisqualified,
    BotTaken, or WrongState if the account was deleted.
    """
    numbers = ladder.lock(connection)  # also prevents two simultaneous new versions of a bot
    if is_deleted(connection, new.account):
        raise WrongState(f"{new.bot} can't be added: {ACCOUNT_DELETED}")
    bot = connection.execute(select(BotRow.__table__).where(BotRow.name == new.bot)).one_or_none()
    if bot is None:
        if new.house:
            names.check_house_bot(connection, new.bot)
        else:
            names.check_bot(connection, new.bot, new.account)
        values = {
            "name": new.bot,
            "author": new.author,
            "house": new.house,
            "newest": 0,
            "account_id": new.account,
            "playing": 0,
        }
        bot = connection.execute(insert(BotRow).values(values).returning(*BotRow.__table__.columns)).one()
    elif (bot.author, bot.house) != (new.author, new.house) or bot.account_id not in {None, new.account}:
        raise BotTaken(f"the name {new.bot} belongs to a bot by {bot.author}: choose another")
    elif bot.state == BotState.DISQUALIFIED:
        raise BotDisqualified(new.bot, bot.reason)
    elif bot.account_id != new.account:
        connection.execute(update(BotRow).where(BotRow.id == bot.id).values(account_id=new.account))
    # The image exists now, so versions that had lost the same image are playable again.
    connection.execute(
        update(BotVersionRow)
        .where(BotVersionRow.source == new.source, BotVersionRow.gone.is_not(None))
        .values(gone=None)
    )
    versions = select(BotVersionRow.id, BotVersionRow.source).where(BotVersionRow.bot_id == bot.id)
    playing = connection.execute(versions.where(BotVersionRow.number == bot.playing)).one_or_none()
    if playing is not None and playing.source == new.source:
        if bot.state != BotState.ACTIVE:
            set_playing(connection, bot.id, bot.playing, new.created)
        return int(playing.id)
    # Start from the newest version, not the active one. Otherwise, authors could submit many equivalent
    # versions and activate the luckiest one before they submit the next.
    previous = connection.execute(versions.where(BotVersionRow.number == bot.newest)).one_or_none()
    number = bot.newest + 1
    values = {
        "bot_id": bot.id,
        "number": number,
        "source": new.source,
        "created": new.created,
        "note": new.note,
        "size": new.size,
        "sha256": new.sha256,
    }
    version = connection.execute(
        insert(BotVersionRow).values(values).returning(BotVersionRow.id)
    ).scalar_one()
    connection.execute(update(BotRow).where(BotRow.id == bot.id).values(newest=number))
    set_playing(connection, bot.id, number, new.created)
    event = VersionStarted(version=version, previous=None if previous is None else previous.id)
    ladder.append(connection, [LoggedEvent(numbers.events + 1, event)], numbers.games, barred=frozenset())
    return version


def is_deleted(connection: Connection, account: int | None) -> bool:
    """Return True if this is the id of a deleted account."""
    deleted = select(AccountRow.id).where(AccountRow.id == account, AccountRow.deleted.is_not(None))
    return connection.execute(deleted).scalar_one_or_none() is not None


def set_playing(connection: Connection, bot: int, number: int, at: datetime) -> None:
    """Activate a version, and reactivate the bot."""
    connection.execute(
        update(BotRow)
        .where(BotRow.id == bot)
        .values(playing=number, state=BotState.ACTIVE, reason=None, since=at, forgiven=forgiven(at))
    )
    ladder.mark_changed(connection, BotRow.id == bot)


def forgiven(at: datetime) -> ColumnElement[datetime | None]:
    """Return the new value of ``forgiven`` for a bot whose state or active version changes.

    Earlier failures are forgiven only if the bot was benched. If every switch or retirement forgave them,
    authors could avoid benching by switching versions or retiring often.
    """
    return case(
        (BotRow.state == BotState.BENCHED, bindparam(None, at, BotRow.forgiven.type)), else_=BotRow.forgiven
    )


def _bots() -> Select[*tuple[Any, ...]]:
    return select(BotRow.__table__, BotRow.account_id.label("account"), BotRow.playing.label("version"))


def _known(row: Row[*tuple[Any, ...]]) -> KnownBot:
    return from_row(KnownBot, row)
