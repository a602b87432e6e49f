"""An arena with everything that the site can show, for screenshots and checks of every page."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from arena.db.audit import NewAuditEntry
from arena.db.credentials import KnownAccount
from arena.db.subscriptions import NewSubscription, SubscriptionKind
from arena.languages.registry import UploadKind
from arena.protocol.match import RuntimeName
from arena.protocol.news import Topic, please_confirm, sample
from arena.protocol.status import RefusedWorker
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import START, add_bots, fill, finish, play_matches, puzzled
from tests.db.builders import add_matches, new_match, present, put_aside
from tests.person_games import add_person_game, analyse_person_game, in_round_2, with_chopsticks
from tests.watched import show
from tests.web.people import logged_in
from tests.web.stable import Stable, add_version, bench, disqualify, fill_stable, play_next
from tests.web.submitted import CRASH, play, send

BENCHED: Final = (
    "the stand-in had to finish the last game in 5 of the bot's last 10 rated matches; "
    "most recently: no answer in time"
)
LONG: Final = "a-bot-whose-name-is-as-long-as-they-get-"
LATER: Final = START + timedelta(days=9999)
WHY: Final = "it remembered deals of other people's challenges"


def build(world: World) -> dict[str, str]:
    """Fill a world. Return the IDs of ann's challenges and of running matches, keyed by their state.

    ``ann`` has bots and submissions in every state, ``ben`` has one bot, ``zoe`` has nothing, and ``oper``
    is an operator. There are rated games of two to five players, such as ``dummy-0-0``, ``five-0-0`` and
    ``logged-0-0``.
    """
    fill(world.store)
    stable = fill_stable(world)
    world.add("zoe")
    _states(world, stable.ann)  # first, since a disqualification recomputes the ratings
    _much_played(world, stable)
    _submissions(world, stable.ann)
    _people(world, stable.ann)
    _subscriptions(world, stable.ann)
    return _challenges(world) | _now(world, stable)


def _people(world: World, ann: KnownAccount) -> None:
    """Add a game of ann's against bots in each state."""
    store, now = world.store, datetime.now(UTC)
    add_person_game(store, "1" * 32, ["greedy"], now, account=ann.id)
    add_person_game(store, "2" * 32, ["greedy", "random", "greedy"], now, account=ann.id)
    analyse_person_game(store, "2" * 32)
    four = ["greedy", "random", "greedy", "random"]
    add_person_game(store, "3" * 32, four, now, account=ann.id, visitor="3" * 64, stop=in_round_2)
    add_person_game(
        store,
        "4" * 32,
        ["greedy"],
        now,
        account=ann.id,
        visitor="4" * 64,
        stop=with_chopsticks,
        rules=Rules(players=2, dummy=True),
    )
    add_person_game(store, "5" * 32, ["greedy"], now, account=ann.id, visitor="5" * 64, waits=True)


def _subscriptions(world: World, ann: KnownAccount) -> None:
    """Add a disabled and a failing webhook for ann, and two email addresses, one of them confirmed."""
    store = world.store.subscriptions
    for mark in ("webhook-off", "webhook-fails", "mail-confirmed", "mail-unconfirmed"):
        kind = SubscriptionKind(mark.partition("-")[0])
        address = "https://there.example/" + "long/" * 40 if kind == "webhook" else "ann@mail.example"
        new = NewSubscription(
            account=ann.id,
            kind=kind,
            address=address,
            topics=(Topic.BENCHED, Topic.OVERTAKEN),
            secret=mark,
            created=START,
        )
        first = please_confirm(START) if kind == "mail" else None
        entry = NewAuditEntry(at=START, who="ann", what="subscribe", address="")
        made = store.add(new, first, max_subscriptions=4, entry=entry)
        store.test(ann.id, made.id, sample(START))
        if kind == "webhook":
            (due,) = store.due(START, 1, kinds=[kind])
            store.mark_failed(due, "the server answered 500", START, None if mark == "webhook-off" else LATER)
    store.confirm("mail-confirmed", START)


def _much_played(world: World, stable: Stable) -> None:
    """Play games for a day, with enough two-player games for intervals in the card statistics."""
    store, now = world.store, datetime.now(UTC)
    dice = random.Random(4)  # noqa: S311 - reproducible
    more = add_bots(store, [("wasabi-first", "house"), (LONG, "someone with a name"), ("tuna", "eve")])
    play_matches(store, [[*more, stable.other, stable.house[0]]], Rules(players=5), name="five", faults=0.04)
    puzzled(store, "five-0-0", START.date())
    play_matches(store, [more[:2]], Rules(players=2), name="two")
    others, mine = [stable.other, *stable.house, *more], stable.versions[2]
    for number in range(60):
        if number == 40:
            mine = add_version(store, stable.ann, "mine", 4)
        table = [mine, *dice.sample(others, dice.choice((1, 1, 1, 2, 3, 4)))]
        dice.shuffle(table)
        drawn = new_match(f"day-{number}-0", table)
        store.queue.add(replace(drawn, seeds=tuple(dice.randbytes(16).hex() for _ in drawn.seeds)))
        at = now - timedelta(minutes=1470 - 24 * number)
        claim = present(store.leases.claim("here", "worker", at, RuntimeName.DOCKER))
        assert store.results.record(finish(claim, dice, ended=at, faults=dice.choice((0, 0, 0.02))))


def _states(world: World, ann: KnownAccount) -> None:
    """Add one of ann's bots in each state."""
    for bot in ("sleepy", "resting", "banned"):
        add_version(world.store, ann, bot, 1)
    bench(world.store, "sleepy", BENCHED)
    world.store.bot_states.retire("resting", world.now)
    disqualify(world.store, "banned", WHY)


def _submissions(world: World, ann: KnownAccount) -> None:
    """Add submissions by ann that are waiting, qualifying, active and rejected."""
    store = world.store
    send(store, ann, "5e4d", "freshling", note="likes wasabi")
    store.submissions.wait("5e4d", "no engine answers")
    send(store, ann, "9a1e", "quick", kind=UploadKind.JAVASCRIPT)
    play(store, "9a1e", 2)
    send(store, ann, "ac7e", "taken", kind=UploadKind.IMAGE, note="a first try")
    play(store, "ac7e", 3)
    store.submissions.activate("ac7e", datetime.now(UTC))
    send(store, ann, "bad0", "clumsy")
    play(store, "bad0")
    store.submissions.reject("bad0", CRASH, datetime.now(UTC))


def _challenges(world: World) -> dict[str, str]:
    """Add two challenges by ann, one of them finished."""
    visitor = logged_in(world, "ann")
    found = {}
    for name, opponents in (("played", ["greedy", "mine@1"]), ("running", ["random"])):
        answer = visitor.post("/bots/mine/challenges", data={"opponent": opponents, "deals": "1"})
        found[name] = answer.headers["location"].rpartition("/")[2]
    for _ in range(4):  # the first challenge has three matches
        play_next(world.store)
    return found


def _now(world: World, stable: Stable) -> dict[str, str]:
    """Add a quarantined match, two running ones, waiting ones, and a rejected worker.

    One match can be watched.
    """
    store = world.store
    table = [*stable.house, stable.other]
    add_matches(store, "aside", table, matches=1)
    put_aside(store)
    add_matches(store, "more", table, deals=6)
    refused = RefusedWorker(name="late", host="there", reason="it has version 0.0.9", since=START)
    store.leases.publish_workers("here", [], [refused])
    found = {}
    for name, rounds in (("live", 2), ("unseen", 0)):
        claim = present(store.leases.claim("here", "worker", datetime.now(UTC), RuntimeName.DOCKER))
        found[name] = claim.spec.match
        if rounds:
            show(store, claim, rounds)
    return found
