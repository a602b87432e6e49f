"""The leaderboard and the front page in a real browser: they update themselves, and nothing moves."""

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue

import httpx2
import pytest
from playwright.sync_api import Response, expect

from arena.db.store import Store
from arena.protocol.match import RuntimeName
from arena.rules import Rules
from tests.browser.visits import (
    WATCH_SHIFTS,
    Visit,
    Windows,
    check_that_nothing_moved,
    poll,
    serving,
)
from tests.builders import add_bots, play_matches
from tests.databases import sqlite_store
from tests.db.builders import add_matches, claimed, finished
from tests.patience import WAIT_SECONDS
from tests.web.site import opened

pytestmark = pytest.mark.chromium

NAMES = [
    ("greedy", "house"),
    ("mcts", "house"),
    *((f"a-bot-of-someone-{n:02}", "someone") for n in range(60)),
]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data folder of an arena."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def store(data_dir: Path) -> Iterator[Store]:
    """Yield the store of an arena with two pages of bots, some of which have played, and a running match."""
    with closing(sqlite_store(data_dir / "arena.sqlite3")) as store:
        versions = add_bots(store, NAMES)
        for number in range(6):
            play_matches(
                store, [versions[number * 5 :][:5]], Rules(players=5), name=f"five-{number}", faults=0.01
            )
        claim = claimed(store, [versions[40], versions[41]], id_="odds", deals=31)
        assert store.results.record(finished(claim, [(1, 2)] * 30 + [(2, 1)]))
        add_matches(store, "now", versions[:4], matches=1)
        store.leases.claim("here", "worker", datetime.now(UTC), RuntimeName.DOCKER)
        yield store


@pytest.fixture(scope="module")
def url(data_dir: Path, store: Store) -> Iterator[str]:
    """Yield the address of a running site."""
    assert store.activity.totals().matches_running == 1
    with opened(data_dir) as site:
        yield site.url


@pytest.mark.parametrize(
    ("path", "size"), [pytest.param("/", "desktop", marks=pytest.mark.soak), ("/leaderboard", "phone")]
)
def test_it_updates_itself_and_nothing_moves(
    windows: Windows, store: Store, url: str, size: str, path: str
) -> None:
    """A finished match appears without a reload. While nothing is new, the site responds only with 304."""
    visit = windows.open(url, size, "light")
    page = visit.page
    page.add_init_script(WATCH_SHIFTS)
    page.clock.install()
    answers: list[int] = []

    def hear(answer: Response) -> None:
        if answer.request.resource_type == "fetch":
            answers.append(answer.status)

    def in_turn() -> list[int]:
        """Return the statuses without consecutive repetitions, of which a slow host may cause more."""
        return [status for status, _ in groupby(answers)]

    page.on("response", hear)
    visit.open(path)
    page.evaluate("document.body.dataset.same = 'yes'")
    for _ in range(3):
        poll(page)
    assert in_turn() == [200, 304]
    versions = {each.bot: each.version for each in store.ratings.candidates()}
    best = store.ratings.standings()[0]
    row = page.get_by_role("row").filter(has_text=f"{best.bot}@1").first
    before = row.inner_text()
    other = "mcts" if best.bot == "greedy" else "greedy"
    claim = claimed(store, [versions[best.bot], versions[other]], id_=f"{size}{path.replace('/', '-')}")
    assert store.results.record(finished(claim, [(1, 2)] * 2))
    poll(page)
    expect(row).not_to_have_text(before)
    expect(row).to_contain_text(str(best.entry.games + 2))
    poll(page)
    assert in_turn() == [200, 304, 200, 304]
    assert page.evaluate("document.body.dataset.same") == "yes"
    check_that_nothing_moved(page)


DRAWN = """(number) => new Promise((done) => {
  const find = `boolean(//comment()[. = "piece ${number}"])`;
  const look = () => document.evaluate(find, document).booleanValue
    ? requestAnimationFrame(() => requestAnimationFrame(done)) : requestAnimationFrame(look);
  look();
})"""
"""Waits until the browser has drawn what came before a comment."""


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    "path",
    [
        "/leaderboard?search=greedy",  # a short page
        *(
            pytest.param(path, marks=pytest.mark.soak)
            for path in ("/", "/leaderboard", "/games", "/bots/greedy", "/games/five-0-0-0")
        ),
    ],
)
def test_nothing_moves_while_a_page_arrives(windows: Windows, url: str, size: str, path: str) -> None:
    """The page arrives line by line, and each line is drawn before the next one is sent."""
    head, body, rest = httpx2.get(url + path, timeout=WAIT_SECONDS).text.partition("<body>")
    pieces: SimpleQueue[str] = SimpleQueue()

    def answer(request: BaseHTTPRequestHandler) -> None:
        found = httpx2.get(url + request.path, timeout=WAIT_SECONDS)
        request.send_response(found.status_code)
        for name in ("Content-Type", "Content-Security-Policy", "X-Content-Type-Options"):
            request.send_header(name, found.headers[name])
        request.end_headers()
        if request.path == path:
            for piece in iter(pieces.get, ""):
                request.wfile.write(piece.encode())
        else:
            request.wfile.write(found.content)

    with serving(answer) as slow:
        visit = windows.open(slow, size, "light")
        visit.forgive("Failed to load resource")  # the game on the front page, when this server ends
        page = visit.page
        page.add_init_script(WATCH_SHIFTS)
        pieces.put(head + body)
        try:
            page.goto(slow + path, wait_until="commit")
            for number, line in enumerate(rest.splitlines(keepends=True)):
                pieces.put(f"{line}<!--piece {number}-->")
                page.evaluate(DRAWN, number)
        finally:
            pieces.put("")  # ends the response, for which the server waits
        page.wait_for_load_state("load")
        check_that_nothing_moved(page)


@pytest.mark.parametrize("script", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_bots_are_found_with_the_keyboard(windows: Windows, url: str, *, script: bool) -> None:
    """The search field, its options and the links to other pages work by keyboard, even without scripts."""
    visit = windows.open(url, "desktop", "light", script=script)
    page = visit.page
    visit.open("/leaderboard?players=5")
    page.get_by_role("searchbox", name="Bot or author").focus()
    page.keyboard.type("SOMEONE-0")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{url}/leaderboard?players=5&search=SOMEONE-0&house=without&order=score")
    expect(page.locator("tbody tr")).to_have_count(10)
    expect(page.get_by_text("10 of 62 bots")).to_be_visible()
    page.get_by_role("link", name="All bots").press("Enter")
    expect(page.locator("tbody tr")).to_have_count(50)
    page.get_by_role("link", name="Next").press("Enter")
    expect(page.locator("tbody tr")).to_have_count(12)
    page.get_by_role("link", name="Previous").press("Enter")
    expect(page).to_have_url(f"{url}/leaderboard?players=5")


def test_a_bots_page_begins_with_its_rank(visit: Visit, store: Store) -> None:
    """A phone shows the rank without scrolling, above all sections."""
    visit.resize("phone")
    best = store.ratings.standings()[0]
    visit.open(f"/bots/{best.bot}")
    rank = visit.page.locator(".standing")
    expect(rank).to_contain_text(re.compile(r"^Rank 1 of \d+"))
    expect(rank).to_be_in_viewport()
    box, heading = rank.bounding_box(), visit.page.locator("main h2").first.bounding_box()
    assert box is not None
    assert heading is not None
    assert box["y"] < heading["y"]


def test_what_is_played_is_read_aloud(visit: Visit) -> None:
    """For screen readers, the front page's sections have names, and the seats of a table are a list."""
    visit.open("/")
    tables = visit.page.get_by_role("region", name="Now playing")
    expect(tables.get_by_role("listitem").filter(has_text="greedy@1").first).to_be_visible()
    tree = visit.page.locator("main").aria_snapshot()
    assert 'region "Worth watching"' in tree


@pytest.mark.parametrize(
    ("size", "reduced", "plays"),
    [
        pytest.param("desktop", False, True, marks=pytest.mark.soak),
        pytest.param("desktop", True, False, marks=pytest.mark.soak),
        ("phone", False, True),
        ("phone", True, False),
    ],
)
def test_the_front_page_plays_a_game(visit: Visit, size: str, *, reduced: bool, plays: bool) -> None:
    """The game plays automatically and can be paused. With reduced motion, there is a picture instead."""
    visit.resize(size)
    page = visit.page
    page.emulate_media(color_scheme="dark", reduced_motion="reduce" if reduced else "no-preference")
    visit.open("/")
    picture = page.get_by_role("img", name="The result of game")
    frame = page.frame_locator(".featured iframe")
    if plays:
        expect(picture).to_be_hidden()
        # On a busy host, turn 2 may be over before the test sees it.
        expect(frame.locator("#where")).to_contain_text(re.compile(r"Round (1, turn ([2-9]|10)|[23],)"))
        frame.get_by_role("button", name="Pause").click()
        expect(frame.get_by_role("button", name="Play")).to_be_visible()
        within = page.frames[1]
        assert within.evaluate("document.querySelector('.counter').getBoundingClientRect().bottom") <= (
            within.evaluate("innerHeight")
        )
        assert within.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0
    else:
        expect(picture).to_be_visible()
        expect(page.locator(".featured iframe")).to_be_hidden()
        picture.click()
        expect(page.locator("#where")).to_contain_text("Round 1, turn 1")
    visit.keep(f"front-plays-{size}-{reduced}")
