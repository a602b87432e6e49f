"""People's games against bots, passed between the site and the coordinator. No rating depends on them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, and_, delete, insert, select, text, update

from arena.db import credentials, ladder
from arena.db.analyses import packed, unpacked
from arena.db.database import Repository, count, from_row
from arena.db.errors import QuotaReached
from arena.db.results import with_authors
from arena.db.schema import OPEN_GAMES, BotRow, BotVersionRow, PersonGameRow
from arena.protocol.analysis import Analysis
from arena.protocol.decoding import prepared
from arena.protocol.states import PersonGameState
from arena.rules import Move, Rules, View

MAX_WAITING: Final = 40
"""Maximum number of waiting games, across all visitors."""

# SQLite uses the index of open games only if the condition contains the index's own, without parameters.
_IS_OPEN: Final = and_(text(OPEN_GAMES))
_IS_WAITING: Final = and_(_IS_OPEN, PersonGameRow.state == PersonGameState.WAITING)
_IS_PLAYING: Final = and_(_IS_OPEN, PersonGameRow.state == PersonGameState.PLAYING)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPersonGame:
    """A game to add."""

    id: str  # secret, because it is part of the game's URL
    visitor: str  # digest of the visitor's cookie
    account: int | None  # id of the person's account, if any
    rules: Rules
    opponents: tuple[int, ...]  # ids of versions, in the order of the other seats
    seat: int  # the person's seat, from 0
    created: datetime  # UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBot:
    """A bot at the table."""

    bot: str
    version: int  # number, from 1
    author: str
    house: bool
    source: str  # image id, or the bot's folder
    available: bool  # whether its image or folder still exists


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonGame:
    """A person's game."""

    number: int
    id: str
    visitor: str
    account: int | None
    state: PersonGameState
    rules: Rules
    opponents: tuple[TableBot, ...]  # in the order of the other seats
    seat: int  # the person's seat, from 0
    created: datetime  # UTC
    ended: datetime | None  # UTC
    seen: datetime  # when the person was last present, UTC
    asked: View | None  # the person's latest decision; None before the first and after the game
    chosen: bool  # whether the person has made that decision
    replay: str  # as JSON text (`sushigo-replay/1`); empty until the game is over
    analysis: Analysis | None  # None until the game is over and its analysis is ready
    trouble: str | None  # why the game failed, or None
    before: int  # number of games waiting before this one; 0 if it isn't waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenMove:
    """A person's choice for a round and turn."""

    round: int  # from 1
    turn: int  # in the round, from 1
    move: Move


class PersonGames(Repository):
    """People's games."""

    def add(self, new: NewPersonGame) -> None:
        """Add a game, and end the visitor's open game.

        Raises QuotaReached if too many games are waiting, or CredentialsChanged if the account was deleted.
        """
        with self._transactions.write() as connection:
            if new.account is not None:  # first, as when the account is deleted
                credentials.lock_account(connection, new.account, None)
            waiting = count(connection, PersonGameRow, _IS_WAITING, PersonGameRow.visitor != new.visitor)
            if waiting >= MAX_WAITING:
                raise QuotaReached(f"{waiting} people are waiting for a table: try again in a few minutes")
            connection.execute(
                update(PersonGameRow)
                .where(PersonGameRow.visitor == new.visitor, _IS_OPEN)
                .values(_ending_values(PersonGameState.LEFT, new.created))
            )
            connection.execute(
                insert(PersonGameRow).values(
                    id=new.id,
                    visitor=new.visitor,
                    account_id=new.account,
                    state=PersonGameState.WAITING,
                    rules=msgspec.json.encode(new.rules).decode(),
                    opponents=list(new.opponents),
                    seat=new.seat,
                    created=new.created,
                    seen=new.created,
                    replay="",
                )
            )

    def find(self, id_: str) -> PersonGame | None:
        """Return the game with this id, or None."""
        with self._transactions.read() as connection:
            row = connection.execute(
                select(PersonGameRow.__table__).where(PersonGameRow.id == id_)
            ).one_or_none()
            if row is None:
                return None
            earlier = 0
            if row.state == PersonGameState.WAITING:
                earlier = count(connection, PersonGameRow, _IS_WAITING, PersonGameRow.number < row.number)
            return _known(connection, [row], earlier)[0]

    def newest(self, visitor: str, account: int | None, limit: int) -> tuple[PersonGame, ...]:
        """Return the finished games of a visitor, and of their account if they have one, newest first."""
        own = PersonGameRow.visitor == visitor
        if account is not None:
            own |= PersonGameRow.account_id == account
        with self._transactions.read() as connection:
            rows = connection.execute(
                select(PersonGameRow.__table__)
                .where(own, PersonGameRow.state == PersonGameState.OVER)
                .order_by(PersonGameRow.number.desc())
                .limit(limit)
            ).all()
            return _known(connection, rows)

    def open_of(self, visitor: str) -> str | None:
        """Return the id of a visitor's open game, or None."""
        with self._transactions.read() as connection:
            return connection.execute(
                select(PersonGameRow.id)
                .where(PersonGameRow.visitor == visitor, _IS_OPEN)
                .order_by(PersonGameRow.number.desc())
                .limit(1)
            ).scalar_one_or_none()

    def open_games(self) -> dict[str, bool]:
        """Return the ids of all open games, and whether each is waiting."""
        with self._transactions.read() as connection:
            rows = connection.execute(select(PersonGameRow.id, _IS_WAITING.label("waits")).where(_IS_OPEN))
            return {row.id: bool(row.waits) for row in rows}

    def mark_present(self, id_: str, at: datetime) -> None:
        """Record that the person is present."""
        self._change(PersonGameRow.id == id_, _IS_OPEN, seen=at)

    def choose(self, id_: str, choice: ChosenMove, at: datetime) -> bool:
        """Store a choice, which must be legal; return False if that decision isn't pending."""
        with self._transactions.write() as connection:
            row = connection.execute(
                select(PersonGameRow.asked, PersonGameRow.chosen)
                .where(PersonGameRow.id == id_, _IS_PLAYING)
                .with_for_update()
            ).one_or_none()
            if row is None or row.asked is None or row.chosen is not None:
                return False
            view = msgspec.json.decode(row.asked, type=prepared(View))
            if (view.round, view.turn) != (choice.round, choice.turn):
                return False
            connection.execute(
                update(PersonGameRow)
                .where(PersonGameRow.id == id_)
                .values(chosen=msgspec.json.encode(choice).decode(), seen=at)
            )
            return True

    def leave(self, id_: str, at: datetime) -> None:
        """End an open game, because the person has left it."""
        self._close(PersonGameRow.id == id_, PersonGameState.LEFT, at)

    def end_abandoned(self, since: datetime, at: datetime) -> None:
        """End the open games whose players were last seen before ``since``."""
        self._close(PersonGameRow.seen < since, PersonGameState.LEFT, at)

    def interrupt(self, at: datetime) -> None:
        """End the games that an earlier coordinator left in progress."""
        self._close(_IS_PLAYING, PersonGameState.FAILED, at, "the arena was restarted")

    def fail(self, id_: str, trouble: str, at: datetime) -> None:
        """End an open game that can't be played."""
        self._close(PersonGameRow.id == id_, PersonGameState.FAILED, at, trouble)

    def finish(self, id_: str, replay: str, at: datetime) -> None:
        """Store the replay of a game that is over, unless the person has left.

        The replay gets the authors' current names, because accounts may have been deleted since the game
        began.
        """
        mine = (PersonGameRow.id == id_, _IS_PLAYING)
        with self._transactions.write() as connection:
            ladder.lock(connection)  # so that no account is deleted until this transaction ends
            row = connection.execute(select(PersonGameRow.__table__).where(*mine)).one_or_none()
            if row is None:
                return
            authors: list[str | None] = [each.author for each in _known(connection, [row])[0].opponents]
            authors.insert(row.seat, None)
            ending = _ending_values(PersonGameState.OVER, at) | {"replay": with_authors(replay, authors)}
            connection.execute(update(PersonGameRow).where(*mine).values(ending))

    def begin(self) -> PersonGame | None:
        """Mark the longest-waiting game as playing and return it; None if no game is waiting."""
        with self._transactions.write() as connection:
            row = connection.execute(
                select(PersonGameRow.__table__)
                .where(_IS_WAITING)
                .order_by(PersonGameRow.number)
                .limit(1)
                .with_for_update()
            ).one_or_none()
            if row is None:
                return None
            connection.execute(
                update(PersonGameRow)
                .where(PersonGameRow.number == row.number)
                .values(state=PersonGameState.PLAYING)
            )
            return _known(connection, [row])[0]

    def ask(self, id_: str, view: View) -> None:
        """Ask the person for a decision."""
        asked = msgspec.json.encode(view).decode()
        self._change(PersonGameRow.id == id_, _IS_PLAYING, asked=asked, chosen=None)

    def playing(self) -> dict[str, ChosenMove | None]:
        """Return the games in progress, by id, with the person's choice for the latest decision."""
        with self._transactions.read() as connection:
            rows = connection.execute(select(PersonGameRow.id, PersonGameRow.chosen).where(_IS_PLAYING))
            return {
                row.id: None
                if row.chosen is None
                else msgspec.json.decode(row.chosen, type=prepared(ChosenMove))
                for row in rows
            }

    def unanalysed(self, since: datetime, *, without: Collection[str]) -> PersonGame | None:
        """Return the first unanalysed game that ended after ``since``, skipping the ids in ``without``."""
        with self._transactions.read() as connection:
            id_ = connection.execute(
                select(PersonGameRow.id)
                .where(
                    PersonGameRow.state == PersonGameState.OVER,
                    PersonGameRow.ended > since,
                    PersonGameRow.analysis.is_(None),
                    PersonGameRow.id.not_in(without),
                )
                .order_by(PersonGameRow.number)
                .limit(1)
            ).scalar_one_or_none()
        return None if id_ is None else self.find(id_)

    def store_analysis(self, id_: str, analysis: Analysis) -> None:
        """Store a game's analysis."""
        self._change(PersonGameRow.id == id_, analysis=packed(analysis))

    def remove(self, before: datetime) -> int:
        """Remove the games that ended before a time; return their number."""
        with self._transactions.write() as connection:
            ladder.lock(connection)  # first, as when an account is deleted: another order could deadlock
            return connection.execute(delete(PersonGameRow).where(PersonGameRow.ended < before)).rowcount

    def _close(
        self, which: ColumnElement[bool], state: PersonGameState, at: datetime, trouble: str | None = None
    ) -> None:
        self._change(which, _IS_OPEN, **_ending_values(state, at), trouble=trouble)

    def _change(self, *which: ColumnElement[bool], **values: object) -> None:
        with self._transactions.write() as connection:
            connection.execute(update(PersonGameRow).where(*which).values(**values))


def _ending_values(state: PersonGameState, at: datetime) -> dict[str, object]:
    return {"state": state, "ended": at, "asked": None, "chosen": None}


def _known(
    connection: Connection, rows: Sequence[Row[*tuple[object, ...]]], before: int = 0
) -> tuple[PersonGame, ...]:
    query = (
        select(BotVersionRow.id, BotVersionRow.number.label("version"), BotVersionRow.source)
        .add_columns(BotRow.name.label("bot"), BotRow.author, BotRow.house)
        .add_columns(BotVersionRow.gone.is_(None).label("available"))
        .join(BotRow, BotRow.id == BotVersionRow.bot_id)
        .where(BotVersionRow.id.in_({version for row in rows for version in row.opponents}))
    )
    bots = {each.id: from_row(TableBot, each) for each in connection.execute(query)}
    return tuple(
        from_row(
            PersonGame,
            row,
            account=row.account_id,
            rules=msgspec.json.decode(row.rules, type=prepared(Rules)),
            opponents=tuple(bots[version] for version in row.opponents),
            asked=None if row.asked is None else msgspec.json.decode(row.asked, type=prepared(View)),
            chosen=row.chosen is not None,
            analysis=None if row.analysis is None else unpacked(row.analysis),
            before=before,
        )
        for row in rows
    )
