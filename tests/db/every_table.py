"""A store with rows in every table, added by its own methods, with unusual text and numbers."""

import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, MetaData, select

from arena.db.accounts import NewAccount
from arena.db.audit import NewAuditEntry
from arena.db.bots import NewVersion
from arena.db.credentials import KnownAccount, NewApiToken, NewSession
from arena.db.quotas import AccountQuota
from arena.db.rate_limits import RateLimit
from arena.db.schema_revision import VERSION_TABLE
from arena.db.store import Store
from arena.db.subscriptions import NewSubscription, SubscriptionKind
from arena.ladder.settings import LadderChange
from arena.languages.registry import UploadKind
from arena.protocol.match import WorkerStatus
from arena.protocol.news import Topic, please_confirm, sample
from arena.protocol.states import Role
from arena.protocol.status import RefusedWorker
from arena.rules import Rules
from tests.builders import START, analysed, fill, finish, play_matches
from tests.db.builders import add_matches, claim_one, new_challenge, put_aside
from tests.db.test_submissions import CAUSE, PLENTY, game, new, qualify
from tests.person_games import add_person_game
from tests.watched import show

Row = Mapping[str, Any]

LATER = START + timedelta(days=1)
MAX_LENGTH = "\N{CJK UNIFIED IDEOGRAPH-5BFF}\N{CJK UNIFIED IDEOGRAPH-53F8}" * 32
ODD = 'o\'neill said "no"\n\N{SUSHI} \N{RIGHT-TO-LEFT OVERRIDE}' + "x" * 3000
ENTRY = NewAuditEntry(at=LATER, who="terminal:root", what="test", detail=ODD)


def fill_every_table(store: Store) -> None:
    """Fill a store with everything that an arena can contain, in every state."""
    fill(store)
    assert store.logs.remove_replays(LATER, 2) == 2
    house = [_version(store, name, "house") for name in ("house-a", "house-b")]
    ann = _people(store)
    _subscriptions(store, ann)
    mine = [
        _version(store, MAX_LENGTH, "Ann", ann, source=f"sha256:{MAX_LENGTH}{number}") for number in range(2)
    ]
    play_matches(store, [(*house, mine[1])], Rules(players=3), name="analysed", faults=0.1)
    analysis = analysed(store, "analysed-0-0")
    made = next(each for each in analysis.decisions if each.lost_chance)
    store.puzzles.offer("analysed-0-0", made, 0.25, LATER.date())
    _bots(store, ann, house[0])
    _submissions(store, house[0])
    store.challenges.add(new_challenge("c", ann.id, (mine[1], house[0])), max_a_day=9)
    _play_next(store)
    add_matches(store, "aside", house, matches=1)
    add_matches(store, "open", (*house, mine[1]), matches=3)
    while put_aside(store) != "aside-0":
        pass
    show(store, claim_one(store), 2)
    store.submissions.add(new("waiting", "waiting", "Ann", ann.id), PLENTY)
    store.submissions.wait("waiting", ODD)
    store.submissions.add_game(game("qualifying", "qualifying", (None, house[0])), played=0)
    worker = WorkerStatus(name="w", host="n" * 64, seats=5, busy=2, doubted=True, usable=3)
    refused = RefusedWorker(name="there", host="n" * 64, reason=ODD, since=LATER)
    store.leases.publish_workers("c" * 64, [worker], [refused])
    store.ladder.change(LadderChange(paused=True, players=(2, 5)), ENTRY)
    _held_ranks(store)
    add_person_game(store, "5" * 32, ["house-a"], LATER, account=ann.id)
    store.person_games.store_analysis("5" * 32, analysis)


def _people(store: Store) -> KnownAccount:
    """Add accounts, one of which is deleted, with their data. Return the account that has bots."""
    store.accounts.invite("e" * 64, START, LATER, ENTRY)
    store.accounts.invite("f" * 64, START, LATER, ENTRY)
    ann, ben, gone = (
        store.accounts.register(
            NewAccount(name=name, password="h" * 80, role=Role.USER, created=START), invitation=invitation
        )
        for name, invitation in (("Ann", None), ("Z" * 64, "f" * 64), ("gone", None))
    )
    store.accounts.set_role(ben.id, Role.OPERATOR, ENTRY)
    store.accounts.set_quota(ann.id, AccountQuota(submissions_a_day=9, bots=9), ENTRY)
    store.accounts.set_quota(ben.id, AccountQuota(challenges_a_day=2**31 - 1), ENTRY)
    for number, browser in enumerate((ODD, "")):
        store.credentials.open_session(
            NewSession(account=ann.id, hash=f"{number}" * 64, browser=browser, created=START)
        )
    for number, scopes in enumerate((("submit", "read"), ())):
        token = NewApiToken(
            account=ann.id,
            name=ODD,
            prefix="kaiten_",
            hash=f"{number}" * 64,
            scopes=scopes,
            created=START,
            expires=LATER,
        )
        last = store.credentials.add_token(token, max_tokens=9)
    store.credentials.token_used(last.id, LATER)
    store.credentials.revoke_token(ann.id, last.id, LATER)
    _version(store, "left", "gone", gone)
    store.accounts.delete(gone.id, "former-1", LATER)
    store.accounts.record(replace(ENTRY, who="", subject="account:Ann", address="2001:db8:" + "ffff:" * 6))
    store.rate_limits.count((RateLimit(key="9" * 64, max_attempts=1, window=timedelta(days=1)),), START)
    return ann


def _subscriptions(store: Store, account: KnownAccount) -> None:
    """Add an email subscription with a waiting notice, and a webhook that failed and is off."""
    for kind, first in ((SubscriptionKind.MAIL, please_confirm(START)), (SubscriptionKind.WEBHOOK, None)):
        new = NewSubscription(
            account=account.id,
            kind=kind,
            address=ODD,
            topics=(Topic.BENCHED, Topic.OVERTAKEN),
            secret=f"{kind}-secret",
            created=START,
        )
        store.subscriptions.add(new, first, max_subscriptions=9, entry=ENTRY)
        assert store.subscriptions.test(account.id, store.subscriptions.of(account.id)[-1].id, sample(START))
    (due,) = store.subscriptions.due(LATER, 9, kinds=[SubscriptionKind.WEBHOOK])
    store.subscriptions.mark_failed(due, ODD, LATER, None)


def _held_ranks(store: Store) -> None:
    """Compare ranks twice, so that a bot keeps its rank and another loses it."""
    standings = store.ratings.standings()
    store.held_ranks.compare(standings, START)
    store.held_ranks.compare([replace(each, rank=each.rank + 1) for each in standings], LATER)


def _version(
    store: Store, bot: str, author: str, account: KnownAccount | None = None, *, source: str = ""
) -> int:
    """Add a version of a bot."""
    return store.bots.add_version(
        NewVersion(
            bot=bot,
            author=author,
            house=author == "house",
            source=source or f"sha256:{bot}",
            created=START,
            account=account.id if account else None,
            note=ODD,
            size=2**40,
            sha256="0" * 64,
        )
    )


def _bots(store: Store, ann: KnownAccount, opponent: int) -> None:
    """Add bots that are off the ladder, one of which has played."""
    cheat = _version(store, "cheat", "Ann", ann)
    play_matches(store, [(cheat, opponent)], Rules(players=2), name="cheated")
    for bot in ("tired", "resting"):
        _version(store, bot, "Ann", ann)
    store.bot_states.disqualify("cheat", ODD, LATER, ENTRY)
    store.bot_states.bench("tired", ODD, LATER, ENTRY)
    store.bot_states.reactivate("tired", LATER)
    store.bot_states.bench("tired", ODD, LATER, ENTRY)
    store.bot_states.open_to_people("tired", is_open=True)
    store.bot_states.retire("resting", LATER)
    sources = store.bots.sources_in_use()
    assert store.bots.record_missing_images(sources, LATER)


def _submissions(store: Store, opponent: int) -> None:
    """Add a submission at each stage except the first, and an upload that was interrupted."""
    store.submissions.begin(new("begun", "begun", "Eve"), PLENTY)
    for id_ in ("active", "passed", "rejected", "inspected", "qualifying"):
        sent = replace(new(id_, id_, "Eve"), kind=UploadKind.IMAGE, note=ODD, size=2**40)
        sent = replace(sent, check_only=id_ == "passed")
        store.submissions.add(sent, PLENTY)
        store.submissions.mark_inspected(id_, f"sha256:{id_}", LATER)
    for id_ in ("active", "passed", "qualifying"):
        qualify(store, id_)
    store.submissions.add_game(game("active", "active", (None, opponent)), played=0)
    _play_next(store)
    store.submissions.activate("active", LATER)
    store.submissions.mark_passed("passed", LATER)
    store.submissions.reject("rejected", CAUSE, LATER)


def _play_next(store: Store) -> None:
    """Play the next match."""
    result = finish(claim_one(store), random.Random(1), ended=LATER)  # noqa: S311 - reproducible
    assert store.results.record(result)


def held(connection: Connection) -> dict[str, dict[tuple[Any, ...], Row]]:
    """Return all rows of all tables, by table and primary key."""
    made = MetaData()
    made.reflect(connection, only=lambda name, _: name != VERSION_TABLE)
    return {
        table.name: {
            tuple(row[key.name] for key in table.primary_key.columns): dict(row)
            for row in connection.execute(select(table)).mappings()
        }
        for table in made.tables.values()
    }
