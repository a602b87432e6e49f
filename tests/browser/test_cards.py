"""Statistics of cards in a real browser: by links and keys alone, and as a screen reader has them."""

import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, expect

from arena.rules import Rules
from tests.browser.visits import visit_of
from tests.builders import add_bots, fill, play_set
from tests.databases import sqlite_store
from tests.web.site import opened

pytestmark = pytest.mark.chromium


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a site with games of two, and few others."""
    folder = tmp_path_factory.mktemp("data")
    with closing(sqlite_store(folder / "arena.sqlite3")) as store:
        fill(store)
        versions = add_bots(store, [("mine", "ann"), ("yours", "ben")])
        for number in range(15):
            play_set(store, [versions], Rules(players=2), name=f"s{number}")
    with opened(folder) as site:
        yield site.url


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.soak)])
def test_cards_are_put_in_order_and_opened_without_scripts(browser: Browser, url: str, size: str) -> None:
    """By links and keys: the largest first, then a card, its neighbour, and what the numbers mean."""
    visit = visit_of(browser, url, size, "light", script=False)
    page = visit.page
    visit.open("/cards?players=2")
    page.get_by_role("link", name="seen").and_(page.locator(":visible")).first.press("Enter")
    expect(page).to_have_url(f"{url}/cards?players=2&sort=-seen")
    seen = [int(text.replace(",", "")) for text in page.locator("td.seen").all_inner_texts() if text]
    assert len(seen) == 12
    assert seen == sorted(seen, reverse=True)
    page.get_by_role("link", name="Tempura").press("Enter")
    expect(page.get_by_role("heading", name="Tempura")).to_be_visible()
    expect(page.get_by_role("link", name="2 players")).to_have_attribute("aria-current", "page")
    page.get_by_role("link", name=re.compile("^Sashimi")).press("Enter")
    expect(page).to_have_url(f"{url}/cards/sashimi?players=2")
    page.get_by_role("link", name="Definitions").press("Enter")
    expect(page.get_by_role("heading", name="Definitions")).to_be_visible()
    page.context.close()


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_every_stop_of_the_keyboard_can_be_seen(browser: Browser, url: str, size: str) -> None:
    """There is one way to each order: the heads of columns, or, where these are hidden, a line of links."""
    visit = visit_of(browser, url, size, "light")
    page = visit.page
    visit.open("/cards?players=2")
    orders = []
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if not focused.count():
            break
        expect(focused).to_be_in_viewport()
        address = focused.get_attribute("href") or ""
        orders += (
            [address]
            if focused.locator("xpath=ancestor::thead | ancestor::nav[@class='sorts']").count()
            else []
        )
    assert len(orders) == len(set(orders)) == 8
    page.context.close()


def test_a_screen_reader_hears_the_bars(browser: Browser, url: str) -> None:
    """As a picture with a text, in a table that stays one on a phone."""
    visit = visit_of(browser, url, "phone", "light")
    visit.open("/cards?players=2")
    table = visit.page.get_by_role("table")
    expect(table.get_by_role("row").filter(has_text="Tempura")).to_have_count(1)
    assert table.get_by_role("img", name=re.compile("^Taken by turn. 1: ")).count() == 12
    tree = table.aria_snapshot()
    assert tree.count("- rowheader") == 12
    visit.page.context.close()
