"""Pages with forced colours, on paper, in short windows, and with the longest names."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Page, ViewportSize

from arena.protocol.match import WorkerStatus
from arena.rules import Rules
from tests.browser.visits import Visit
from tests.builders import add_bots, play_matches
from tests.databases import sqlite_store
from tests.db.builders import claimed
from tests.watched import show
from tests.web.site import opened

pytestmark = pytest.mark.chromium

MAX_LENGTH = ("W" * 40, "m" * 39 + "1", "eel")
AUTHOR = "x" * 40
GAME = "/games/named-0-0"
GROUNDS = """all => all.map((each) =>
  [each.hasAttribute("aria-current"), getComputedStyle(each).backgroundColor])"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a site with the longest possible names, a finished game and one in progress."""
    folder = tmp_path_factory.mktemp("data")
    with closing(sqlite_store(folder / "arena.sqlite3")) as store:
        versions = add_bots(store, [(name, AUTHOR) for name in MAX_LENGTH])
        play_matches(store, [versions], Rules(players=3), name="named")
        show(store, claimed(store, versions), 1)
        store.leases.publish_workers("here", [WorkerStatus(name="worker", host="host", seats=5, busy=3)])
        with opened(folder) as site:
            yield site.url


def look(visit: Visit, path: str) -> Page:
    """Open a page. If it is a viewer, wait until it can be used."""
    visit.open(path)
    if visit.page.locator("#film").count():
        visit.page.locator("#film[data-ready]").wait_for()
    return visit.page


def test_the_longest_names_fit(visit: Visit) -> None:
    """The longest names make no page scroll sideways, from zoomed phones to desktops."""
    visit.resize("zoomed")
    for path in (
        "/",
        "/leaderboard",
        "/games",
        "/status",
        f"/bots/{MAX_LENGTH[0]}",
        f"/bots/{MAX_LENGTH[0]}/picks",
        f"/authors/{AUTHOR}",
        f"/compare?bots={','.join(MAX_LENGTH)}",
        GAME,
        f"{GAME}/2/5?step=reveal",
        "/live/s-0/1/1/5?step=reveal",
    ):
        page = look(visit, path)
        for width in (320, 850, 1440):
            page.set_viewport_size(ViewportSize(width=width, height=800))
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_forced_colours_show_what_is_open(visit: Visit) -> None:
    """The links to the open page, list and view look different from the others."""
    visit.page.emulate_media(forced_colors="active")
    for path, links in (("/leaderboard", (".site nav", ".tabs")), (f"{GAME}/1/1", (".site nav", ".views"))):
        page = look(visit, path)
        for link in links:
            grounds = page.locator(f"{link} a").evaluate_all(GROUNDS)
            chosen = {ground for current, ground in grounds if current}
            assert chosen
            assert chosen.isdisjoint(ground for current, ground in grounds if not current)


def test_controls_are_not_printed(visit: Visit) -> None:
    """A frame is printed without the controls, which would cover it."""
    page = look(visit, f"{GAME}/2/5?step=reveal")
    page.emulate_media(media="print")
    for gone in (".site nav", ".transport", ".scrub", ".share", "body > footer"):
        assert not page.locator(gone).first.is_visible(), gone
    assert page.locator("#where").is_visible()
    assert page.locator(".counter").evaluate("each => getComputedStyle(each).position") != "sticky"


def test_the_controls_leave_room_in_a_low_window(visit: Visit) -> None:
    """On a phone in landscape orientation, the controls are side by side, below a quarter of the height."""
    visit.resize("phone")
    visit.page.set_viewport_size(ViewportSize(width=720, height=390))
    page = look(visit, f"{GAME}/2/5?step=reveal")
    boxes = [
        page.locator(part).bounding_box() for part in (".counter", "#where b", ".transport nav", "#speed")
    ]
    counter, words, steps, speed = (box for box in boxes if box)
    assert counter["height"] < 390 / 4
    assert words["x"] + words["width"] <= steps["x"]
    assert steps["x"] + steps["width"] <= speed["x"]
