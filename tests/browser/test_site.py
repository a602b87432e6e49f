"""The site in a real browser: it can be used without scripts, by keys, by ear."""

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
    """Give the address of a running site with games of two to five players."""
    folder = tmp_path_factory.mktemp("data")
    with closing(sqlite_store(folder / "arena.sqlite3")) as store:
        fill(store)
        others = [(f"a-bot-with-quite-a-long-name-{number}", "someone with a name") for number in range(5)]
        play_set(store, [add_bots(store, others)], Rules(players=5), name="five", faults=0.02)
    with opened(folder) as site:
        yield site.url


def test_everything_can_be_read_without_scripts(browser: Browser, url: str) -> None:
    """From the board over the games to a turn of a replay, by links alone."""
    visit = visit_of(browser, url, "phone", "light", script=False)
    page = visit.page
    visit.open("/leaderboard")
    page.get_by_role("link", name="4 players").click()
    expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
    page.get_by_role("navigation", name="Site").get_by_role("link", name="Games").click()
    page.locator("tbody th a").last.click()
    expect(page.get_by_role("heading", name="Game 1", exact=True)).to_be_visible()
    page.get_by_role("link", name="Round 2, turn 3").click()
    expect(page).to_have_url(f"{url}/games/dummy-0-0#r2t3")
    expect(page.locator("#r2t3")).to_be_in_viewport()
    page.context.close()


def test_tables_stay_tables_for_screen_readers(browser: Browser, url: str) -> None:
    """Rows and cells keep their roles where a phone shows them as sheets."""
    visit = visit_of(browser, url, "phone", "light")
    visit.open("/leaderboard")
    table = visit.page.get_by_role("table")
    expect(table.get_by_role("row").filter(has_text="random@1")).to_have_count(1)
    assert table.get_by_role("cell").count() >= 9 * 5
    tree = table.aria_snapshot()
    assert "- table" in tree
    assert "- rowheader" in tree
    assert tree.count("- row ") >= 5
    visit.page.context.close()


def test_a_phone_has_two_lines_a_bot(browser: Browser, url: str) -> None:
    """Rank, name and score can be seen, none higher than 64 pixels, also where a name is long."""
    visit = visit_of(browser, url, "phone", "light")
    for path in ("/", "/leaderboard"):
        visit.open(path)
        rows = visit.page.locator(".board tbody tr")
        assert rows.count() >= 5
        for row in rows.all():
            box = row.bounding_box()
            assert box is not None
            assert box["height"] <= 64
            parts = [row.locator(part).first for part in (".rank", ".bot bdi", ".by", ".score")]
            assert all(part.evaluate("part => part.offsetHeight") > 10 for part in parts)
    visit.page.context.close()


def test_games_are_found_by_a_form_and_rows_lead_to_them(browser: Browser, url: str) -> None:
    """Without scripts, too; a click anywhere in a row opens its game, and on a bot's name the bot."""
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{url}/games")
    page.get_by_text("Filter and sort").click()
    page.get_by_label("Players").select_option("5")
    page.get_by_label("Order").select_option("highest")
    page.get_by_role("button", name="Show").click()
    row = page.locator("tbody tr").first
    expect(row.get_by_role("listitem")).to_have_count(5)
    assert len({box["y"] for box in (each.bounding_box() for each in row.locator("li").all()) if box}) == 1
    row.locator("time").click(force=True)  # the row's link is above it
    expect(page.get_by_role("heading", level=1)).to_contain_text("Game ")
    page.go_back()
    name = row.locator("li").first.get_by_role("link")
    bot = name.inner_text()
    name.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(bot)


def test_a_bot_in_a_list_of_games_shows_that_it_has_the_focus(browser: Browser, url: str) -> None:
    """Also where its name is cut off; the tooltip has the whole name."""
    visit = visit_of(browser, url, "desktop", "light")
    visit.open("/games")
    row = visit.page.locator("tbody tr").filter(has_text="quite-a-long-name").first
    row.locator("th a").focus()
    visit.page.keyboard.press("Tab")
    who = row.locator(".who").first
    expect(who).to_have_css("outline-style", "solid")
    expect(who).to_have_attribute("title", who.inner_text())
    visit.page.context.close()


def test_the_keyboard_reaches_the_content_first(browser: Browser, url: str) -> None:
    """The first stop is the way past the navigation, and it can be seen."""
    visit = visit_of(browser, url, "desktop", "light")
    visit.open("/leaderboard")
    visit.page.keyboard.press("Tab")
    skip = visit.page.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("main")).to_be_focused()
    visit.page.context.close()
