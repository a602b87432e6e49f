"""The layout and accessibility of every page in a real browser, in all sizes and both themes."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Route, expect

from tests.accounts.world import PASSWORD, World
from tests.browser.visits import (
    SCREENSHOTS,
    SIZES,
    WATCH_SHIFTS,
    check_that_nothing_moved,
    follow,
    hard_to_read,
    log_in,
    new_page,
)
from tests.builders import START
from tests.soak import SOAK
from tests.web.exported import put_files
from tests.web.people import browser as client
from tests.web.site import opened
from tests.web.town import build

pytestmark = pytest.mark.chromium

LARGEST_BYTES: Final = 100_000
"""Maximum size of a page's HTML, before compression."""
MOST_TRANSFERRED: Final = 120_000
"""Maximum size of a page and everything that it loads, as sent."""
PAPER: Final = {"light": "rgb(250, 246, 237)", "dark": "rgb(18, 20, 42)"}
NO_PAGES: Final = re.compile(r"^/(api|data|feeds)/|^/(health|ready)z$|^/(bots|live|tv)$|\.\w+$")
"""Routes of data and pictures, and routes that only redirect."""


@dataclass(frozen=True)
class Look:
    """A page in one of its states."""

    route: str  # as the site defines it; empty if none is checked
    path: str  # its address
    who: str = ""  # the user who is logged in, or empty
    status: int = 200  # of the response
    act: Callable[[Page], None] | None = None  # an action before the page is checked
    soak: bool = False  # whether only the soak run checks it, because it differs little from another one


def refused(page: Page) -> None:
    """Register with one of the most common passwords."""
    page.get_by_label("Name").fill("bob")
    page.get_by_label("Password").fill("password1")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("alert")).to_be_visible()


def add_a_webhook(page: Page) -> None:
    """Add a webhook, whose secret is then shown."""
    form = page.get_by_role("region", name="New webhook")
    form.get_by_label("Address").fill("https://there.example/")
    form.get_by_role("button", name="Add webhook").click()
    expect(page.get_by_role("heading", name="Webhook added")).to_be_visible()


def make_a_token(page: Page) -> None:
    """Create a token, whose secret is then shown."""
    page.get_by_label("Name").fill("my laptop")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Create token").click()
    expect(page.locator(".secret")).to_be_visible()


def open_all(page: Page) -> None:
    """Expand all collapsed sections."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


def challenge_nobody(page: Page) -> None:
    """Challenge a bot that doesn't exist, and expand all collapsed sections."""
    page.get_by_label("Opponent 1").fill("nobody")
    follow(page, page.get_by_role("button", name="Challenge"))
    expect(page.get_by_role("alert")).to_be_visible()
    open_all(page)


def choose_a_card(page: Page) -> None:
    """Answer a puzzle."""
    page.locator(".choose button").first.click()
    expect(page.get_by_role("status")).to_be_visible()


def ask_for_keys(page: Page) -> None:
    """Open the viewer's dialog of keyboard shortcuts."""
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


def pause(page: Page) -> None:
    """Pause the viewer."""
    page.get_by_role("button", name="Pause").click()


def see_what_is_in_progress(page: Page) -> None:
    """Check that a submission in progress has the colour of normal text: nothing is wrong with it."""
    ink = page.evaluate("getComputedStyle(document.body).color")
    expect(page.get_by_role("heading", name="In progress")).to_have_css("color", ink)
    expect(page.get_by_role("link", name="freshling")).to_have_css("color", ink)


def come_from_elsewhere(page: Page) -> None:
    """Submit a form from another site."""
    action = page.url + "logout"
    page.goto(f'data:text/html,<form method="post" action="{action}"><button>Win</button></form>')
    page.get_by_role("button").click()
    expect(page.get_by_text("not sent from a page on this site")).to_be_visible()


FRAME: Final = "/games/{game}/{round}/{turn}"
PAGES: Final = {
    "front": Look("/", "/"),
    "versus": Look("/leaderboard/versus", "/leaderboard/versus"),
    "calibration": Look("/leaderboard/calibration", "/leaderboard/calibration"),
    "leaderboard": Look("/leaderboard", "/leaderboard"),
    "leaderboard-four": Look("/leaderboard", "/leaderboard?players=4&house=without&search=o", soak=True),
    "leaderboard-none": Look("/leaderboard", "/leaderboard?search=nobody-at-all", soak=True),
    "compare": Look("/compare", "/compare?bots=mine&bots=other,greedy"),
    "leaderboard-sorted": Look("/leaderboard", "/leaderboard?order=games", soak=True),
    "play": Look("/play", "/play", "ann"),
    "play-waits": Look("/play/{id}", f"/play/{'5' * 32}", "ann", soak=True),
    "play-card": Look("/play/{id}", f"/play/{'3' * 32}", "ann", soak=True),
    "play-cards": Look("/play/{id}", f"/play/{'4' * 32}", "ann"),
    "play-over": Look("/play/{id}", f"/play/{'1' * 32}", "ann", soak=True),
    "play-analysed": Look("/play/{id}", f"/play/{'2' * 32}", "ann"),
    "play-decisions": Look(
        "/play/{id}/decisions", f"/play/{'2' * 32}/decisions", "ann", act=open_all, soak=True
    ),
    "start": Look("/start", "/start"),
    "start-logged-in": Look("/start", "/start?bot=mine", "ann", soak=True),
    "puzzle": Look("/puzzle", "/puzzle", soak=True),
    "puzzle-answered": Look("/puzzle/{day}", f"/puzzle/{START.date()}", act=choose_a_card),
    "decisions": Look("/games/{game}/decisions/{seat}", "/games/five-0-0/decisions/1", act=open_all),
    "play-viewer": Look(
        "/play/{id}/games/{game}/{round}/{turn}", f"/play/{'2' * 32}/games/person-2/1/2", "ann", soak=True
    ),
    "games": Look("/games", "/games"),
    "games-filtered": Look("/games", "/games?order=closest&players=3", soak=True),
    "data": Look("/data", "/data"),
    "bot": Look("/bots/{bot}", "/bots/mine", act=open_all, soak=True),
    "picks": Look("/bots/{bot}/picks", "/bots/greedy/picks?with=tempura"),
    "bot-filtered": Look("/bots/{bot}", "/bots/mine?curve=3&opponent=greedy&place=1&min=1", soak=True),
    "bot-new": Look("/bots/{bot}", "/bots/resting", soak=True),
    "bot-banned": Look("/bots/{bot}", "/bots/banned", soak=True),
    "bot-owner": Look("/bots/{bot}", "/bots/mine", "ann", act=challenge_nobody),
    "author": Look("/authors/{author:path}", "/authors/ann"),
    "bot-benched": Look("/bots/{bot}", "/bots/sleepy", "ann", soak=True),
    "game": Look("/games/{game}", "/games/five-0-0"),
    "game-dummy": Look("/games/{game}", "/games/dummy-0-0", soak=True),
    "game-owner": Look("/games/{game}", "/games/logged-0-0", "ann", soak=True),
    "viewer-five": Look(FRAME, "/games/five-0-0/2/5?step=reveal&view=infer:1"),
    "viewer-three": Look(FRAME, "/games/three-0-0/1/5?step=pass", soak=True),
    "viewer-two": Look(FRAME, "/games/two-0-0/1/1", soak=True),
    "viewer-dummy": Look(FRAME, "/games/dummy-0-0/2/4", soak=True),
    "viewer-infer": Look(FRAME, "/games/faulty-0-0/1/2?view=infer:1", soak=True),
    "viewer-seat": Look(FRAME, "/games/three-0-0/2/6?view=seat:2", soak=True),
    "viewer-score": Look(FRAME, "/games/faulty-0-0/2/8?step=score", soak=True),
    "viewer-end": Look(FRAME, "/games/three-0-0/3/9?step=end"),
    "viewer-keys": Look(FRAME, "/games/three-0-0/1/1", act=ask_for_keys),
    "viewer-embed": Look("/embed/{game}/{round}/{turn}", "/embed/five-0-0/1/3"),
    "live": Look("/live/{match}/{number}/{round}/{turn}", "/live/{live}/1/2/3?step=reveal"),
    "tv": Look("/tv/games/{game}", "/tv/games/five-0-0", act=pause),
    "tv-live": Look("/tv/live/{match}/{number}", "/tv/live/{live}/1", act=pause, soak=True),
    "live-none": Look("/live/{match}", "/live/{unseen}"),
    "cards": Look("/cards", "/cards?players=2"),
    "cards-by-difference": Look("/cards", "/cards?players=2&sort=-difference", soak=True),
    "cards-few": Look("/cards", "/cards?players=4", soak=True),
    "card": Look("/cards/{card}", "/cards/tempura?players=2"),
    "card-unseen": Look("/cards/{card}", "/cards/soy_sauce?players=3", soak=True),
    "card-definitions": Look("/cards/definitions", "/cards/definitions"),
    "rules": Look("/rules", "/rules"),
    "docs": Look("/docs", "/docs"),
    "docs-submitting": Look("/docs/{page}", "/docs/submitting", soak=True),
    "docs-protocol": Look("/docs/{page}", "/docs/protocol", soak=True),
    "docs-greedy": Look("/docs/{page}", "/docs/greedy"),
    "status": Look("/status", "/status", act=open_all),
    "status-operator": Look("/status", "/status", "oper", soak=True),
    "login": Look("/login", "/login"),
    "register": Look("/register", "/register", act=refused),
    "account": Look("/account", "/account", "zoe"),
    "token": Look("/account", "/account", "ann", act=make_a_token, soak=True),
    "notifications": Look("/account/notifications", "/account/notifications", "ann"),
    "webhook": Look("/account/notifications", "/account/notifications", "zoe", act=add_a_webhook, soak=True),
    "mail": Look("/mail/{secret}", "/mail/mail-confirmed"),
    "mail-unconfirmed": Look("/mail/{secret}", "/mail/mail-unconfirmed", soak=True),
    "mine": Look("/mine", "/mine", "ann", act=see_what_is_in_progress),
    "mine-none": Look("/mine", "/mine", "zoe", soak=True),
    "submit": Look("/submit", "/submit", "ann"),
    "submissions": Look("/submissions", "/submissions", "ann"),
    "submissions-none": Look("/submissions", "/submissions", "zoe", soak=True),
    "submission-waits": Look("/submissions/{id}", "/submissions/5e4d", "ann", soak=True),
    "submission-qualifying": Look("/submissions/{id}", "/submissions/9a1e", "ann", soak=True),
    "submission-active": Look("/submissions/{id}", "/submissions/ac7e", "ann", soak=True),
    "submission-rejected": Look("/submissions/{id}", "/submissions/bad0", "ann"),
    "submission-game": Look(
        "/submissions/{id}/games/{game}", "/submissions/bad0/games/bad0-q0-0-0", "ann", soak=True
    ),
    "submission-viewer": Look(
        "/submissions/{id}/games/{game}/{round}/{turn}",
        "/submissions/bad0/games/bad0-q0-0-0/1/1",
        "ann",
        soak=True,
    ),
    "challenges": Look("/challenges", "/challenges", "ann"),
    "challenges-none": Look("/challenges", "/challenges", "zoe", soak=True),
    "challenge": Look("/challenges/{id}", "/challenges/{played}", "ann"),
    "challenge-running": Look("/challenges/{id}", "/challenges/{running}", "ann", soak=True),
    "challenge-game": Look(
        "/challenges/{id}/games/{game}", "/challenges/{played}/games/{played}-0-0", "ann", soak=True
    ),
    "challenge-viewer": Look(
        "/challenges/{id}/games/{game}/{round}/{turn}",
        "/challenges/{played}/games/{played}-0-0/2/3",
        "ann",
        soak=True,
    ),
    "error-forbidden": Look("", "/", act=come_from_elsewhere, soak=True),
    "error-nowhere": Look("", "/nowhere", status=404),
    "error-unasked": Look("/leaderboard", "/leaderboard?players=9", status=422, soak=True),
}
"""Pages by the names of their screenshots."""


@dataclass(frozen=True)
class Town:
    """A running site."""

    url: str  # its address
    ids: dict[str, str]  # of challenges and of matches in progress, by their state
    windows: dict[str, Page]  # by the name of the user who is logged in, which may be empty


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Town]:
    """Yield a site with data for every page, and a window for each user."""
    folder: Path = tmp_path_factory.mktemp("town")
    with closing(World.at(folder)) as world:
        ids = build(world)
        put_files(world.exports, 3)
    with opened(folder) as site:
        people = {look.who for look in PAGES.values() if SOAK or not look.soak}
        windows = {who: new_page(browser) for who in people}
        for who, page in windows.items():
            page.add_init_script(WATCH_SHIFTS)
            if who:
                log_in(page, site.url, who)
        yield Town(site.url, ids, windows)
        for page in windows.values():
            page.context.close()


@pytest.fixture
def complaints(town: Town) -> Iterator[list[str]]:
    """Yield what browsers complain about during a test."""
    found: list[str] = []

    def console(message: ConsoleMessage) -> None:
        found.append(message.text)

    def error(error: Error) -> None:
        found.append(str(error))

    for page in town.windows.values():
        page.on("console", console)
        page.on("pageerror", error)
    yield found
    for page in town.windows.values():
        page.remove_listener("console", console)
        page.remove_listener("pageerror", error)


AXE: Final = {
    "resultTypes": ["violations"],
    "iframes": False,
    "preload": False,
    "rules": {"color-contrast": {"enabled": SOAK}},
}
"""Leaves out the slowest parts: details of other results and, in the short run, contrast.
``hard_to_read`` checks the contrast in both runs.
"""
LOOKS: Final = (("light", ("phone", "zoomed")), ("dark", ("desktop", "zoomed")))
"""Themes and sizes in which the short run checks pages, which alternate between the two entries."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.soak] * look.soak) for name, look in PAGES.items()]
)
def test_pages_fit_and_are_accessible(town: Town, complaints: list[str], axe: str, name: str) -> None:
    """Pages don't shift or scroll sideways, have enough contrast, and cause no complaints.

    axe-core reports no violations of WCAG 2.2 AA or of its best practices. The soak run checks each page
    in all sizes and both themes, and takes screenshots.
    """
    look, page = PAGES[name], town.windows[PAGES[name].who]
    page.set_viewport_size(SIZES["phone"])
    answer = page.goto(town.url + look.path.format(**town.ids))
    assert answer is not None
    assert answer.status == look.status
    assert len(answer.body()) < LARGEST_BYTES
    if page.locator("#film").count():
        page.locator("#film[data-ready]").wait_for()
    check_that_nothing_moved(page)
    if look.act:
        look.act(page)
        page.wait_for_load_state()  # the text of a form's next page is there before its style
    short = [each for each, look in PAGES.items() if not look.soak]
    looks = [(theme, tuple(SIZES)) for theme in PAPER] if SOAK else [LOOKS[short.index(name) % 2]]
    for theme, sizes in looks:
        see(page, axe, name, theme, sizes)
    # Chromium may report only the page's own status, if that is an error.
    assert [text for text in complaints if "Failed to load resource" not in text] == []


def await_films(page: Page) -> None:
    """Wait until the viewers on a page, including those in its frames, are ready."""
    for within in page.frames:
        if within.locator("#film").count():
            within.locator("#film[data-ready]").wait_for()


LATE_SECONDS: Final = 0.2
"""Delay of each style sheet and picture, one after the other: enough time to draw the page without it."""


@pytest.mark.parametrize("name", ["viewer-five", "front"])
def test_late_styles_and_pictures_move_nothing(town: Town, browser: Browser, name: str) -> None:
    """A first visit on a phone with a slow connection sees no layout shifts."""
    late: set[str] = set()

    def delay(route: Route) -> None:
        late.add(route.request.url.rpartition(".")[2])
        time.sleep(LATE_SECONDS)
        route.continue_()

    page = new_page(browser, viewport=SIZES["phone"])
    page.add_init_script(WATCH_SHIFTS)
    page.route(re.compile(r"\.(css|svg|png)$"), delay)
    page.goto(town.url + PAGES[name].path, wait_until="load")
    await_films(page)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    check_that_nothing_moved(page)
    assert late >= {"css", "svg"}
    page.context.close()


def transferred(page: Page, address: str) -> int:
    """Open a page with an empty cache. Return how many bytes were sent for it, except for the editor."""
    session = page.context.new_cdp_session(page)
    editor: set[str] = set()
    sizes: dict[str, int] = {}

    def begun(event: dict[str, Any]) -> None:
        if event["request"]["url"].endswith("/editor.js"):
            editor.add(event["requestId"])

    def ended(event: dict[str, Any]) -> None:
        sizes[event["requestId"]] = event["encodedDataLength"]

    session.on("Network.requestWillBeSent", begun)
    session.on("Network.loadingFinished", ended)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto(address, wait_until="load")
    await_films(page)
    session.send("Network.setCacheDisabled", {"cacheDisabled": False})
    session.detach()
    return sum(size for request, size in sizes.items() if request not in editor)


WEIGHED: Final = ("front", "viewer-five", "start")
"""Pages that the short run weighs: they have the most pictures and scripts."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.soak] * (name not in WEIGHED)) for name in PAGES]
)
def test_pages_are_light(town: Town, name: str) -> None:
    """With styles, scripts, pictures and frames, but without the editor, a page is at most 120 KB as sent."""
    look, page = PAGES[name], town.windows[PAGES[name].who]
    page.set_viewport_size(SIZES["desktop"])
    size = transferred(page, town.url + look.path.format(**town.ids))
    assert 1_000 < size < MOST_TRANSFERRED


TOUCHING: Final = """() => {
  const buttons = document.querySelectorAll("main button, main .button");
  const all = [...buttons].filter((each) => each.checkVisibility());
  const boxes = all.map((each) => each.getBoundingClientRect());
  const along = (a, b) => a.left < b.right + 4 && b.left < a.right + 4;
  const near = (a, b) => along(a, b) && a.top < b.bottom + 4 && b.top < a.bottom + 4;
  return all.flatMap((one, a) => all.slice(a + 1).filter((_, b) => near(boxes[a], boxes[a + 1 + b]))
    .map((other) => `${one.textContent.trim()} and ${other.textContent.trim()}`));
}"""
"""Returns the pairs of buttons that are less than four pixels apart."""


OVERLAPPING: Final = """() => {
  const styles = (element) => element ? [getComputedStyle(element), ...styles(element.parentElement)] : [];
  const unseen = ({ clipPath, visibility }) => clipPath !== "none" || visibility === "hidden";
  // The visible part of a box, clipped by all ancestors that scroll or hide their content.
  const visible = (box, element) => {
    let { left, right, top, bottom } = box;
    for (let e = element; e && e !== document.body; e = e.parentElement) {
      const [style, edge] = [getComputedStyle(e), e.getBoundingClientRect()];
      if (style.overflowX !== "visible") {
        [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
      }
      if (style.overflowY !== "visible") {
        [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
      }
    }
    return { left, right, top, bottom };
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const [node, element] = [walker.currentNode, walker.currentNode.parentElement];
    if (!node.data.trim() || element.closest("svg, option, dialog, .film, .skip")) continue;
    if (!element.checkVisibility() || styles(element).some(unseen)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const part = { node, ...visible(box, element) };
      if (part.right - part.left > 1 && part.bottom - part.top > 1) texts.push(part);
    }
  }
  texts.sort((a, b) => a.top - b.top);
  const found = new Set();
  for (const [at, a] of texts.entries()) {
    for (let next = at + 1; next < texts.length && texts[next].top < a.bottom - 6; next += 1) {
      const b = texts[next];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      if (a.node !== b.node && across > 1) found.add(`${a.node.data.trim()} on ${b.node.data.trim()}`);
    }
  }
  return [...found];
}"""
"""Returns the texts that overlap, outside the viewer."""


def see(page: Page, axe: str, name: str, theme: str, sizes: Sequence[str]) -> None:
    """Check an open page in a theme and in these sizes."""
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == PAPER[theme]
    for size in sizes:
        page.set_viewport_size(SIZES[size])
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"], size
        assert page.evaluate(TOUCHING) == [], size
        assert page.evaluate(OVERLAPPING) == [], size
        cards = page.locator(".film .c:visible").evaluate_all("all => all.map(e => e.offsetWidth)")
        assert min(cards, default=32) >= 32, size
        if size in {"phone", "desktop"}:
            assert hard_to_read(page) == [], size
            if SOAK:
                page.screenshot(path=SCREENSHOTS / f"{name}-{size}-{theme}.png", full_page=True)
        if (size, theme) in {("phone", "light"), ("desktop", "dark")}:
            page.evaluate(axe)
            found = page.evaluate("async (options) => (await axe.run(options)).violations", AXE)
            assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found] == []


def test_no_page_is_left_out(tmp_path: Path) -> None:
    """``PAGES`` contains the routes of all pages."""
    with closing(World.at(tmp_path)) as world:
        app = client(world).app
        assert isinstance(app, FastAPI)
        found = list(iter_route_contexts(app.routes))
    routes = {
        method: {each.path for each in found if each.path and method in (each.methods or ())}
        for method in ("GET", "POST")
    }
    shown = {look.route for look in PAGES.values() if look.route}
    # GET requests to the paths of forms only redirect.
    pages = {
        route
        for route in routes["GET"] - (routes["POST"] - shown)
        if not NO_PAGES.search(route) and not route.startswith("/static")
    }
    assert pages == shown
