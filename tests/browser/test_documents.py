"""Rules, documents and status in a real browser: by links and keys alone."""

import random
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, expect

from arena.protocol.match import RuntimeName
from tests.browser.visits import ONCE_SCROLLED, visit_of
from tests.builders import add_bots, finish
from tests.databases import sqlite_store
from tests.db.builders import add_matches
from tests.web.site import opened

pytestmark = pytest.mark.chromium


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a running site on which a game is over."""
    folder = tmp_path_factory.mktemp("data")
    with closing(sqlite_store(folder / "arena.sqlite3")) as store:
        add_matches(store, "now", add_bots(store, [("eel", "house"), ("tuna", "house")]), matches=1)
        now = datetime.now(UTC)
        claim = store.leases.claim("here", "worker", now, RuntimeName.DOCKER)
        assert claim is not None
        assert store.results.record(finish(claim, random.Random(3), ended=now))  # noqa: S311 - a test's dice
    with opened(folder) as site:
        yield site.url


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
