"""Tests of accounts, sessions, tokens, invitations and the audit log."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from arena.db import audit
from arena.db.audit import NewAuditEntry
from arena.db.credentials import MAX_INVALID, KnownAccount, NewApiToken, NewSession
from arena.db.errors import BotTaken, CredentialsChanged, LastOperator, NameTaken, TooManyTokens, WrongState
from arena.db.store import Store
from arena.play.replay.document import parse
from arena.protocol.states import BotState, Role
from arena.rules import Rules, View
from tests.builders import finish, play_matches
from tests.db.builders import START, add_account, add_bot, add_matches, bot_of, claim_one, present
from tests.kinds import on_both
from tests.person_games import VISITOR, add_person_game

LATER = START + timedelta(days=1)
PROMOTED = NewAuditEntry(at=LATER, who="terminal:root", what="set-role")


def session(account: KnownAccount, number: int = 1, *, hour: int = 0) -> NewSession:
    """Return a new session."""
    created = START + timedelta(hours=hour)
    return NewSession(account=account.id, hash=f"{number:064x}", browser="Firefox\0", created=created)


def token(account: KnownAccount, number: int = 1) -> NewApiToken:
    """Return a new token."""
    return NewApiToken(
        account=account.id,
        name="laptop",
        prefix="kaiten_abcd",
        hash=f"{number:064x}",
        scopes=("read", "submit"),
        created=START,
        expires=START + timedelta(days=9),
    )


def test_an_account_is_found_by_its_name_in_any_case(store: Store) -> None:
    """The name is stored as it was typed. Another account's name must not differ only in case."""
    made = add_account(store, "Ann")
    found = present(store.accounts.account("aNN"))
    assert (found.account, found.password) == (made, "hash of Ann's")
    assert store.accounts.account("ben") is None
    with pytest.raises(NameTaken, match="ANN is taken"):
        add_account(store, "ANN")
    assert [account.name for account in store.accounts.all()] == ["Ann"]


def test_a_name_under_which_bots_play_is_taken(store: Store) -> None:
    """If an operator has added bots under an author's name, no other account can take the name."""
    add_bot(store, "greedy", author="Ben")
    with pytest.raises(NameTaken):
        add_account(store, "ben")


@pytest.mark.parametrize("name", ["Lily", "greedy", "1ily", "gree-dy0", "G-B0T"])
def test_a_name_that_looks_like_another_is_taken(store: Store, name: str) -> None:
    """Names are refused if they look like that of an account, a bot or an author."""
    add_account(store, "LiIy")
    add_bot(store, "greedy", author="house")
    add_bot(store, "gree_dyo", author="g_bot")
    with pytest.raises(NameTaken, match="too similar to a taken name"):
        add_account(store, name)


def test_a_bot_can_have_no_accounts_name_except_its_owners(store: Store) -> None:
    """Reserved names are refused too. An account's name is available for its owner's bots."""
    ann, ben = add_account(store, "ann"), add_account(store, "ben")
    for bot, why in (("Ann", "too similar to that of the account ann"), ("nu11", "reserved for the arena")):
        with pytest.raises(BotTaken, match=why):
            bot_of(store, bot, ben)
    bot_of(store, "ann", ann)
    assert store.bots.find("ann") is not None


@on_both
def test_a_bot_that_an_operator_added_becomes_its_authors(store: Store) -> None:
    """The bot has no owner until its next version, which gives it to the account with the author's name."""
    ann = add_account(store, "ann")
    add_bot(store, "by-hand", author="ann")
    bot_of(store, "by-hand", ann, source="sha256:2")
    found = present(store.bots.find("by-hand"))
    assert (found.account, found.newest) == (ann.id, 2)
    with pytest.raises(BotTaken):
        add_bot(store, "by-hand", source="sha256:3")


@on_both
def test_old_sessions_end(store: Store) -> None:
    """Sessions end after their maximum age, or after too long without use."""
    ann = add_account(store, "ann")
    for number in range(3):
        new = store.credentials.open_session(session(ann, number, hour=number))
        store.credentials.session_seen(new, START + timedelta(hours=4 - number))
    ended = store.credentials.end_old_sessions(created_before=START, seen_before=START + timedelta(hours=2))
    assert ended == 2
    assert store.credentials.session(f"{1:064x}") is not None


@on_both
def test_a_new_password_ends_sessions(store: Store) -> None:
    """A new password ends all other sessions, and revokes all tokens except those that the user keeps."""
    ann = add_account(store, "ann")
    ids = [store.credentials.open_session(session(ann, number)) for number in range(3)]
    ended, kept = (store.credentials.add_token(token(ann, number), max_tokens=3) for number in (1, 2))
    others = store.credentials.add_token(token(add_account(store, "ben"), 3), max_tokens=3)
    store.accounts.set_password(
        ann.id, "another", LATER, keep_session=ids[1], keep_tokens=[kept.id, others.id]
    )
    assert [session.id for session in store.credentials.sessions(ann.id)] == [ids[1]]
    assert store.credentials.tokens(ann.id) == (kept, replace(ended, revoked=LATER))
    store.accounts.set_password(ann.id, "a third", LATER)
    assert not store.credentials.sessions(ann.id)
    assert not any(each.works(START) for each in store.credentials.tokens(ann.id))
    of_ben = present(store.credentials.token(f"{3:064x}"))
    assert of_ben[0].works(START)
    found = present(store.accounts.account("ann"))
    assert found.password == "a third"  # noqa: S105 - not a password


@on_both
def test_a_hash_is_replaced_only_if_it_has_not_changed(store: Store) -> None:
    """A password that was changed in the meantime isn't overwritten."""
    ann = add_account(store, "ann")
    store.accounts.rehash(ann.id, "an old one", "wrong")
    store.accounts.rehash(ann.id, "hash of ann's", "right")
    found = present(store.accounts.account("ann"))
    assert found.password == "right"  # noqa: S105 - not a password


def test_tokens_are_found_used_and_revoked(store: Store) -> None:
    """Only a token's own account can revoke it. The number of valid tokens is limited."""
    ann, ben = add_account(store, "ann"), add_account(store, "ben")
    made = store.credentials.add_token(token(ann), max_tokens=1)
    assert store.credentials.token(f"{1:064x}") == (made, ann)
    assert store.credentials.token(f"{2:064x}") is None
    with pytest.raises(TooManyTokens, match="the limit is 1"):
        store.credentials.add_token(token(ann, 2), max_tokens=1)
    store.credentials.token_used(made.id, LATER)
    assert not store.credentials.revoke_token(ben.id, made.id, LATER)
    assert store.credentials.revoke_token(ann.id, made.id, LATER)
    assert not store.credentials.revoke_token(ann.id, made.id, LATER)
    (revoked,) = store.credentials.tokens(ann.id)
    assert (revoked.last_used, revoked.revoked, revoked.works(START)) == (LATER, LATER, False)
    assert store.credentials.add_token(token(ann, 2), max_tokens=1).works(START)
    assert not token_works_after(store, ann)


def test_few_invalid_tokens_are_kept(store: Store) -> None:
    """The oldest invalid tokens beyond a limit are removed. Valid ones and other accounts' tokens stay."""
    ann, ben = add_account(store, "ann"), add_account(store, "ben")
    others = store.credentials.add_token(token(ben, 1000), max_tokens=1)
    assert store.credentials.revoke_token(ben.id, others.id, START)
    valid = store.credentials.add_token(token(ann, 999), max_tokens=2)
    for number in range(MAX_INVALID + 2):
        made = store.credentials.add_token(token(ann, number), max_tokens=2)
        assert store.credentials.revoke_token(ann.id, made.id, START)
    newest = store.credentials.add_token(token(ann, 998), max_tokens=2)
    kept = store.credentials.tokens(ann.id)
    assert (kept[0], kept[-1]) == (newest, valid)
    assert [each.id for each in kept[1:-1]] == [made.id - index for index in range(MAX_INVALID)]
    assert [each.id for each in store.credentials.tokens(ben.id)] == [others.id]


def token_works_after(store: Store, account: KnownAccount) -> bool:
    """Return whether the newest token still works at its expiry."""
    newest = store.credentials.tokens(account.id)[0]
    return newest.works(newest.expires)


def test_a_deleted_account_is_a_pseudonym_everywhere(store: Store) -> None:
    """Bots, leaderboards, games, replays and the audit log have the pseudonym, and secrets are deleted."""
    ann = add_account(store, "ann")
    mine = bot_of(store, "mine", ann)
    by_hand = add_bot(store, "by-hand", author="Ann")
    other = add_bot(store, "ann", author="house")
    play_matches(store, [(mine, by_hand, other)], Rules(players=3), name="s")
    add_person_game(store, "p", ["mine"], START)
    store.credentials.open_session(session(ann))
    store.credentials.add_token(token(ann), max_tokens=3)
    for who, subject in (("ann", "account:ben"), ("terminal:root", "account:ann"), ("ben", "bot:ann")):
        store.accounts.record(NewAuditEntry(at=START, who=who, what="test", subject=subject))

    store.accounts.delete(ann.id, "former-1", LATER)

    assert {line.author for line in store.ratings.standings()} == {"former-1", "house"}
    for summary in store.games.newest():
        game = present(store.games.find(summary.game))
        assert [seat.author for seat in game.seats] == ["former-1", "former-1", "house"]
        assert game.replay.count('"author":"former-1"') == 2
        assert '"author":"ann"' not in game.replay.lower()
        assert '"bot":"ann"' in game.replay
    (against_people,) = store.person_games.newest(VISITOR, None, 9)
    assert '"author":"former-1"' in against_people.replay
    assert '"author":"ann"' not in against_people.replay
    entries = [(entry.who, entry.subject) for entry in store.accounts.audit(9)]
    assert entries == [
        ("former-1", "account:ben"),
        ("terminal:root", "account:former-1"),
        ("ben", "bot:ann"),
    ]
    assert store.accounts.account("ann") is store.accounts.account("former-1") is None
    assert store.credentials.session(f"{1:064x}") is None
    assert store.credentials.token(f"{1:064x}") is None
    (deleted,) = store.accounts.all()
    assert (deleted.id, deleted.name) == (ann.id, "former-1")
    assert (deleted.created, deleted.deleted) == (LATER, LATER)


def test_a_game_with_a_person_that_ends_after_a_deletion_has_the_pseudonym(store: Store) -> None:
    """The replay is made with the names of the game's beginning."""
    ann = add_account(store, "ann")
    bot_of(store, "mine", ann)
    add_bot(store, "other", author="ben")

    def delete(_: View) -> bool:
        if store.accounts.account("ann") is not None:
            store.accounts.delete(ann.id, "former-1", LATER)
        return False

    add_person_game(store, "p", ["mine", "other"], START, stop=delete)
    (game,) = store.person_games.newest(VISITOR, None, 9)
    replay = parse(game.replay)
    assert [seat.author for seat in replay.seats] == ["former-1", "you", "ben"]


def test_the_name_of_a_deleted_account_is_free(store: Store) -> None:
    """Another person can register the name of a deleted account."""
    ann = add_account(store, "ann")
    store.accounts.delete(ann.id, "former-1", LATER)
    assert add_account(store, "ann").id != ann.id


def test_a_pseudonym_is_given_once(store: Store) -> None:
    """A second account can't have the same pseudonym, and an account isn't deleted twice."""
    ann, ben = add_account(store, "ann"), add_account(store, "ben")
    store.accounts.delete(ann.id, "former-1", LATER)
    with pytest.raises(NameTaken):
        store.accounts.delete(ben.id, "former-1", LATER)
    with pytest.raises(CredentialsChanged, match="has just been deleted"):
        store.accounts.delete(ann.id, "former-2", LATER)
    assert [account.name for account in store.accounts.all()] == ["former-1", "ben"]


def test_a_match_in_progress_is_recorded_under_the_pseudonym(store: Store) -> None:
    """The replay has the author's name as of the time of recording."""
    ann = add_account(store, "ann")
    seats = [bot_of(store, "mine", ann), add_bot(store, "greedy", author="house")]
    add_matches(store, "s", seats, matches=1)
    claim = claim_one(store)
    finished = finish(claim, random.Random(1), ended=LATER)  # noqa: S311 - reproducible
    assert '"author":"ann"' in finished.games[0].replay
    store.accounts.delete(ann.id, "former-1", LATER)
    store.results.record(finished)
    game = present(store.games.find(finished.games[0].id))
    assert game.replay == finished.games[0].replay.replace('"ann"', '"former-1"')


def test_bots_of_deleted_accounts_no_longer_play(store: Store) -> None:
    """A deleted account's bots are retired with a reason, and leave matchmaking and the leaderboard."""
    ann = add_account(store, "ann")
    bot_of(store, "mine", ann)
    add_bot(store, "greedy", author="house")
    assert len(store.ratings.candidates()) == 2
    store.accounts.delete(ann.id, "former-1", LATER)
    assert [candidate.bot for candidate in store.ratings.candidates()] == ["greedy"]
    assert [line.bot for line in store.ratings.standings()] == ["greedy"]
    mine = present(store.bots.find("mine"))
    assert (mine.state, mine.reason) == (BotState.RETIRED, "its author's account was deleted")


def test_operators_can_not_bring_back_a_bot_of_a_deleted_account(store: Store) -> None:
    """Operators can't activate the bot. If it was disqualified, reinstating it retires it."""
    ann = add_account(store, "ann")
    bot_of(store, "mine", ann)
    bot_of(store, "cheat", ann)
    store.bot_states.disqualify("cheat", "it is a twin", LATER, PROMOTED)
    store.accounts.delete(ann.id, "former-1", LATER)
    with pytest.raises(WrongState, match="mine can't play: its author's account was deleted"):
        store.bot_states.play_version("mine", 1, LATER, PROMOTED)
    assert present(store.bots.find("cheat")).state == BotState.DISQUALIFIED
    store.bot_states.reinstate("cheat", LATER, PROMOTED)
    cheat = present(store.bots.find("cheat"))
    assert (cheat.state, cheat.reason) == (BotState.RETIRED, "its author's account was deleted")


def test_a_deleted_account_gets_no_bots(store: Store) -> None:
    """An operator who adds a bot during the deletion of its author's account doesn't bring the name back."""
    ann = add_account(store, "ann")
    store.accounts.delete(ann.id, "former-1", LATER)
    with pytest.raises(WrongState, match="mine can't be added: its author's account was deleted"):
        bot_of(store, "mine", ann)
    assert store.bots.listed() == ()


def test_an_accounts_role_can_be_changed(store: Store) -> None:
    """The change is recorded in the audit log, unless it has no effect or the account is deleted."""
    ann, ben = add_account(store, "ann"), add_account(store, "ben")
    assert store.accounts.set_role(ann.id, Role.OPERATOR, PROMOTED)
    assert not store.accounts.set_role(ann.id, Role.OPERATOR, PROMOTED)
    assert [account.role for account in store.accounts.all()] == [Role.OPERATOR, Role.USER]
    assert store.accounts.set_role(ben.id, Role.OPERATOR, PROMOTED)
    assert store.accounts.set_role(ann.id, Role.USER, PROMOTED)
    store.accounts.delete(ann.id, "former-1", LATER)
    assert not store.accounts.set_role(ann.id, Role.OPERATOR, PROMOTED)
    assert [account.role for account in store.accounts.all()] == [Role.USER, Role.OPERATOR]
    assert len(store.accounts.audit(9)) == 3


@on_both
def test_the_last_operator_stays(store: Store) -> None:
    """The last operator can't be demoted or deleted; deleted ones don't count. Demoting a user works."""
    ann, ben = add_account(store, "ann"), add_account(store, "ben")
    assert not store.accounts.set_role(ann.id, Role.USER, PROMOTED)
    for account in (ann, ben):
        store.accounts.set_role(account.id, Role.OPERATOR, PROMOTED)
    store.accounts.delete(ben.id, "former-1", LATER)
    with pytest.raises(LastOperator, match="this is the last operator"):
        store.accounts.set_role(ann.id, Role.USER, PROMOTED)
    with pytest.raises(LastOperator, match="this is the last operator"):
        store.accounts.delete(ann.id, "former-2", LATER)
    assert store.accounts.all()[0].role is Role.OPERATOR
    assert len(store.accounts.audit(9)) == 2


@on_both
def test_one_of_two_operators_who_leave_stays(store: Store) -> None:
    """If an operator leaves while another is demoted, one of them remains an operator."""
    ann, ben = (add_account(store, name) for name in ("ann", "ben"))
    for account in (ann, ben):
        store.accounts.set_role(account.id, Role.OPERATOR, PROMOTED)
    leave = (
        lambda: store.accounts.set_role(ann.id, Role.USER, PROMOTED),
        lambda: store.accounts.delete(ben.id, "former-1", LATER),
    )

    def refused(act: Callable[[], object]) -> bool:
        try:
            act()
        except LastOperator:
            return True
        return False

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(refused, leave)) == [False, True]
    assert sorted(account.role for account in store.accounts.all()) == [Role.OPERATOR, Role.USER]


def visit(number: int, *, who: str = "ann", subject: str = "") -> NewAuditEntry:
    """Return an audit entry of a user's login on a day."""
    at = START + timedelta(days=number)
    return NewAuditEntry(at=at, who=who, what="log-in", subject=subject, address="192.0.2.1")


@on_both
def test_visits_are_kept_for_a_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old visits are removed, and so are the oldest if there are too many. Operators' entries stay."""
    store.accounts.record(PROMOTED)
    for number in range(10):
        store.accounts.record(visit(number))
    assert store.accounts.remove_visits(START + timedelta(days=4)) == 4
    assert store.accounts.remove_visits(None) == 0
    monkeypatch.setattr(audit, "MAX_VISITS", 2)
    assert store.accounts.remove_visits(None) == 4
    left = store.accounts.audit(99)
    assert [entry.at for entry in left] == [PROMOTED.at, *(START + timedelta(days=day) for day in (8, 9))]


@on_both
def test_visits_of_a_deleted_account_have_no_address(store: Store) -> None:
    """Its visits and attempts to log in lose their address and get the pseudonym; others don't change."""
    ann = add_account(store, "ann")
    store.accounts.record(visit(0))
    store.accounts.record(visit(1, who="", subject="account:ann"))
    store.accounts.record(visit(2, who="ben"))
    deletion = NewAuditEntry(at=LATER, who="former-1", what="delete-account", address="192.0.2.9")
    store.accounts.delete(ann.id, "former-1", LATER, entry=deletion)
    assert [(each.who, each.subject, each.address) for each in store.accounts.audit(9)] == [
        ("former-1", "", ""),
        ("", "account:former-1", ""),
        ("ben", "", "192.0.2.1"),
        ("former-1", "", "192.0.2.9"),
    ]
    assert [each.who for each in store.accounts.audit(9, "former-1")] == ["former-1", "", "former-1"]
