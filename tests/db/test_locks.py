"""Tests of the order of locks on rows. In a deadlock PostgreSQL would abort a transaction."""

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, insert, select, text, update

from arena.db import credentials, ladder
from arena.db.accounts import AccountRepository
from arena.db.database import Database, OpenTransaction
from arena.db.errors import CredentialsChanged
from arena.db.schema import (
    AccountRow,
    ApiTokenRow,
    GameRow,
    MatchRow,
    MatchSeatRow,
    SessionRow,
    SubmissionRow,
    UnratedGameRow,
)
from arena.db.store import Store
from arena.play.replay.document import parse
from arena.protocol.submissions import Stage
from tests.db.builders import (
    START,
    add_account,
    add_bot,
    bot_of,
    claim_one,
    claimed,
    finished,
    new_challenge,
    present,
)
from tests.db.test_accounts import session, token
from tests.db.test_submissions import PLENTY, game, new, qualify
from tests.db.test_subscriptions import subscribe
from tests.kinds import on_postgresql
from tests.patience import wait_until
from tests.person_games import add_person_game

pytestmark = on_postgresql


def wait_for_waiting(database: Database, count: int) -> None:
    """Wait until this many transactions are waiting for a lock."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )

    def as_many_wait() -> bool:
        with database.read() as connection:
            return bool(connection.execute(waiting).scalar_one() == count)

    wait_until(as_many_wait, f"{count} waiting transactions")


def test_a_deletion_and_a_new_version_lock_the_ladder_first(store: Store, database: Database) -> None:
    """While both wait for the ladder, the rows that they will change aren't locked. Then both finish."""
    ann = add_account(store, "ann")
    store.submissions.add(new(author="ann", account=ann.id), PLENTY)
    store.submissions.mark_inspected("u1", "sha256:1", START)
    store.submissions.mark_qualifying("u1", START)
    with ThreadPoolExecutor(2) as pool:
        with database.write() as connection:
            ladder.lock(connection)
            deleted = pool.submit(store.accounts.delete, ann.id, "former-1", START)
            activated = pool.submit(store.submissions.activate, "u1", START)
            wait_for_waiting(database, 2)
            free = [
                connection.execute(select(func.count()).select_from(rows.subquery())).scalar_one()
                for rows in (
                    select(AccountRow.id).with_for_update(skip_locked=True),
                    select(SubmissionRow.number).with_for_update(skip_locked=True),
                )
            ]
        deleted.result()
        version = activated.result()
    assert free == [1, 1]
    known = present(store.submissions.find("u1"))
    assert (known.author, known.stage) == ("former-1", Stage.REJECTED if version is None else Stage.ACTIVE)
    assert [bot.author for bot in store.bots.listed(None, 10)] == ([] if version is None else ["former-1"])


@pytest.mark.parametrize("rated", [True, False])
def test_a_result_stored_during_a_deletion_has_no_deleted_name(
    store: Store, database: Database, *, rated: bool
) -> None:
    """The result waits for the deletion, and then reads the authors' names."""
    ann = add_account(store, "ann")
    versions = [bot_of(store, "mine", ann), add_bot(store, "other", author="ben")]
    if rated:
        claim = claimed(store, versions)
    else:
        store.challenges.add(new_challenge("c", ann.id, versions), max_a_day=9)
        claim = claim_one(store)
    with ThreadPoolExecutor(1) as pool:
        with database.write() as connection:
            ladder.lock(connection)
            recorded = pool.submit(store.results.record, finished(claim, [(1, 2), (2, 1)]))
            wait_for_waiting(database, 1)
            AccountRepository(OpenTransaction(connection)).delete(ann.id, "former-1", START)
        assert recorded.result()
    table = GameRow if rated else UnratedGameRow
    with database.read() as connection:
        replays = connection.execute(select(table.replay)).scalars().all()
    authors = [tuple(seat.author for seat in parse(replay).seats) for replay in replays]
    assert authors == [("former-1", "ben")] * 2


@pytest.mark.parametrize("remove", ["remove_logs", "remove_replays"])
def test_retention_and_a_deletion_lock_the_ladder_first(
    store: Store, database: Database, remove: str
) -> None:
    """While both wait for the ladder, the games that they will change aren't locked. Then both finish."""
    ann = add_account(store, "ann")
    claim = claimed(store, [bot_of(store, "mine", ann), add_bot(store, "other", author="ben")])
    assert store.results.record(finished(claim, [(1, 2), (2, 1)]))
    with ThreadPoolExecutor(2) as pool:
        with database.write() as connection:
            ladder.lock(connection)
            deleted = pool.submit(store.accounts.delete, ann.id, "former-1", START)
            removed = pool.submit(getattr(store.logs, remove), START + timedelta(days=1), 9)
            wait_for_waiting(database, 2)
            free = [
                len(connection.execute(select(rows).with_for_update(skip_locked=True)).all())
                for rows in (GameRow.number, MatchRow.number, MatchSeatRow.seat)
            ]
        deleted.result()
        assert removed.result() == 1
    assert free == [2, 1, 2]


def test_a_qualification_game_and_a_verdict_lock_the_ladder_first(store: Store, database: Database) -> None:
    """While both wait for the ladder, the submission isn't locked. Then both finish."""
    house = add_bot(store, "a", author="house")
    store.submissions.add(new(), PLENTY)
    qualify(store)
    with ThreadPoolExecutor(2) as pool:
        with database.write() as connection:
            ladder.lock(connection)
            added = pool.submit(store.submissions.add_game, game("q", "u1", (None, house)), played=0)
            activated = pool.submit(store.submissions.activate, "u1", START)
            wait_for_waiting(database, 2)
            rows = select(SubmissionRow.number).with_for_update(skip_locked=True)
            free = len(connection.execute(rows).all())
        added.result()
        activated.result()
    assert free == 1


def test_an_account_is_locked_before_its_games_against_bots(store: Store, database: Database) -> None:
    """A new game waits for the account's deletion, which changes the open game, and is then refused."""
    ann = add_account(store, "ann")
    add_bot(store, "a", author="house")
    add_person_game(store, "p1", ["a"], START, account=ann.id, waits=True)
    with ThreadPoolExecutor(1) as pool:
        with database.write() as connection:
            accounts = AccountRepository(OpenTransaction(connection))
            connection.execute(select(AccountRow.id).with_for_update())
            added = pool.submit(add_person_game, store, "p2", ["a"], START, account=ann.id, waits=True)
            wait_for_waiting(database, 1)
            accounts.delete(ann.id, "former-1", START)
        with pytest.raises(CredentialsChanged):
            added.result()


def test_an_account_is_locked_before_its_sessions_and_tokens(store: Store, database: Database) -> None:
    """While all changes wait for the account, its sessions and tokens aren't locked. Then all finish.

    Nothing that is created during the account's deletion survives it.
    """
    ann = add_account(store, "ann")
    accounts = store.accounts
    store.credentials.open_session(session(ann, 1))
    store.credentials.add_token(token(ann, 1), max_tokens=9)
    with ThreadPoolExecutor(5) as pool:
        with database.write() as connection:
            connection.execute(select(AccountRow.id).with_for_update())
            waiting: list[Future[Any]] = [
                pool.submit(accounts.delete, ann.id, "former-1", START),
                pool.submit(accounts.set_password, ann.id, "", START),
                pool.submit(store.credentials.open_session, session(ann, 2), instead_of=f"{1:064x}"),
                pool.submit(store.credentials.add_token, token(ann, 2), max_tokens=9),
                pool.submit(subscribe, store, ann),
            ]
            wait_for_waiting(database, len(waiting))
            free = [
                len(connection.execute(select(table.id).with_for_update(skip_locked=True)).all())
                for table in (SessionRow, ApiTokenRow)
            ]
        for each in waiting:
            with suppress(CredentialsChanged):  # if the deletion came first
                each.result()
    assert free == [1, 1]
    assert [account.name for account in accounts.all()] == ["former-1"]
    assert [store.credentials.session(f"{number:064x}") for number in (1, 2)] == [None, None]
    assert [store.credentials.token(f"{number:064x}") for number in (1, 2)] == [None, None]
    assert store.subscriptions.of(ann.id) == ()


def test_a_login_and_a_new_password_wait_for_each_other(store: Store, database: Database) -> None:
    """Whether a login or a new password comes first, no session with the old password remains."""
    ann = add_account(store, "ann")
    old = f"hash of {ann.name}'s"
    with ThreadPoolExecutor(2) as pool:
        with database.write() as connection:
            credentials.lock_account(connection, ann.id, old)
            values = {
                "account_id": ann.id,
                "hash": f"{1:064x}",
                "browser": "",
                "created": START,
                "seen": START,
            }
            connection.execute(insert(SessionRow).values(values))
            changed = pool.submit(store.accounts.set_password, ann.id, "new", START, instead_of=old)
            wait_for_waiting(database, 1)
        changed.result()
        assert store.credentials.sessions(ann.id) == ()
        with database.write() as connection:
            connection.execute(update(AccountRow).values(password="newer"))  # noqa: S106 - a hash
            opened = pool.submit(store.credentials.open_session, session(ann, 2), password=old)
            wait_for_waiting(database, 1)
        with pytest.raises(CredentialsChanged):
            opened.result()
    assert store.credentials.sessions(ann.id) == ()


def test_a_transaction_that_waited_sees_what_the_other_wrote(url: str) -> None:
    """Transactions see concurrent commits, even if the server's default isolation is stricter."""
    with closing(Database(f"{url}&options=-cdefault_transaction_isolation%3Dserializable")) as strict:
        for transaction in (strict.read, strict.write):
            with transaction() as connection:
                isolation = connection.execute(text("SHOW transaction_isolation")).scalar_one()
                assert isolation == "read committed"
        with strict.read(snapshot=True) as connection:
            isolation = connection.execute(text("SHOW transaction_isolation")).scalar_one()
            assert isolation == "repeatable read"
