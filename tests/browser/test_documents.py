"""Rules, documents and status in a real browser: by links and keys alone."""

import random
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, expect

from arena.protocol.match import RuntimeName
from arena.protocol.states import Role
from tests.accounts.world import PASSWORD, World
from tests.browser.visits import ONCE_SCROLLED, visit_of
from tests.builders import fill, finish
from tests.db.builders import add_matches
from tests.db.test_queue import put_aside
from tests.db.test_submissions import PLENTY, game, new, qualify
from tests.web.site import opened

pytestmark = pytest.mark.chromium


def busy(world: World) -> None:
    """Let a day of games have been played, some run and wait, and one be put aside."""
    store, now = world.store, datetime.now(UTC)
    fill(store)
    store.leases.release("here")
    bots = [each.version for each in store.ratings.candidates()]
    dice = random.Random(3)  # noqa: S311 - the same each time
    for number in range(40):
        at = now - timedelta(minutes=1500 - 37 * number)
        add_matches(store, f"n{number}", dice.sample(bots, 3), deals=dice.randint(1, 4), matches=1)
        claim = store.leases.claim("here", "worker", at, RuntimeName.DOCKER)
        assert claim is not None
        assert store.results.record(finish(claim, dice, ended=at))
    add_matches(store, "aside", bots[:3], matches=1)
    put_aside(store)
    store.submissions.add(new(bot="freshling"), PLENTY)
    qualify(store)
    store.submissions.add_game(game("q", "u1", (bots[0], None)), played=0)
    add_matches(store, "s", bots[:3], deals=6)
    for _ in range(2):
        store.leases.claim("here", "worker", now, RuntimeName.DOCKER)
    world.add("oper", Role.OPERATOR)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a running site of a busy arena."""
    folder = tmp_path_factory.mktemp("data")
    with closing(World.at(folder)) as world:
        busy(world)
        with opened(folder) as site:
            yield site.url


def test_operators_see_what_is_quarantined(browser: Browser, url: str) -> None:
    """Others don't see it."""
    visit = visit_of(browser, url, "desktop", "light")
    page = visit.page
    visit.open("/status")
    expect(page.get_by_role("heading", name="Quarantined")).to_have_count(0)
    visit.open("/login")
    page.get_by_label("Name").fill("oper")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="oper")).to_be_visible()
    visit.open("/status")
    expect(page.get_by_role("heading", name="Quarantined")).to_be_visible()
    expect(page.get_by_text("freshling")).to_be_visible()
    assert visit.complaints == []
    page.context.close()


def test_documents_are_found_and_read_without_scripts(browser: Browser, url: str) -> None:
    """From any page by links alone: the index, a document, a part of it, the next one, the rules."""
    visit = visit_of(browser, url, "small", "light", script=False)
    page = visit.page
    visit.open("/games")
    site = page.get_by_role("navigation", name="Site")
    site.get_by_role("link", name="Docs").click()
    page.get_by_role("main").get_by_role("link", name="Submitting a bot").click()
    expect(site.locator("[aria-current]")).to_have_text("Docs")
    page.get_by_role("navigation", name="On this page").get_by_role("link", name="Limits").click()
    expect(page).to_have_url(f"{url}/docs/submitting#limits")
    expect(page.get_by_role("heading", name="Limits")).to_be_in_viewport()
    page.get_by_role("link", name="the clock").first.click()
    expect(page).to_have_url(f"{url}/docs/arena-rules#the-clock")
    page.get_by_role("navigation", name="This chapter").get_by_role("link", name="The game").click()
    expect(page).to_have_url(f"{url}/rules")
    expect(site.locator("[aria-current]")).to_have_text("Rules")
    page.context.close()


def test_the_head_has_two_calm_rows_on_small_phones(browser: Browser, url: str) -> None:
    """The name and the account in one line; below it the site's pages, none of them cut or alone."""
    visit = visit_of(browser, url, "small", "light")
    visit.open("/docs")
    tops = [link.bounding_box() for link in visit.page.locator("header nav[aria-label=Site] a").all()]
    rows = [round(box["y"]) for box in tops if box]
    assert sorted(rows.count(row) for row in set(rows)) == [3, 3]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in tops if box)
    visit.page.context.close()


def test_what_is_wider_than_the_window_scrolls_by_keys(browser: Browser, url: str) -> None:
    """A table is a stop of the keyboard, which then moves it; the page stays where it is."""
    visit = visit_of(browser, url, "small", "light")
    page = visit.page
    visit.open("/docs/submitting#causes")
    table = page.get_by_role("group", name=re.compile("^Causes"))
    table.focus()
    page.keyboard.press("ArrowRight")
    table.evaluate(ONCE_SCROLLED, "scrollLeft")
    assert page.evaluate("document.scrollingElement.scrollLeft") == 0
    page.context.close()


def test_an_opened_list_stays_open_while_the_page_keeps_itself_current(browser: Browser, url: str) -> None:
    """The hours as a table, while someone reads them."""
    visit = visit_of(browser, url, "desktop", "light")
    page = visit.page
    page.clock.install()
    visit.open("/status")
    page.get_by_text("As a table").click()
    hours = page.get_by_role("row").filter(has_text=re.compile(r"\d\d:00")).first
    expect(hours).to_be_visible()
    page.clock.fast_forward(9000)
    expect(hours).to_be_visible()
    page.context.close()
