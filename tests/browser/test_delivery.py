"""What a browser gets from the network: pages, static files, feeds, and the links in emails."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from arena.db.credentials import KnownAccount
from arena.db.store import Store
from arena.db.subscriptions import SubscriptionKind
from arena.ladder.settings import LadderChange
from arena.notices.deliverer import Deliverer
from arena.rules import Rules
from arena.services.operators import BotOperators, change_ladder
from tests.accounts.world import World
from tests.browser.visits import Visit, Windows, follow
from tests.builders import play_matches
from tests.db.builders import run_sql
from tests.db.test_submissions import qualify
from tests.notices.receivers import Receiver, receiver
from tests.notices.test_mail import Post, mail_server, mailer
from tests.notices.test_webhooks import deliverer
from tests.patience import wait_until
from tests.web.site import opened
from tests.web.stable import fill_stable
from tests.web.submitted import send
from web.http.authentication import PLAIN_NAME

pytestmark = pytest.mark.chromium

SHORT: Final = 500
"""Size in bytes below which a text isn't worth compressing."""


@dataclass(frozen=True)
class Place:
    """A site that sends mail, the world behind it, a mail server and a receiver of webhooks."""

    url: str
    world: World
    ann: KnownAccount
    post: Post
    hook: Receiver
    sender: Deliverer

    @property
    def store(self) -> Store:
        """The site's store."""
        return self.world.store

    def deliver(self, condition: Callable[[], bool]) -> None:
        """Deliver notifications until none are left and a condition is true."""

        def delivered() -> bool:
            self.sender.deliver_due()
            # On a busy host a delivery may fail, and is repeated after 30 seconds.
            self.world.later(seconds=31)
            left = self.store.subscriptions.due(self.world.now, 9, kinds=list(SubscriptionKind))
            return not left and condition()

        wait_until(delivered, "the notifications")

    def link(self) -> str:
        """Return the address of the link in the last mail for managing the subscription."""
        (found,) = set(re.findall(rf"{self.url}/mail/\S+", self.post.mails[-1].get_content()))
        return str(found)

    def mailed(self) -> list[str]:
        """Return the first line of each new mail."""
        mails = [each.get_content().splitlines()[0] for each in self.post.mails]
        self.post.mails.clear()
        return mails

    def sent(self) -> list[str]:
        """Return the text of each new request to the webhook."""
        requests = [self.hook.requests.get() for _ in range(self.hook.requests.qsize())]
        return [json.loads(each.body)["data"]["text"] for each in requests]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Yield a site with ann's bot, whose first game has the number 1,234."""
    folder = tmp_path_factory.mktemp("data")
    with closing(World.at(folder)) as world, mail_server() as (post, port), receiver() as hook:
        run_sql(f"sqlite:///{world.file}", "UPDATE ladder SET games = 1233")
        stable = fill_stable(world)
        play_matches(world.store, [(stable.versions[2], stable.other)], Rules(players=2), name="two")
        # Later than anything that the site does meanwhile by the real clock.
        world.now = datetime.now(UTC) + timedelta(hours=1)
        settings = {
            "ARENA_SMTP_ADDRESS": f"127.0.0.1:{port}",
            "ARENA_MAIL_FROM": "kaiten@arena.example",
            "ARENA_SITE_URL": "https://arena.example",
            "ARENA_WEBHOOK_HOSTS": ",".join(hook.named),
        }
        with opened(folder, **settings) as site:
            made = mailer(port, site_url=site.url)
            with deliverer(world, hook.named, mailer=made) as sender:
                yield Place(site.url, world, stable.ann, post, hook, sender)


@pytest.fixture(scope="module")
def visit(browser: Browser, place: Place) -> Iterator[Visit]:
    """Yield one window for all tests, which is faster than one for each."""
    windows = Windows(browser)
    yield windows.open(place.url, "small", "light")
    windows.close()


@dataclass(frozen=True)
class Taken:
    """A response that a page used."""

    name: str  # its address
    sent: int  # bytes on the wire; CACHED if it came from the browser's cache
    size: int  # bytes before compression
    encoding: str


CACHED: Final = 0
UNCHANGED: Final = 300
"""Size that the Resource Timing standard prescribes for a 304 response."""

TAKEN: Final = """() => ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type))
  .map((it) => [it.name, it.transferSize, it.decodedBodySize, it.contentEncoding])"""


def taken(page: Page) -> list[Taken]:
    """Return the responses that a page used, as the browser reports them (Resource Timing)."""
    return [Taken(*each) for each in page.evaluate(TAKEN)]


PLAIN_NUMBERS: Final = r"""() => {
  const main = document.querySelector("main");
  for (const each of main.querySelectorAll("time, code, pre, select")) each.remove();
  return main.innerText.match(/(?<![\w.,@#-])(\d{4,}|-\d[\d,]*)(?![\w-])/g) ?? [];
}"""
"""Removes times and code from a page. Returns numbers without separators, or with a hyphen as minus sign."""


def test_nothing_is_sent_twice_and_text_is_compressed(visit: Visit, place: Place) -> None:
    """Static files have a hash in their address, and come from the cache on later pages.

    A reload is answered with 304. Numbers have the same format on all pages.
    """
    page = visit.page
    known: set[str] = set()
    for path in ("/games", "/bots/mine"):
        visit.open(path)
        document, *files = taken(page)
        assert (document.name, document.encoding) == (place.url + path, "gzip")
        assert 0 < document.sent < document.size
        for file in files:
            assert "/static/" not in file.name or re.search(r"/static/[0-9a-f]{16}/\w", file.name), file
            assert file.encoding == ("gzip" if file.size >= SHORT else ""), file
            assert file.sent == CACHED or file.name not in known, file
        known |= {file.name for file in files if "/static/" in file.name}
        expect(page.locator("main")).to_contain_text(re.compile(r"\b1,23\d\b"))
        assert page.evaluate(PLAIN_NUMBERS) == [], path
    assert len(known) > 5
    page.reload()
    document, *files = taken(page)
    assert document.sent == UNCHANGED
    assert {file.sent for file in files} == {CACHED}


READ_FEED: Final = """async () => {
  const link = document.querySelector("link[rel=alternate][type='application/atom+xml']");
  const address = link.getAttribute("href");
  const feed = new DOMParser().parseFromString(await (await fetch(address)).text(), "application/xml");
  const atom = (name) => [...feed.getElementsByTagNameNS("http://www.w3.org/2005/Atom", name)];
  return [address, atom("entry").length, atom("summary").map((each) => each.textContent)];
}"""
"""Reads the feed that a page links to, and returns its address, the number of entries, and their texts."""


def make_news(place: Place) -> list[str]:
    """Overtake, update and bench ann's bot, and pause the ladder. Return the texts of the news."""
    store, world = place.store, place.world
    both = [each for each in store.ratings.standings() if each.bot in {"mine", "other"}]
    for first in ("mine", "other"):
        ranked = [replace(each, rank=1 if each.bot == first else 2) for each in both]
        store.held_ranks.compare(sorted(ranked, key=lambda each: each.rank), world.now)
    send(store, place.ann, "new", "mine")
    qualify(store, "new")
    assert store.submissions.activate("new", world.now) == 4
    bench(place, "it <failed>")
    pause(place, paused=True)
    return [
        "other overtook mine, which had rank 1.",
        "Version 4 of mine joined the ladder.",
        "mine is benched: it <failed>.",
        "The ladder has been paused: waiting matches are still played, but no new ones are created.",
    ]


def bench(place: Place, why: str) -> None:
    """Bench ann's bot."""
    place.world.later(seconds=1)
    BotOperators(place.store, lambda: place.world.now).bench("oper", "mine", why)


def pause(place: Place, *, paused: bool) -> None:
    """Pause the ladder, or resume it."""
    place.world.later(seconds=1)
    change_ladder(place.store, place.world.now, "oper", LadderChange(paused=paused))


def subscribe(page: Page, place: Place) -> None:
    """Add an email address, and a webhook that isn't notified of overtaken bots."""
    page.goto(f"{place.url}/account/notifications")
    form = page.get_by_role("region", name="New email address")
    form.get_by_label("Address").fill("ann@mail.example")
    form.get_by_role("button", name="Add email address").click()
    expect(page.get_by_role("status")).to_contain_text("Open the link in the email to confirm it")
    form = page.get_by_role("region", name="New webhook")
    form.get_by_label("Address").fill(place.hook.url)
    form.get_by_label("overtaken").uncheck()
    form.get_by_role("button", name="Add webhook").click()
    expect(page.locator(".secret")).to_have_text(re.compile("whsec_.{32}"))


def test_an_author_gets_news_and_ends_each_subscription(visit: Visit, place: Place) -> None:
    """Emails, the webhook and the author's feed report the same news. The links in emails need no login."""
    page = visit.page
    secret = place.world.log_in(place.ann)
    page.context.add_cookies([{"name": PLAIN_NAME, "value": secret, "url": place.url}])
    subscribe(page, place)
    page.context.clear_cookies()
    place.deliver(lambda: len(place.post.mails) == 1)
    page.goto(place.link())
    page.get_by_role("button", name="Confirm address").click()
    expect(page.get_by_role("status")).to_have_text("The address is confirmed.")
    place.post.mails.clear()

    news = make_news(place)
    place.deliver(lambda: len(place.post.mails) == 4 and place.hook.requests.qsize() == 3)
    link = place.link()
    assert place.mailed() == news
    assert place.sent() == news[1:]
    visit.open("/authors/ann")
    address, entries, texts = page.evaluate(READ_FEED)
    assert len(texts) == entries
    assert set(news) <= set(texts)
    assert page.get_by_role("link", name="News feed").get_attribute("href") == address

    page.goto(link)
    page.get_by_role("button", name="Unsubscribe from benched").click()
    expect(page.get_by_role("status")).to_have_text("You will get no more emails about this event.")
    BotOperators(place.store, lambda: place.world.now).unbench("oper", "mine")
    bench(place, "it failed again")
    pause(place, paused=False)
    place.deliver(lambda: len(place.post.mails) == 1 and place.hook.requests.qsize() == 2)
    assert [text.partition(":")[0] for text in place.sent()] == [
        "mine is benched",
        "The ladder has been resumed",
    ]
    assert [text.partition(":")[0] for text in place.mailed()] == ["The ladder has been resumed"]
    follow(page, page.get_by_role("button", name="Unsubscribe from all"))
    expect(page.get_by_role("status")).to_have_text("You will get no more emails.")
    expect(page.get_by_role("button", name="Unsubscribe")).to_have_count(0)

    page.context.add_cookies([{"name": PLAIN_NAME, "value": secret, "url": place.url}])
    follow(page, page.get_by_role("link", name="notification page"))
    expect(page.get_by_role("heading", name="Email: ")).to_have_count(0)
    follow(page, page.get_by_role("button", name="Remove"))
    expect(page.get_by_role("status")).to_have_text("The subscription has been removed.")
    expect(page.get_by_role("heading", name="Webhook: ")).to_have_count(0)
    pause(place, paused=True)
    place.deliver(lambda: True)
    assert (place.mailed(), place.sent()) == ([], [])
