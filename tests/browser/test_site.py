"""The site in a real browser: it keeps itself current, and can be used without scripts, by keys, by ear."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from arena.rules import Rules
from arena.store import open_store
from tests.browser.visits import visit_of
from tests.builders import add_bots, fill, play_set
from tests.web.site import served

pytestmark = pytest.mark.chromium


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a data directory with games of two to five players."""
    folder = tmp_path_factory.mktemp("data")
    with closing(open_store(f"sqlite:///{folder / 'arena.sqlite3'}")) as store:
        fill(store)
        others = [(f"a-bot-with-quite-a-long-name-{number}", "somebody with a name") for number in range(5)]
        play_set(store, [add_bots(store, others)], Rules(players=5), name="five", faults=0.02)
    return folder


@pytest.fixture(scope="module")
def url(data_dir: Path) -> Iterator[str]:
    """Give the address of a running site."""
    with served(data_dir) as site:
        yield site.url


def test_the_board_keeps_itself_current(browser: Browser, data_dir: Path, url: str) -> None:
    """A game that is rated while somebody looks appears without a reload, and the page stays where it is."""
    visit = visit_of(browser, url, "desktop", "light")
    visit.page.clock.install()
    visit.open("/leaderboard")
    rows = visit.page.locator("tbody tr")
    before = rows.count()
    visit.page.evaluate("document.body.dataset.same = 'yes'")
    with closing(open_store(f"sqlite:///{data_dir / 'arena.sqlite3'}")) as store:
        versions = add_bots(store, [("late", "house"), ("later", "house")])
        play_set(store, [versions], Rules(players=2), name="late")
    visit.page.clock.fast_forward(5000)
    expect(rows).to_have_count(before + 2)
    expect(visit.page.get_by_role("rowheader", name="late@1")).to_be_visible()
    assert visit.page.evaluate("document.body.dataset.same") == "yes"
    assert visit.complaints == []
    visit.page.context.close()


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
