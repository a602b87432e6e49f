"""What suits the visitor: the theme, and times in their own zone."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.visits import visit_of
from tests.builders import fill
from tests.databases import sqlite_store
from tests.web.site import opened

pytestmark = pytest.mark.chromium

GROUND = "getComputedStyle(document.body).backgroundColor"
PAPER, NIGHT = "rgb(250, 246, 237)", "rgb(18, 20, 42)"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a site with some games."""
    folder = tmp_path_factory.mktemp("data")
    with closing(sqlite_store(folder / "arena.sqlite3")) as store:
        fill(store)
    with opened(folder) as site:
        yield site.url


def test_the_theme_is_chosen_for_the_whole_site(browser: Browser, url: str) -> None:
    """It holds on the next page from its first paint on, and goes back to the system's."""
    visit = visit_of(browser, url, "desktop", "light")
    page = visit.page
    visit.open("/games")
    assert page.evaluate(GROUND) == PAPER
    page.get_by_label("Theme").select_option("dark")
    assert page.evaluate(GROUND) == NIGHT
    visit.open("/embed/faulty-0-0/1/1")
    assert page.evaluate(GROUND) == NIGHT
    visit.open("/leaderboard")
    assert page.evaluate(GROUND) == NIGHT
    expect(page.get_by_label("Theme")).to_have_value("dark")
    page.get_by_label("Theme").select_option("auto")
    assert page.evaluate(GROUND) == PAPER
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(GROUND) == NIGHT
    page.get_by_label("Theme").select_option("light")
    assert page.evaluate(GROUND) == PAPER
    assert visit.complaints == []
    page.context.close()


def test_times_are_local_with_utc_as_the_tooltip(browser: Browser, url: str) -> None:
    """In the visitor's zone, where nothing says UTC any more; without scripts it stays."""
    plain = visit_of(browser, url, "desktop", "light", script=False)
    plain.open("/games")
    utc = plain.page.locator("time").first.inner_text()
    assert plain.page.get_by_role("columnheader", name="Ended (UTC)").is_visible()
    plain.page.context.close()

    context = browser.new_context(timezone_id="Asia/Tokyo")  # nine hours ahead, without summer time
    page = context.new_page()
    page.goto(f"{url}/games")
    time = page.locator("time").first
    expect(page.get_by_role("columnheader", name="Ended", exact=True)).to_be_visible()
    assert page.evaluate("document.querySelector('time').title").startswith(utc)
    local = page.evaluate(
        "new Date(document.querySelector('time').dateTime).toLocaleString('sv', { timeZone: 'Asia/Tokyo' })"
    )
    assert time.inner_text() == local[: len("2026-11-23 00:00")] != utc
    assert page.locator(".utc").count() == 0
    context.close()
