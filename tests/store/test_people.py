"""Accounts, sessions, tokens, invitations and the audit log, on both kinds of database."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from alembic import command

from arena.match import RuntimeName
from arena.rules import Rules
from arena.store import (
    BotState,
    InvitationRefused,
    KnownAccount,
    LastOperator,
    NameTaken,
    NewAccount,
    NewAuditEntry,
    NewSession,
    NewToken,
    NewVersion,
    Role,
    Store,
    TooManyTokens,
    open_store,
)
from arena.store.database import Database
from arena.store.migrate import alembic_config
from tests.builders import finish, play_set
from tests.store.builders import START, add_bot, new_set
from tests.store.test_opening import run

LATER = START + timedelta(days=1)
PROMOTED = NewAuditEntry(at=LATER, who="terminal:root", what="set-role")


def register(store: Store, name: str, *, invitation: str | None = None) -> KnownAccount:
    """Add an account."""
    new = NewAccount(name=name, password=f"hash of {name}'s", role=Role.USER, created=START)
    return store.people.register(new, invitation=invitation)


def token(account: KnownAccount, number: int = 1, *, days: int = 9) -> NewToken:
    """Make what is kept of a token."""
    return NewToken(
        account=account.id,
        name="laptop",
        prefix="kaiten_abcd",
        hash=f"{number:064x}",
        scopes=("read", "submit"),
        created=START,
        expires=START + timedelta(days=days),
    )


def version(bot: str, author: str, account: KnownAccount | None) -> NewVersion:
    """Make a version of a bot that belongs to an account."""
    return NewVersion(
        bot=bot,
        author=author,
        house=False,
        source="sha256:1",
        created=START,
        account=None if account is None else account.id,
    )


def test_an_account_is_found_by_its_name_in_any_case(store: Store) -> None:
    """It keeps the case that it was made with; no other may differ in case alone."""
    made = register(store, "Ann")
    found = store.people.account("aNN")
    assert found is not None
    assert (found.account, found.password) == (made, "hash of Ann's")
    assert store.people.account("ben") is None
    with pytest.raises(NameTaken, match="ANN is taken"):
        register(store, "ANN")
    assert [account.name for account in store.people.accounts()] == ["Ann"]


def test_a_name_under_which_bots_play_is_taken(store: Store) -> None:
    """Nobody can pass for the author of bots that an operator has added."""
    add_bot(store, "greedy", author="Ben")
    with pytest.raises(NameTaken):
        register(store, "ben")


def test_an_invitation_lets_one_person_in_once(store: Store) -> None:
    """One that is unknown, used or too old makes no account."""
    entry = NewAuditEntry(at=START, who="terminal:root", what="invite")
    store.people.invite("a" * 64, START, LATER, entry)
    store.people.invite("b" * 64, START, START, entry)
    assert register(store, "ann", invitation="a" * 64).name == "ann"
    for invitation in ("a" * 64, "b" * 64, "c" * 64):
        with pytest.raises(InvitationRefused):
            register(store, "ben", invitation=invitation)
    assert [account.name for account in store.people.accounts()] == ["ann"]


def test_a_session_replaces_the_one_before(store: Store) -> None:
    """The old secret is good for nothing; the others of the account stay."""
    ann = register(store, "ann")
    for hash_, instead in (("1" * 64, None), ("2" * 64, None), ("3" * 64, "1" * 64)):
        new = NewSession(account=ann.id, hash=hash_, browser="Firefox\0", created=START)
        store.people.open_session(new, instead_of=instead)
    assert store.people.session("1" * 64) is None
    found = store.people.session("3" * 64)
    assert found is not None
    assert (found.account, found.created, found.seen) == (ann, START, START)
    assert len(store.people.sessions(ann.id)) == 2


def test_old_sessions_end(store: Store) -> None:
    """Those that began too long ago, and those that were not seen for too long."""
    ann = register(store, "ann")
    for number in range(3):
        hash_ = f"{number}" * 64
        new = NewSession(account=ann.id, hash=hash_, browser="", created=START + timedelta(hours=number))
        store.people.session_seen(store.people.open_session(new), START + timedelta(hours=4 - number))
    ended = store.people.end_old_sessions(created_before=START, seen_before=START + timedelta(hours=2))
    assert ended == 2
    assert store.people.session("1" * 64) is not None


def test_a_new_password_ends_sessions(store: Store) -> None:
    """All but the one in which it was changed; tokens end only where that is asked for."""
    ann = register(store, "ann")
    ids = [
        store.people.open_session(
            NewSession(account=ann.id, hash=f"{number}" * 64, browser="", created=START)
        )
        for number in range(3)
    ]
    made = store.people.add_token(token(ann), most=3)
    store.people.set_password(ann.id, "another", keep_session=ids[1])
    assert [session.id for session in store.people.sessions(ann.id)] == [ids[1]]
    assert store.people.tokens(ann.id) == (made,)
    store.people.set_password(ann.id, "a third", keep_tokens=False)
    assert not store.people.sessions(ann.id)
    assert not store.people.tokens(ann.id)
    found = store.people.account("ann")
    assert found is not None
    assert found.password == "a third"  # noqa: S105 - no password


def test_a_hash_is_replaced_only_where_it_is_the_one_that_was_read(store: Store) -> None:
    """A password that was changed meanwhile stays changed."""
    ann = register(store, "ann")
    store.people.rehash(ann.id, "an old one", "wrong")
    store.people.rehash(ann.id, "hash of ann's", "right")
    found = store.people.account("ann")
    assert found is not None
    assert found.password == "right"  # noqa: S105 - no password


def test_tokens_are_found_used_and_revoked(store: Store) -> None:
    """By their own account alone; there can't be too many that work."""
    ann, ben = register(store, "ann"), register(store, "ben")
    made = store.people.add_token(token(ann), most=1)
    assert store.people.token(f"{1:064x}") == (made, ann)
    assert store.people.token(f"{2:064x}") is None
    with pytest.raises(TooManyTokens, match="1 is the most"):
        store.people.add_token(token(ann, 2), most=1)
    store.people.token_used(made.id, LATER)
    assert not store.people.revoke_token(ben.id, made.id, LATER)
    assert store.people.revoke_token(ann.id, made.id, LATER)
    assert not store.people.revoke_token(ann.id, made.id, LATER)
    (revoked,) = store.people.tokens(ann.id)
    assert (revoked.last_used, revoked.revoked, revoked.works(START)) == (LATER, LATER, False)
    assert store.people.add_token(token(ann, 2), most=1).works(START)
    assert not token_works_after(store, ann)


def token_works_after(store: Store, account: KnownAccount) -> bool:
    """Whether the newest token still works when its time is over."""
    newest = store.people.tokens(account.id)[0]
    return newest.works(newest.expires)


def test_a_deleted_account_is_a_pseudonym_everywhere(store: Store) -> None:
    """On bots, boards and games, in replays and in the audit log; its ways in are gone, its name is free."""
    ann, ben = register(store, "ann"), register(store, "ben")
    mine = store.writes.add_version(version("mine", "ann", ann))
    by_hand = store.writes.add_version(version("by-hand", "Ann", None))
    other = store.writes.add_version(version("ann", "ben", ben))
    play_set(store, [(mine, by_hand, other)], Rules(players=3), name="s")
    store.people.open_session(NewSession(account=ann.id, hash="1" * 64, browser="", created=START))
    store.people.add_token(token(ann), most=3)
    for who, subject in (("ann", "account:ben"), ("terminal:root", "account:ann"), ("ben", "bot:ann")):
        store.people.record(NewAuditEntry(at=START, who=who, what="test", subject=subject))

    store.people.delete(ann.id, "former-1", LATER)

    assert {line.author for line in store.reads.leaderboard()} == {"former-1", "ben"}
    for summary in store.reads.games():
        game = store.reads.game(summary.game)
        assert game is not None
        assert [seat.author for seat in game.seats] == ["former-1", "former-1", "ben"]
        assert game.replay.count('"author":"former-1"') == 2
        assert '"author":"ann"' not in game.replay.lower()
        assert '"bot":"ann"' in game.replay
    entries = [(entry.who, entry.subject) for entry in store.people.audit(9)]
    assert entries == [
        ("former-1", "account:ben"),
        ("terminal:root", "account:former-1"),
        ("ben", "bot:ann"),
    ]
    assert store.people.account("ann") is store.people.account("former-1") is None
    assert store.people.session("1" * 64) is None
    assert store.people.token(f"{1:064x}") is None
    (deleted, _) = store.people.accounts()
    assert (deleted.id, deleted.name, deleted.deleted) == (ann.id, "former-1", LATER)
    assert register(store, "ann").id != ann.id


def test_a_pseudonym_is_given_once(store: Store) -> None:
    """Two deleted accounts can be told apart; a second deletion changes nothing."""
    ann, ben = register(store, "ann"), register(store, "ben")
    store.people.delete(ann.id, "former-1", LATER)
    with pytest.raises(NameTaken):
        store.people.delete(ben.id, "former-1", LATER)
    store.people.delete(ann.id, "former-2", LATER)
    assert [account.name for account in store.people.accounts()] == ["former-1", "ben"]


def test_a_match_that_was_under_way_is_recorded_under_the_pseudonym(store: Store) -> None:
    """Its replay has the name of the moment in which it is kept."""
    ann = register(store, "ann")
    seats = [store.writes.add_version(version("mine", "ann", ann)), add_bot(store, "greedy", author="house")]
    store.writes.add_set(new_set("s", seats, matches=1))
    claim = store.leases.claim("here", "worker", START, RuntimeName.DOCKER)
    assert claim is not None
    finished = finish(claim, random.Random(1), ended=LATER)  # noqa: S311 - a game that can be repeated
    assert '"author":"ann"' in finished.games[0].replay
    store.people.delete(ann.id, "former-1", LATER)
    store.writes.record(finished)
    game = store.reads.game(finished.games[0].id)
    assert game is not None
    assert game.replay == finished.games[0].replay.replace('"ann"', '"former-1"')


def test_bots_of_deleted_accounts_are_paired_no_more(store: Store) -> None:
    """They are retired: they leave match-making and the board, and say why."""
    ann = register(store, "ann")
    store.writes.add_version(version("mine", "ann", ann))
    add_bot(store, "greedy", author="house")
    assert len(store.reads.candidates()) == 2
    store.people.delete(ann.id, "former-1", LATER)
    assert [candidate.bot for candidate in store.reads.candidates()] == ["greedy"]
    assert [line.bot for line in store.reads.leaderboard()] == ["greedy"]
    mine = store.bots.find("mine")
    assert mine is not None
    assert (mine.state, mine.reason) == (BotState.RETIRED, "its author's account was deleted")


def test_what_an_account_may_do_can_be_changed(store: Store) -> None:
    """With a line in the audit log, unless it may do that already or is deleted."""
    ann, ben = register(store, "ann"), register(store, "ben")
    assert store.people.set_role(ann.id, Role.OPERATOR, PROMOTED)
    assert not store.people.set_role(ann.id, Role.OPERATOR, PROMOTED)
    assert [account.role for account in store.people.accounts()] == [Role.OPERATOR, Role.USER]
    assert store.people.set_role(ben.id, Role.OPERATOR, PROMOTED)
    assert store.people.set_role(ann.id, Role.USER, PROMOTED)
    store.people.delete(ann.id, "former-1", LATER)
    assert not store.people.set_role(ann.id, Role.OPERATOR, PROMOTED)
    assert [account.role for account in store.people.accounts()] == [Role.USER, Role.OPERATOR]
    assert len(store.people.audit(9)) == 3


def test_the_last_operator_stays(store: Store) -> None:
    """A deleted one counts no more; where there is none at all, a user stays a user."""
    ann, ben = register(store, "ann"), register(store, "ben")
    assert not store.people.set_role(ann.id, Role.USER, PROMOTED)
    for account in (ann, ben):
        store.people.set_role(account.id, Role.OPERATOR, PROMOTED)
    store.people.delete(ben.id, "former-1", LATER)
    with pytest.raises(LastOperator, match="this is the last operator"):
        store.people.set_role(ann.id, Role.USER, PROMOTED)
    assert store.people.accounts()[0].role is Role.OPERATOR
    assert len(store.people.audit(9)) == 2


def test_of_operators_who_demote_each_other_one_stays(store: Store) -> None:
    """However close together they do it."""
    both = [register(store, name) for name in ("ann", "ben")]
    for account in both:
        store.people.set_role(account.id, Role.OPERATOR, PROMOTED)

    def demote(account: KnownAccount) -> bool:
        try:
            return store.people.set_role(account.id, Role.USER, PROMOTED)
        except LastOperator:
            return False

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(demote, both)) == [False, True]
    assert sorted(account.role for account in store.people.accounts()) == [Role.OPERATOR, Role.USER]


def test_the_audit_log_is_in_order(store: Store) -> None:
    """The last entries, oldest first, with their numbers."""
    for number in range(5):
        store.people.record(NewAuditEntry(at=START, who="terminal:root", what=f"w{number}", detail="d"))
    last = store.people.audit(2)
    assert [(entry.number, entry.what, entry.detail) for entry in last] == [(4, "w3", "d"), (5, "w4", "d")]


def test_bots_of_an_older_database_stay(url: str) -> None:
    """One from before accounts keeps its bots, which belong to nobody."""
    open_store(url).close()
    database = Database(url)
    with database.write() as connection:
        command.downgrade(alembic_config(connection), "0002")
    database.close()
    run(url, "INSERT INTO bot (name, author, house, newest) VALUES ('old', 'ann', false, 1)")
    store = open_store(url)
    found = store.bots.find("old")
    assert found is not None
    assert (found.author, found.account) == ("ann", None)
    store.close()
