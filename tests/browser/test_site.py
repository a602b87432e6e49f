"""The site in a real browser: nothing to complain about, at every size, in both themes."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from arena.rules import Rules
from arena.store import open_store
from tests.builders import add_bots, fill, play_set
from tests.web.site import served

pytestmark = pytest.mark.chromium

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
SIZES = {"phone": (390, 844), "small": (360, 640), "desktop": (1280, 900), "wide": (2560, 1440)}
PAGES = {
    "leaderboard": "/",
    "four-players": "/?players=4",
    "games": "/games",
    "game": "/games/faulty-0-0",
    "game-dummy": "/games/dummy-0-0",
    "game-five": "/games/five-0-0",
    "status": "/status",
    "error": "/?players=9",
}

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Visit:
    """An open page and what the browser complained about."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        """Go to a page of the site."""
        self.page.goto(self.url + path)


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


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Give a running Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=_FLAGS)
        yield browser
        browser.close()


def _visit(browser: Browser, url: str, size: str, theme: str, *, script: bool = True) -> Visit:
    width, height = SIZES[size]
    context = browser.new_context(
        viewport=ViewportSize(width=width, height=height),
        color_scheme="dark" if theme == "dark" else "light",
        java_script_enabled=script,
    )
    visit = Visit(context.new_page(), url)
    visit.page.on("console", lambda message: visit.complaints.append(message.text))
    visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    return visit


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_pages_fit_and_nothing_is_complained_about(browser: Browser, url: str, size: str, theme: str) -> None:
    """No message in the console, no refused resource, no sideways scrolling; pictures are kept."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    visit = _visit(browser, url, size, theme)
    for name, path in PAGES.items():
        visit.open(path)
        visit.page.screenshot(path=SCREENSHOTS / f"{name}-{size}-{theme}.png", full_page=True)
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0], name
        background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == ("rgb(18, 20, 42)" if theme == "dark" else "rgb(250, 246, 237)")
    # The error page's own status is the one thing that Chromium notes.
    assert [text for text in visit.complaints if "422" not in text] == []
    visit.page.context.close()


def test_the_board_keeps_itself_current(browser: Browser, data_dir: Path, url: str) -> None:
    """A game that is rated while somebody looks appears without a reload, and the page stays where it is."""
    visit = _visit(browser, url, "desktop", "light")
    visit.page.clock.install()
    visit.open("/")
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
    visit = _visit(browser, url, "phone", "light", script=False)
    page = visit.page
    visit.open("/")
    page.get_by_role("link", name="4 players").click()
    expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
    page.get_by_role("navigation", name="Site").get_by_role("link", name="Games").click()
    page.locator("tbody a").last.click()
    expect(page.get_by_role("heading", name="Game 1", exact=True)).to_be_visible()
    page.get_by_role("link", name="Round 2, turn 3").click()
    expect(page).to_have_url(f"{url}/games/dummy-0-0#r2t3")
    expect(page.locator("#r2t3")).to_be_in_viewport()
    page.context.close()


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_tables_stay_tables_for_screen_readers(browser: Browser, url: str, size: str) -> None:
    """Rows and cells keep their roles where a phone shows them as sheets."""
    visit = _visit(browser, url, size, "light")
    visit.open("/")
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
    visit = _visit(browser, url, "desktop", "light")
    visit.open("/")
    visit.page.keyboard.press("Tab")
    skip = visit.page.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("main")).to_be_focused()
    visit.page.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Browser, url: str, theme: str) -> None:
    """Every piece of text has a contrast of at least 4.5 to 1 with what lies behind it."""
    visit = _visit(browser, url, "desktop", theme)
    for name, path in PAGES.items():
        visit.open(path)
        assert visit.page.evaluate(_CONTRAST) == [], name
    visit.page.context.close()


_CONTRAST = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = numbers(colour).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if ((numbers(colour)[3] ?? 1) > 0) return colour;
    }
  };
  const bad = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(element.closest("svg") ? style.fill : style.color), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${walker.currentNode.data.trim()}: ${ratio.toFixed(2)}`);
  }
  return bad;
}"""
