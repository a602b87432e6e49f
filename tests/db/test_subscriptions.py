"""Tests of subscriptions and notices."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

from arena.db.credentials import KnownAccount
from arena.db.errors import TooManySubscriptions
from arena.db.store import Store
from arena.db.subscriptions import DueNotice, KnownSubscription, NewSubscription, SubscriptionKind
from arena.ladder.settings import LadderChange
from arena.protocol.news import CONFIRM, TEST, Topic, please_confirm, sample
from arena.rules import Rules
from tests.builders import play_matches
from tests.db.builders import ENTRY, START, add_account, add_bot, bot_of, present
from tests.db.test_submissions import CAUSE, PLENTY, new, qualify
from tests.kinds import on_both

LATER = START + timedelta(days=1)
KINDS = tuple(SubscriptionKind)


def subscribe(
    store: Store,
    account: KnownAccount,
    *topics: Topic,
    kind: SubscriptionKind = SubscriptionKind.WEBHOOK,
    mark: str = "mark",
) -> KnownSubscription:
    """Add a subscription, by default to all topics."""
    wanted = NewSubscription(
        account=account.id,
        kind=kind,
        address="https://there.example/",
        topics=topics or tuple(Topic),
        secret=mark,
        created=START,
    )
    first = None if kind is SubscriptionKind.WEBHOOK else please_confirm(START)
    return store.subscriptions.add(wanted, first, max_subscriptions=3, entry=ENTRY)


def all_due(store: Store) -> list[DueNotice]:
    """Deliver all waiting notices, and return them in the order of delivery."""
    found: list[DueNotice] = []
    while due := store.subscriptions.due(LATER, 9, kinds=KINDS):
        for each in due:
            store.subscriptions.mark_delivered(each)
        found += due
    return found


@on_both
def test_authors_get_news_of_their_topics(store: Store) -> None:
    """Benchings and results of submissions are stored as news in the same transaction."""
    ann, ben = add_account(store, "ann"), add_account(store, "ben")
    everything = subscribe(store, ann)
    benched = subscribe(store, ann, Topic.BENCHED, mark="other")
    subscribe(store, ben, mark="ben's")
    bot_of(store, "mine", ann)
    bot_of(store, "nobodys", ann)
    for bot in ("accepted", "refused", "withdrawn"):
        store.submissions.add(new(bot, bot, "ann", ann.id), PLENTY)
    check = replace(new("check", "accepted", "ann", ann.id), check_only=True)
    store.submissions.add(check, PLENTY)
    for id_ in ("accepted", "check"):
        qualify(store, id_)
    store.submissions.activate("accepted", LATER)
    store.submissions.mark_passed("check", LATER)
    store.submissions.reject("refused", CAUSE, LATER)
    store.submissions.withdraw("withdrawn", LATER)
    store.bot_states.bench("mine", "it failed.", LATER, ENTRY)
    store.bot_states.retire("nobodys", LATER)
    told = all_due(store)
    assert [each.news.title for each in told if each.subscription.id == everything.id] == [
        "accepted: submission accepted",
        "accepted: check passed",
        "refused: submission rejected",
        "mine: benched",
    ]
    (only,) = (each for each in told if each.subscription.id == benched.id)
    assert (only.topic, only.news.text, only.owner) == ("benched", "mine is benched: it failed.", "ann")
    assert {each.subscription.account for each in told} == {ann.id}


def test_all_subscribers_hear_of_a_pause_of_the_ladder(store: Store) -> None:
    """Only actual pauses and resumptions are news, and only for subscribers to the topic."""
    ann, ben = add_account(store, "ann"), add_account(store, "ben")
    subscribe(store, ann, Topic.LADDER)
    subscribe(store, ann, Topic.BENCHED, mark="other")
    subscribe(store, ben, mark="ben's")
    for change in (LadderChange(paused=True), LadderChange(deals=3), LadderChange(paused=False)):
        store.ladder.change(change, ENTRY)
    store.ladder.change(LadderChange(paused=False), ENTRY)
    told = all_due(store)
    for account in (ann, ben):
        news = [each.news for each in told if each.subscription.account == account.id]
        assert [(each.bot, each.title) for each in news] == [("", "Ladder paused"), ("", "Ladder resumed")]
    assert {each.topic for each in told} == {"ladder"}


@on_both
def test_failures_put_off_the_next_attempt(store: Store) -> None:
    """Notices stay in order. A subscription that is off gets none until a test notice succeeds."""
    ann = add_account(store, "ann")
    id_ = subscribe(store, ann).id
    bot_of(store, "mine", ann)
    for reason in ("first", "second"):
        store.bot_states.bench("mine", reason, START, ENTRY)
    (due,) = store.subscriptions.due(LATER, 9, kinds=KINDS)
    assert due.news.text == "mine is benched: first."
    store.subscriptions.mark_failed(due, "no answer", START, LATER)
    assert store.subscriptions.due(LATER - timedelta(seconds=1), 9, kinds=KINDS) == ()
    (due,) = store.subscriptions.due(LATER, 9, kinds=KINDS)
    assert (due.subscription.failures, due.subscription.failing_since) == (1, START)
    store.subscriptions.mark_failed(due, "still none", LATER, None)
    store.bot_states.bench("mine", "third", LATER, ENTRY)
    (known,) = store.subscriptions.of(ann.id)
    assert (known.failures, known.trouble, known.off) == (2, "still none", LATER)
    assert all_due(store) == []
    assert store.subscriptions.test(ann.id, id_, sample(START))
    assert store.subscriptions.test(ann.id, id_, sample(START)), "the second test notice replaces the first"
    assert [each.topic for each in all_due(store)] == [TEST]
    (known,) = store.subscriptions.of(ann.id)
    assert (known.failures, known.trouble, known.off) == (0, None, None)


def test_an_old_delivery_does_not_change_what_replaced_it(store: Store) -> None:
    """A subscription may be replaced during a delivery, and SQLite reuses the ids of removed rows."""
    ann = add_account(store, "ann")
    slow = subscribe(store, ann)
    store.subscriptions.test(ann.id, slow.id, sample(START))
    (old,) = store.subscriptions.due(LATER, 9, kinds=KINDS)
    assert store.subscriptions.remove(ann.id, slow.id, ENTRY)
    new = subscribe(store, ann, mark="other")
    store.subscriptions.test(ann.id, new.id, sample(LATER))
    store.subscriptions.mark_failed(old, "no answer", LATER, None)
    store.subscriptions.mark_delivered(old)
    assert store.subscriptions.of(ann.id) == (new,)
    (due,) = store.subscriptions.due(LATER, 9, kinds=KINDS)
    assert (due.subscription, due.news) == (new, sample(LATER))


def test_an_old_delivery_leaves_a_later_test(store: Store) -> None:
    """A delivery doesn't remove a test notice requested meanwhile, even if SQLite reuses the number."""
    ann = add_account(store, "ann")
    subscription = subscribe(store, ann)
    store.subscriptions.test(ann.id, subscription.id, sample(START))
    (old,) = store.subscriptions.due(LATER, 9, kinds=KINDS)
    store.subscriptions.test(ann.id, subscription.id, sample(LATER))
    store.subscriptions.mark_delivered(old)
    assert [each.news.at for each in all_due(store)] == [LATER]


@on_both
def test_a_mail_address_is_confirmed_first(store: Store) -> None:
    """An unconfirmed address gets only the request to confirm it. The same secret ends the subscription."""
    ann = add_account(store, "ann")
    id_ = subscribe(store, ann, kind=SubscriptionKind.MAIL).id
    subscribe(store, ann, mark="of a webhook")
    bot_of(store, "mine", ann)
    store.bot_states.bench("mine", "early", START, ENTRY)
    assert store.subscriptions.test(ann.id, id_, sample(START))
    told = all_due(store)
    assert [each.topic for each in told if each.subscription.id == id_] == [CONFIRM]
    for secret in ("", "of a webhook"):
        assert not store.subscriptions.confirm(secret, LATER)
        assert not store.subscriptions.unsubscribe(secret, None)
        assert store.subscriptions.by_secret(secret) is None
    assert store.subscriptions.confirm("mark", START)
    assert store.subscriptions.confirm("mark", LATER), "a second confirmation changes nothing"
    assert store.subscriptions.by_secret("mark") == store.subscriptions.of(ann.id)[0]
    assert store.subscriptions.of(ann.id)[0].confirmed == START
    store.bot_states.bench("mine", "late", START, ENTRY)
    assert store.subscriptions.unsubscribe("mark", Topic.BENCHED)
    assert store.subscriptions.of(ann.id)[0].topics == (Topic.LADDER, Topic.OVERTAKEN, Topic.SUBMISSION)
    assert [each.subscription.kind for each in all_due(store)] == [SubscriptionKind.WEBHOOK]
    assert store.subscriptions.unsubscribe("mark", None)
    assert [each.kind for each in store.subscriptions.of(ann.id)] == [SubscriptionKind.WEBHOOK]


@on_both
def test_old_mail_is_removed(store: Store) -> None:
    """Newer notices stay, and so do those by webhook."""
    ann = add_account(store, "ann")
    bot_of(store, "mine", ann)
    subscribe(store, ann)
    subscribe(store, ann, kind=SubscriptionKind.MAIL, mark="mail")
    store.subscriptions.confirm("mail", START)
    for at in (START, LATER):
        store.bot_states.bench("mine", "it failed", at, ENTRY)
    store.subscriptions.remove_mail_notices(LATER)
    left = [(each.subscription.kind, each.topic, each.news.at) for each in all_due(store)]
    assert left == [
        (SubscriptionKind.WEBHOOK, "benched", START),
        (SubscriptionKind.MAIL, "benched", LATER),
        (SubscriptionKind.WEBHOOK, "benched", LATER),
    ]


@on_both
def test_unconfirmed_addresses_are_removed(store: Store) -> None:
    """The request to confirm the address is removed too."""
    ann = add_account(store, "ann")
    subscribe(store, ann, kind=SubscriptionKind.MAIL)
    webhook = subscribe(store, ann, mark="of a webhook")
    store.subscriptions.remove_unconfirmed(START)
    assert len(store.subscriptions.of(ann.id)) == 2
    store.subscriptions.remove_unconfirmed(LATER)
    assert store.subscriptions.of(ann.id) == (webhook,)


def test_subscriptions_belong_to_their_owners(store: Store) -> None:
    """Only the owner can change a subscription. Their number is limited. They end with the account."""
    ann, ben = add_account(store, "ann"), add_account(store, "ben")
    id_ = subscribe(store, ann).id
    assert not store.subscriptions.set_topics(ben.id, id_, [Topic.BENCHED], ENTRY)
    assert not store.subscriptions.remove(ben.id, id_, ENTRY)
    assert not store.subscriptions.test(ben.id, id_, sample(START))
    with ThreadPoolExecutor() as pool:
        made = [pool.submit(subscribe, store, ann, mark=f"{number}") for number in range(4)]
    refused = [each.exception() for each in made if each.exception() is not None]
    assert [type(each) for each in refused] == [TooManySubscriptions] * 2
    assert len(store.subscriptions.of(ann.id)) == 3
    assert store.subscriptions.set_topics(ann.id, id_, [Topic.BENCHED], ENTRY)
    assert store.subscriptions.of(ann.id)[0].topics == (Topic.BENCHED,)
    assert store.subscriptions.test(ann.id, id_, sample(START))
    assert store.subscriptions.remove(ann.id, id_, ENTRY)
    store.accounts.delete(ann.id, "former-1", LATER, entry=ENTRY)
    assert (store.subscriptions.of(ann.id), all_due(store)) == ((), [])


@on_both
def test_a_bot_is_overtaken_once_a_day(store: Store) -> None:
    """A second loss of the rank within a day is reported after that day, unless the rank was regained."""
    ann = add_account(store, "ann")
    subscribe(store, ann)
    bots = (bot_of(store, "mine", ann), bot_of(store, "other", add_account(store, "ben")))
    play_matches(store, [bots], Rules(players=2), name="two")
    mine, other = (
        next(each for each in store.ratings.standings() if each.bot == name) for name in ("mine", "other")
    )
    ahead = (replace(mine, rank=1), replace(other, rank=2))
    behind = (replace(other, rank=1), replace(mine, rank=2))
    hours = ((0, ahead), (1, behind), (2, ahead), (3, behind), (4, ahead), (5, behind), (30, behind))
    told = []
    for hour, standings in hours:
        store.held_ranks.compare(standings, START + timedelta(hours=hour))
        told += [(hour, each.news.text) for each in all_due(store)]
    assert told == [
        (1, "other overtook mine, which had rank 1."),
        (30, "other overtook mine, which had rank 1."),
    ]
    lost = present(store.held_ranks.lost("mine"))
    assert (lost.text, lost.at) == ("other overtook mine, which had rank 1.", START + timedelta(hours=30))
    assert store.held_ranks.lost("nobody's") is None
    store.bot_states.bench("mine", "it failed", LATER, ENTRY)
    all_due(store)
    store.held_ranks.compare((replace(mine, rank=9),), START + timedelta(days=9))
    assert all_due(store) == []


def test_bots_that_were_ahead_all_along_overtake_no_bot(store: Store) -> None:
    """A notice names a bot that was behind or is new, even if others, such as house bots, are in between."""
    ann = add_account(store, "ann")
    subscribe(store, ann)
    add_bot(store, "house", author="house")
    for name in ("one", "two", "new"):
        bot_of(store, name, ann)
    line = store.ratings.standings()[0]
    line = replace(line, entry=replace(line.entry, games=1))
    boards = ("house one two", "house new one two", "house new two one", "one house new two", "house one")
    told = []
    for day, board in enumerate(boards):
        standings = [replace(line, bot=bot, rank=rank) for rank, bot in enumerate(board.split(), 1)]
        store.held_ranks.compare(standings, START + timedelta(days=2 * day))
        told.append(sorted(each.news.text for each in all_due(store)))
    assert told == [
        [],
        ["new overtook one, which had rank 2.", "new overtook two, which had rank 3."],
        ["two overtook one, which had rank 3."],
        ["one overtook new, which had rank 2.", "one overtook two, which had rank 3."],
        ["house overtook one, which had rank 1."],
    ]
