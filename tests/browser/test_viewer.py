"""The replay viewer in a real browser: by keys, by mouse, without scripts, embedded, drawn by the server."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from urllib.request import urlopen

import pytest
from PIL import Image, ImageChops, ImageStat
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect

from arena.rules import Rules
from tests.browser.card_faces import drawn
from tests.browser.visits import ONCE_SCROLLED, Visit, Windows, elsewhere, hard_to_read, serving, stop_time
from tests.builders import add_bots, fill, play_matches
from tests.databases import sqlite_store
from tests.patience import wait_until
from tests.soak import many
from tests.web.site import opened
from web.http.static import STATIC
from web.viewer.pictures import FACES, FILE, HEIGHT, WIDTH

pytestmark = pytest.mark.chromium

FIVE = "/games/five-0-0"
THREE = "/games/three-0-0"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a running site with games of two to five players."""
    folder = tmp_path_factory.mktemp("data")
    with closing(sqlite_store(folder / "arena.sqlite3")) as store:
        fill(store)
        others = [(f"a-bot-with-quite-a-long-name-{number}", "someone") for number in range(5)]
        play_matches(
            store, [add_bots(store, others)], Rules(players=5, pass_both_ways=True), name="five", faults=0.04
        )
        pair = add_bots(store, [("tuna", "ann"), ("eel", "bo")])
        for name in ("two", "tie17"):
            play_matches(store, [pair], Rules(players=2), name=name)
    with opened(folder) as site:
        yield site.url


def watch(visit: Visit, path: str) -> Page:
    """Open a frame, and wait until its controls can be used."""
    visit.open(path)
    visit.page.locator("#film[data-ready]").wait_for()
    return visit.page


def shown(page: Page) -> int:
    """Return the number of the frame that is shown."""
    return int(page.locator("#film").get_attribute("data-at") or -1)


STEP = many(20, 1)
DRAWN_LIKE_SERVED = """async ([views, step]) => {
  const { draw, frameOf, addressOf } = await import("STATIC/viewer-draw.js");
  const film = document.getElementById("film");
  const texts = (root) => {
    const copy = root.cloneNode(true);
    for (const element of copy.querySelectorAll("*")) {
      const attributes = [...element.attributes].map(({ name, value }) => [name, value]).sort();
      for (const [name] of attributes) element.removeAttribute(name);
      for (const [name, value] of attributes) {
        const words = name === "class" ? value.split(" ").sort().join(" ") : value;
        if (!["disabled", "data-ready"].includes(name)) element.setAttribute(name, words);
      }
    }
    copy.querySelector("#position").removeAttribute("value");
    const code = copy.querySelector("textarea");
    if (code) code.textContent = root.querySelector("textarea").value;
    return copy.innerHTML.replace(/\\s+/g, " ").replace(/> </g, "><").replace(/ >/g, ">").trim();
  };
  const wrong = [];
  let count = 0;
  for (const [first, view] of views.entries()) {
    const data = await (await fetch(`${film.dataset.frames}?view=${view}`)).json();
    for (let index = first % step; index < data.frames.length; index += step) {
      draw(data, index);
      const address = addressOf(film.dataset.base, frameOf(data, index), view);
      const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
      const [served, drawn] = [texts(page.querySelector(".watch")), texts(document.querySelector(".watch"))];
      const positions = [page, document].map((where) => where.querySelector("#position").value);
      if (served !== drawn || positions.some((position) => position !== String(index))) {
        const at = [...served].findIndex((letter, place) => letter !== drawn[place]);
        wrong.push(`${address}: ${served.slice(at - 60, at + 60)} ≠ ${drawn.slice(at - 60, at + 60)}`);
      }
      count += 1;
    }
  }
  return [count, wrong.slice(0, 3)];
}""".replace("STATIC", STATIC)
"""Draws every nth frame of these views, and compares each with the page that the server renders."""


@pytest.mark.parametrize(
    ("path", "views", "count"),
    [
        pytest.param("/games/dummy-0-0/1/1", ["all", "seat:0", "infer:1"], 82, marks=pytest.mark.soak),
        ("/games/faulty-0-0/1/1", ["all", "seat:1", "infer:2"], 73),
        pytest.param("/games/two-0-0/1/1", ["all", "seat:1", "infer:0"], 91, marks=pytest.mark.soak),
        ("/embed/five-0-0/1/1", ["all", "seat:4", "infer:3"], 64),
    ],
)
def test_script_and_server_draw_the_same(visit: Visit, path: str, views: list[str], count: int) -> None:
    """Script and server produce the same HTML for every kind of view. The soak run compares all frames."""
    page = watch(visit, path)
    compared, wrong = page.evaluate(DRAWN_LIKE_SERVED, [views, STEP])
    assert wrong == []
    assert compared == sum(len(range(first % STEP, count, STEP)) for first in range(len(views)))


def test_a_whole_game_by_keys(url: str, visit: Visit) -> None:
    """Keys step forward and back, and jump to rounds, start and end. A reload keeps the frame."""
    begin = f"{many(3, 1)}/{many(6, 1)}"
    page = watch(visit, f"{THREE}/{begin}")
    first = shown(page)
    last = int(page.locator("#position").get_attribute("max") or 0)
    assert last - first == many(12, 81)
    for number in range(first + 1, last + 1):
        page.keyboard.press("ArrowRight")
        assert shown(page) == number
    page.keyboard.press("ArrowRight")
    assert shown(page) == last
    expect(page).to_have_url(f"{url}{THREE}/3/9?step=end")
    expect(page).to_have_title(re.compile(r"^Round 3, turn 9, end · Game \d+ · Kaiten$"))
    for number in range(last - 1, first - 1, -1):
        page.keyboard.press("ArrowLeft")
        assert shown(page) == number
    expect(page).to_have_url(f"{url}{THREE}/{begin}")
    for key, address in [
        ("Home", "/1/1"),
        ("]", "/2/1"),
        ("]", "/3/1"),
        ("]", "/3/1"),
        ("ArrowRight", "/3/1?step=reveal"),
        ("[", "/3/1"),
        ("[", "/2/1"),
        ("End", "/3/9?step=end"),
        ("Home", "/1/1"),
    ]:
        page.keyboard.press(key)
        expect(page).to_have_url(f"{url}{THREE}{address}")
    page.keyboard.press("]")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(f"{url}{THREE}/2/1?step=reveal")
    before = page.locator("#film").inner_text()
    page.reload()
    page.locator("#film[data-ready]").wait_for()
    assert page.locator("#film").inner_text() == before


def test_the_view_that_was_chosen_last_is_shown(url: str, visit: Visit) -> None:
    """Each press of Q selects the next view, even if the frames of earlier views haven't arrived yet."""
    late: list[Route] = []

    def hold(route: Route) -> None:
        late.append(route)

    # Before the page is loaded: on a busy host, a page that is open may still send requests past a new route.
    visit.page.route("**/frames.json?view=seat:0", hold)
    page = watch(visit, f"{THREE}/1/1")
    for _ in range(2):
        page.keyboard.press("q")
    expect(page.locator("#film")).to_have_attribute("data-view", "seat:1")
    # The browser may report this request only after it has the other one's response.
    wait_until(lambda: page.title() and late, "the first view's request")
    with page.expect_response("**/frames.json?view=seat:0"):
        late[0].continue_()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(f"{url}{THREE}/1/1?step=reveal&view=seat:1")


@pytest.mark.parametrize("failure", ["offline", "502"])
def test_if_a_view_can_not_be_loaded_the_viewer_stays(windows: Windows, url: str, failure: str) -> None:
    """A view that can't be loaded isn't shown; the loaded frames still work. Later it can be chosen."""
    visit = windows.open(url, "desktop", "light")
    stop_time(visit.page)  # so that the message stays
    if failure == "502":
        # Before the page is loaded: on a busy host, an open page may send requests past a new route.
        visit.page.route("**/frames.json?view=seat:0", lambda route: route.fulfill(status=502))
    page = watch(visit, f"{THREE}/1/1")
    if failure == "offline":
        page.context.set_offline(True)
    page.keyboard.press("q")
    expect(page.get_by_text("This view can't be loaded at the moment.")).to_be_visible()
    page.keyboard.press("ArrowRight")
    assert shown(page) == 1
    expect(page.locator("#film")).to_have_attribute("data-view", "all")
    page.context.set_offline(False)
    page.unroute_all()
    visit.forgive("Failed to load resource")
    page.keyboard.press("q")
    expect(page.locator("#film")).to_have_attribute("data-view", "seat:0")


def test_a_whole_game_by_mouse(url: str, visit: Visit) -> None:
    """Each control leads to the address of its link, and the slider to any frame."""
    page = watch(visit, f"{FIVE}/{many(3, 1)}/{many(6, 1)}")
    first = shown(page)
    last = int(page.locator("#position").get_attribute("max") or 0)
    assert last - first == many(6, 63)
    forward = page.get_by_role("link", name="Step forward")
    page.evaluate("window.stayed = true")
    for number in range(first + 1, last + 1):
        href = forward.get_attribute("href")
        forward.click()
        assert shown(page) == number
    expect(page).to_have_url(f"{url}{href}")
    expect(page.get_by_role("link", name="Step forward")).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("link", name="Step forward")).to_be_focused()
    for name, address in [
        ("Previous round", "/3/1"),
        ("Next turn", "/3/2"),
        ("Previous turn", "/3/1"),
        ("Step back", "/2/7?step=score"),
        ("Start", "/1/1"),
        ("Next round", "/2/1"),
        ("End", "/3/7?step=end"),
    ]:
        page.get_by_role("navigation", name="Steps").get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_url(f"{url}{FIVE}{address}")
    page.get_by_role("slider").fill("4")
    expect(page).to_have_url(f"{url}{FIVE}/1/2?step=reveal")
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == "Round 1, turn 2, reveal"
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(f"{url}{FIVE}/1/2?step=pass")
    assert page.evaluate("window.stayed") is True


def test_it_plays_automatically(windows: Windows, url: str) -> None:
    """The game plays to the end at the chosen speed. A manual step stops it. Space starts and pauses it."""
    visit = windows.open(url, "desktop", "light")
    stop_time(visit.page)
    page = watch(visit, f"{THREE}/1/1")
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.clock.run_for(300)
    assert shown(page) == 1
    page.clock.run_for(2000)
    assert shown(page) > 4
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    stopped = shown(page)
    page.clock.run_for(2000)
    assert shown(page) == stopped
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("End")
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    page.clock.run_for(5000)
    assert shown(page) == 81
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press("Space")
    page.clock.run_for(300)
    assert shown(page) == 1
    page.keyboard.press("Space")
    page.clock.run_for(2000)
    assert shown(page) == 1


def test_moments_and_views_by_keys_and_mouse(url: str, visit: Visit) -> None:
    """X goes to the next moment, and Q through all views. Changing the frame keeps the view."""
    page = watch(visit, "/games/faulty-0-0/1/1")
    moments = [
        int(at) for at in page.locator("[data-event]").evaluate_all("all => all.map(e => e.dataset.event)")
    ]
    for moment in sorted(set(moments)):
        page.keyboard.press("x")
        assert shown(page) == moment
        here = page.locator("[data-event][aria-current=step]")
        assert here.count() == moments.count(moment)
    page.keyboard.press("x")
    assert shown(page) == moments[-1]
    page.get_by_role("region", name="Moments").get_by_role("link", name="end of round 2").click()
    expect(page).to_have_url(f"{url}/games/faulty-0-0/2/8?step=score")
    page.keyboard.press("Home")
    for view in ["seat:0", "seat:1", "seat:2", "seat:3", "infer:0", "infer:1", "infer:2", "infer:3", "all"]:
        page.keyboard.press("q")
        expect(page.locator("#film")).to_have_attribute("data-view", view)
    page.get_by_text("As seen by").click()
    page.get_by_role("group", name="As a seat saw it").get_by_role("link", name="greedy").click()
    expect(page.get_by_role("group", name="As a seat saw it")).to_be_hidden()
    expect(page.locator("summary").first).to_have_text("As seen by greedy")
    expect(page.locator("summary").first).to_be_focused()
    expect(page.locator('[data-seat="0"] .hand use').first).to_have_attribute(
        "href", f"{STATIC}/cards.svg#back"
    )
    page.keyboard.press("]")
    expect(page).to_have_url(f"{url}/games/faulty-0-0/2/1?view=seat:1")
    page.get_by_text("Inferred by").click()
    page.get_by_role("group", name="What a seat could infer").get_by_role("link", name="random").click()
    expect(page.get_by_role("region", name="Unseen cards")).to_be_visible()
    expect(page).to_have_url(f"{url}/games/faulty-0-0/2/1?view=infer:0")
    page.get_by_role("link", name="All hands").click()
    expect(page.get_by_role("region", name="Unseen cards")).to_be_hidden()


def test_link_code_and_seed_are_copied(windows: Windows, url: str) -> None:
    """Keys and buttons copy the link, the embed code and the seed of the frame that is shown."""
    visit = windows.open(url, "desktop", "light")
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    stop_time(visit.page)  # the notice of a copy disappears after a while
    page = watch(visit, f"{FIVE}/1/1?view=infer:2")
    page.keyboard.press("]")
    page.keyboard.press("ArrowRight")

    def copied() -> str:
        text: str = page.evaluate("navigator.clipboard.readText()")
        return text

    page.keyboard.press("c")
    expect(page.get_by_text("Link copied")).to_be_visible()
    assert copied() == f"{url}{FIVE}/2/1?step=reveal&view=infer:2"
    page.keyboard.press("e")
    expect(page.get_by_text("Embed code copied")).to_be_visible()
    assert f'src="{url}/embed/five-0-0/2/1?step=reveal&amp;view=infer:2"' in copied()
    assert page.get_by_label("Embed").input_value() == copied()
    page.get_by_role("button", name="Copy seed").click()
    expect(page.get_by_text("Seed copied")).to_be_visible()
    assert re.fullmatch(r"[0-9a-f]{32}", copied())
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Link copied")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the replay").click()
    assert download.value.suggested_filename == "five-0-0.json"


def test_copying_works_without_https(windows: Windows, url: str) -> None:
    """Without HTTPS, browsers offer no clipboard API on a network, so the page falls back to an older one."""
    visit = windows.open(url.replace("127.0.0.1", "arena.example"), "desktop", "light")
    stop_time(visit.page)
    page = watch(visit, f"{THREE}/1/1")
    assert page.evaluate("navigator.clipboard") is None
    page.keyboard.press("c")
    expect(page.get_by_text("Link copied")).to_be_visible()


def test_keys_leave_inputs_alone_and_can_be_switched_off(visit: Visit) -> None:
    """In fields, in the dialog and with Control, keys have their usual meaning. The switch is remembered."""
    page = watch(visit, f"{THREE}/2/1")
    start = shown(page)
    page.get_by_label("Embed").focus()
    for key in ("ArrowRight", "x", "q", "]", "End"):
        page.keyboard.press(key)
    page.get_by_label("Speed").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+ArrowRight")
    assert shown(page) == start
    expect(page.locator("#film")).to_have_attribute("data-view", "all")

    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_be_visible()
    page.keyboard.press("]")
    assert shown(page) == start
    dialog.get_by_label("Enable keyboard shortcuts").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("?")
    expect(dialog).to_be_hidden()
    assert shown(page) == start
    page.reload()
    page.locator("#film[data-ready]").wait_for()
    page.keyboard.press("ArrowRight")
    assert shown(page) == start
    page.get_by_role("button", name="Keyboard shortcuts").click()
    dialog.get_by_label("Enable keyboard shortcuts").check()
    dialog.get_by_role("button", name="Close").click()
    page.keyboard.press("ArrowRight")
    assert shown(page) == start + 1


def test_the_keyboard_reaches_everything_and_shows_where_it_is(visit: Visit) -> None:
    """Tab reaches every control, and the focused one is visible and outlined. Space presses a button."""
    visit.resize("phone")
    page = watch(visit, f"{THREE}/1/2")
    reached: list[str] = []
    for _ in range(45):
        page.keyboard.press("Tab")
        name, outline, seen = page.evaluate(
            """() => {
              const focused = document.activeElement;
              const box = focused.getBoundingClientRect();
              const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
              return [
                focused.id || focused.textContent.trim(),
                getComputedStyle(focused).outlineStyle,
                focused.contains(top) || top === null || !focused.closest("main"),
              ];
            }"""
        )
        reached.append(name)
        assert outline == "solid", name
        assert seen, f"{name} has the focus, but is covered"
    wanted = ["All hands", "Start", "Step back", "play", "Step forward", "End", "speed", "help", "position"]
    assert set(wanted) <= set(reached)
    page.locator("#help").focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def test_arrows_scroll_the_score_sheet_if_it_has_the_focus(visit: Visit) -> None:
    """On a wide window, where it doesn't scroll, they still step through the game."""
    page = watch(visit, f"{FIVE}/1/1")
    page.keyboard.press("End")
    last = shown(page)
    sheet = page.get_by_role("region", name="Score sheet")
    visit.resize("zoomed")
    sheet.focus()
    page.keyboard.press("ArrowRight")
    sheet.evaluate(ONCE_SCROLLED, "scrollLeft")
    page.keyboard.press("ArrowLeft")
    assert shown(page) == last
    visit.resize("wide")
    page.keyboard.press("ArrowLeft")
    assert shown(page) == last - 1


SHEET_IN_SIGHT: str = """() => {
  const box = (part) => part.getBoundingClientRect();
  const [sheet, counter] = [box(document.getElementById("sheet")), box(document.querySelector(".counter"))];
  const table = box(document.querySelector("#sheet table"));
  if (scrollY || counter.bottom > innerHeight || table.bottom > counter.top) return [];
  const heads = [...document.querySelectorAll("#sheet thead tr > *")];
  return heads.filter((head) => box(head).right <= sheet.right).map((head) => head.textContent);
}"""
"""Returns the columns of the score sheet that are visible without scrolling, above the controls."""

LONG_NAMES: str = """() => [...document.querySelectorAll(".seat h3 > span:last-child")].map((name) => ({
  cut: name.scrollWidth > name.clientWidth, title: name.title, whole: name.textContent,
}))"""
"""Returns for each seat's name whether it is cut off, its tooltip and its whole text."""


@pytest.mark.parametrize(
    ("size", "theme"),
    [
        ("phone", "dark"),
        pytest.param("desktop", "light", marks=pytest.mark.soak),
        pytest.param("phone", "light", marks=pytest.mark.soak),
        pytest.param("desktop", "dark", marks=pytest.mark.soak),
    ],
)
def test_the_end_shows_who_has_won_and_every_name(visit: Visit, size: str, theme: str) -> None:
    """Only the first place's label is filled. A shortened name is available in full, also to screen readers.

    A phone shows the controls and the sheet, with points, rounds and puddings, without scrolling.
    """
    visit.resize(size)
    visit.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page = watch(visit, f"{FIVE}/3/7?step=end")
    places = page.locator(".facts .tag").filter(has_text="place ")
    filled = [
        (place.inner_text(), place.evaluate("e => getComputedStyle(e).backgroundColor"))
        for place in places.all()
    ]
    assert sorted(text for text, _ in filled) == [f"place {number}" for number in range(1, 6)]
    assert {colour == "rgba(0, 0, 0, 0)" for text, colour in filled if text != "place 1"} == {True}
    assert dict(filled)["place 1"] != "rgba(0, 0, 0, 0)"
    assert hard_to_read(page) == []
    if size == "phone":
        assert page.evaluate(SHEET_IN_SIGHT) == ["", "Points", "Round 1", "Round 2", "Round 3", "Puddings"]
    visit.keep(f"viewer-end-five-{size}-{theme}")
    page.set_viewport_size(ViewportSize(width=1050, height=1100))  # the narrowest ring
    names = page.evaluate(LONG_NAMES)
    assert any(name["cut"] for name in names)
    for name in names:
        assert name["title"] == name["whole"]
        expect(
            page.get_by_role("region", name=re.compile(rf"^\d {re.escape(name['whole'])}$"))
        ).to_have_count(1)


def test_the_end_explains_a_tie(visit: Visit) -> None:
    """The text says that puddings broke the tie, and is visible without scrolling."""
    page = watch(visit, "/games/tie17-0-1/3/10?step=end")
    words = r"tuna wins.* tuna and eel have 56 points each; puddings break the tie: tuna \d, eel \d\."
    expect(page.locator("#says")).to_have_text(re.compile(words))
    box = page.locator("#says").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900


PARTS_THAT_STAY: str = """() => {
  const names = "#film > *, .seat header, .seat .no, .seat h3, .seat .score b, .race, .moments";
  const parts = [...document.querySelectorAll(names)];
  const still = parts.filter((part) => !part.matches(".says, .sheet"));
  return still.map((part) => {
    const { left, top } = part.getBoundingClientRect();
    const name = part.className.baseVal ?? part.className.replace(" leads", "");
    return [name, Math.round(left), Math.round(top)];
  });
}"""
"""Returns the positions of seats, names, scores, controls, the graph and the moments."""


def reach_the_end(page: Page) -> None:
    """Go to the score sheet, and check that nothing else moves."""
    before = page.evaluate(PARTS_THAT_STAY)
    page.keyboard.press("End")
    expect(page.get_by_role("region", name="Score sheet")).to_be_visible()
    assert page.evaluate(PARTS_THAT_STAY) == before, page.viewport_size


@pytest.mark.parametrize(
    "game", [f"{FIVE}/3/7", pytest.param(f"{THREE}/3/9", marks=pytest.mark.soak), "/games/two-0-0/3/10"]
)
def test_nothing_moves_at_the_end_of_the_ring(visit: Visit, game: str) -> None:
    """The whole score sheet fits into the ring, between the controls and the seats below."""
    page = watch(visit, f"{game}?step=score")
    for width, height in ((1024, 768), (1280, 720), (1280, 800), (1920, 1080)):
        page.set_viewport_size(ViewportSize(width=width, height=height))
        reach_the_end(page)
        unseen = "e => [e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth]"
        assert page.locator("#sheet").evaluate(unseen) == [0, 0], (width, height)
        assert page.locator("#says").evaluate(unseen) == [0, 0], (width, height)
        names = page.locator("#sheet bdi").evaluate_all(
            "all => all.map((e) => e.scrollWidth > e.clientWidth)"
        )
        assert width < 1920 or not any(names)
        page.keyboard.press("ArrowLeft")


ROWS_IN_SEATS: str = """() => [...document.querySelectorAll("#sheet tbody tr")].map((row) => {
  const seat = document.querySelector(`.seat.s${row.className.match(/s([0-9])/)[1]}`);
  const [inner, outer] = [row, seat].map((part) => part.getBoundingClientRect());
  const name = seat.querySelector("h3 bdi").textContent;
  return [
    row.querySelector("bdi").textContent.split("@")[0] === name,
    row.querySelector("td b").textContent === seat.querySelector(".score b").textContent,
    seat.querySelector("header").getBoundingClientRect().bottom <= inner.top && inner.bottom <= outer.bottom,
  ];
})"""
"""Returns whether each row of the score sheet has its seat's name and points, and is below its header."""


@pytest.mark.parametrize(
    "game",
    [
        f"{FIVE}/3/7",
        pytest.param("/games/faulty-0-0/3/8", marks=pytest.mark.soak),
        pytest.param(f"{THREE}/3/9", marks=pytest.mark.soak),
        "/games/two-0-0/3/10",
        pytest.param("/games/dummy-0-0/3/9", marks=pytest.mark.soak),
    ],
)
def test_nothing_moves_at_the_end_in_narrow_windows(visit: Visit, game: str) -> None:
    """The score sheet has a row in each seat, where its cards were."""
    page = watch(visit, f"{game}?step=score")
    for width, height in ((390, 844), (600, 900), (768, 1024), (890, 1100)):
        page.set_viewport_size(ViewportSize(width=width, height=height))
        reach_the_end(page)
        assert {tuple(row) for row in page.evaluate(ROWS_IN_SEATS)} == {(True, True, True)}
        heads = page.evaluate(SHEET_IN_SIGHT)[:6]
        assert heads == ["", "Points", "Round 1", "Round 2", "Round 3", "Puddings"]
        page.keyboard.press("ArrowLeft")


COVERED: str = """() => {
  const boxes = [...document.querySelectorAll(".placed b")].map((badge) => badge.getBoundingClientRect());
  const on = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  const covered = boxes.filter((one, at) => boxes.slice(at + 1).some((other) => on(one, other)));
  return [boxes.length, covered.length];
}"""
"""Counts the numbers on stacks, and those that another one covers."""


def test_numbers_of_stacks_do_not_cover_each_other(visit: Visit) -> None:
    """Even maki, which show points as well as icons, don't cover the points of the stack next to them."""
    visit.resize("phone")
    found = 0
    for path in (f"{FIVE}/1/7", f"{FIVE}/2/7", f"{FIVE}/3/7", f"{THREE}/1/9", "/games/faulty-0-0/2/8"):
        numbers, covered = watch(visit, f"{path}?step=score").evaluate(COVERED)
        found += numbers
        assert covered == 0, path
    assert found > 20


def test_screen_readers_are_told_what_changed(visit: Visit) -> None:
    """A status names the frame and what happened, once stepping has stopped. It is empty at first."""
    page = watch(visit, f"{THREE}/1/1")
    status = page.locator("#announcement")
    assert status.get_attribute("role") == "status"
    assert status.inner_text() == ""
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(status).to_have_text(re.compile(r"^Round 1, turn 2, reveal\. \S+: "))
    said = page.locator("#says").inner_text()
    assert status.inner_text() == f"Round 1, turn 2, reveal. {said}"


def test_screen_readers_hear_numbers_and_words(visit: Visit) -> None:
    """Numbers and words are separate, and "1 point" is in the singular."""
    heard: set[tuple[str, str]] = set()
    for path in (f"{FIVE}/1/4?step=reveal", f"{FIVE}/2/7?step=score", f"{THREE}/1/9?step=score"):
        for text in watch(visit, path).locator(".score, .stack").all_text_contents():
            assert not re.search(r"\d[a-z]|[a-z]\d", text), text
            heard |= set(re.findall(r"(\d+) (points?|icons?)", text))
    assert {("1", "point"), ("1", "icon")} <= heard
    assert {word for number, word in heard if number != "1"} == {"points", "icons"}
    assert {word for number, word in heard if number == "1"} == {"point", "icon"}


def test_all_of_it_can_be_read_without_scripts(plain: Visit, url: str) -> None:
    """Links lead to frames and views. Controls that need a script are hidden."""
    plain.resize("phone")
    page = plain.page
    plain.open(f"{FIVE}/1/3")
    for name, path in [
        ("Step forward", "/1/3?step=reveal"),
        ("Step forward", "/1/3?step=pass"),
        ("Next turn", "/1/4"),
        ("Next round", "/2/1"),
        ("End", "/3/7?step=end"),
    ]:
        page.get_by_role("navigation", name="Steps").get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_url(f"{url}{FIVE}{path}")
    expect(page.get_by_role("region", name="Score sheet")).to_be_visible()
    page.get_by_role("link", name="Previous turn").click()
    page.get_by_text("Inferred by").click()
    page.get_by_role("group", name="What a seat could infer").get_by_role("link").nth(2).click()
    expect(page).to_have_url(f"{url}{FIVE}/3/7?view=infer:2")
    expect(page.get_by_role("region", name="Unseen cards")).to_be_visible()
    plain.keep("viewer-no-script")
    for control in ("#play", "#speed", "#help", "#position"):
        expect(page.locator(control)).to_be_hidden()


def slow_down(page: Page) -> None:
    """Make animations so slow that none is over before it is checked."""
    motion = page.context.new_cdp_session(page)
    motion.send("Animation.enable")
    motion.send("Animation.setPlaybackRate", {"playbackRate": 0.001})


def test_cards_move_along_the_belt_unless_motion_is_unwelcome(windows: Windows, url: str) -> None:
    """Hands and belt move in a pass, cards in a reveal; with reduced motion the same frames just appear."""
    visit = windows.open(url, "desktop", "light")
    for motion in ("no-preference", "reduce"):
        visit.page.emulate_media(reduced_motion="reduce" if motion == "reduce" else "no-preference")
        page = watch(visit, f"{FIVE}/1/2")
        slow_down(page)
        moving = []
        for _ in range(3):
            page.keyboard.press("ArrowRight")
            moving.append(
                page.evaluate(
                    """() => document.getElementById("film").getAnimations({ subtree: true })
                      .map(({ effect }) => effect.target.className.baseVal ?? effect.target.className)"""
                )
            )
        if motion == "reduce":
            assert moving == [[], [], []]
        else:
            reveal, passed, chosen = moving
            assert reveal.count("c new") >= 5
            assert passed.count("hand") == 5
            assert "plates" in passed
            assert chosen.count("c picked") >= 5


WIDEST: str = """() => {
  let widest = 0;
  const animations = document.getElementById("film").getAnimations({ subtree: true });
  for (const animation of animations) {
    animation.pause();
    animation.currentTime = 0.5 * animation.effect.getTiming().duration;
  }
  for (const hand of document.querySelectorAll(".seat .hand")) {
    const boxes = [...hand.children].map((card) => card.getBoundingClientRect());
    const [left, right] = [boxes.map((box) => box.left), boxes.map((box) => box.right)];
    widest = Math.max(widest, Math.max(...right) - Math.min(...left));
  }
  return [widest, document.querySelector(".seat .hand").offsetHeight];
}"""
"""Returns the width of the widest hand halfway through its pass, and the width of the belt."""


def test_a_wide_hand_passes_without_leaving_the_belt(windows: Windows, url: str) -> None:
    """The hand's ten cards overlap during the pass."""
    page = watch(windows.open(url, "desktop", "light"), "/games/two-0-0/1/1?step=reveal")
    slow_down(page)
    page.keyboard.press("ArrowRight")
    hand, belt = page.evaluate(WIDEST)
    assert 0 < hand <= belt


ALL_IN_SIGHT: str = """() => {
  const box = (part) => part.getBoundingClientRect();
  const controls = box(document.querySelector(".counter"));
  const names = ".seat .hand .c, .seat .placed .c, .seat header, .counter > *, .transport > *";
  const parts = [...document.querySelectorAll(names)];
  const isRing = getComputedStyle(document.querySelector(".loop")).display !== "none";
  const low = isRing ? innerHeight : controls.top;
  return parts.filter((part) => {
    const { top, bottom } = box(part);
    return top < 0 || bottom > (part.closest(".counter") ? innerHeight : low) + 1;
  }).map((part) => part.className);
}"""
"""Finds parts of the table that are cut off by the window or hidden behind the controls."""


CUT_BY_FRAME: str = f"""async (step) => {{
  const {{ draw }} = await import("{STATIC}/viewer-draw.js");
  const film = document.getElementById("film");
  const data = await (await fetch(`${{film.dataset.frames}}?view=all`)).json();
  const last = data.frames.length - 1;
  const indices = [...data.frames.keys()].filter((index) => index % step === 0 || index === last);
  return indices.reverse().flatMap((index) => {{
    draw(data, index);
    return ({ALL_IN_SIGHT})().map((part) => `${{part}} in frame ${{index}}`);
  }});
}}"""
"""Draws the last frame, then every nth one back to the first, and returns the parts that aren't in sight."""


@pytest.mark.parametrize(
    "game",
    [
        "two-0-0",
        pytest.param("three-0-0", marks=pytest.mark.soak),
        pytest.param("faulty-0-0", marks=pytest.mark.soak),
        "five-0-0",
    ],
)
def test_table_and_controls_are_in_sight_at_once(visit: Visit, game: str) -> None:
    """On desktops, tables of two to five seats need no scrolling. Cards grow with the window."""
    page = watch(visit, f"/games/{game}/1/1")
    widths = []
    for width, height in ((1024, 768), (1280, 800), (1920, 1080)):
        page.set_viewport_size(ViewportSize(width=width, height=height))
        assert page.evaluate(CUT_BY_FRAME, STEP) == [], width
        widths.append(page.locator(".hand .c").first.evaluate("card => card.offsetWidth"))
    assert widths == sorted(set(widths))


CONTROLS_BY_FRAME: str = """async () => {
  const { draw } = await import("STATIC/viewer-draw.js");
  const film = document.getElementById("film");
  const data = await (await fetch(`${film.dataset.frames}?view=all`)).json();
  return [...data.frames.keys()].map((index) => {
    draw(data, index);
    return Math.round(document.querySelector(".counter").getBoundingClientRect().top);
  });
}""".replace("STATIC", STATIC)
"""Draws each frame, and returns the vertical position of the controls in it."""


@pytest.mark.parametrize("game", ["faulty-0-0", pytest.param("two-0-0", marks=pytest.mark.soak)])
def test_the_controls_of_a_phone_stay_where_they_are(visit: Visit, game: str) -> None:
    """The controls don't move from the first frame to the last, whatever is next to a seat's name."""
    visit.resize("phone")
    visit.page.emulate_media(reduced_motion="reduce")
    page = watch(visit, f"/games/{game}/1/1")
    tops = page.evaluate(CONTROLS_BY_FRAME)
    assert len(tops) == int(page.locator("#position").get_attribute("max") or 0) + 1
    assert len(set(tops)) == 1


def test_a_phone_shows_a_row_per_seat_above_the_controls(visit: Visit) -> None:
    """The hand is next to the placed cards, and nothing moves when a card is played."""
    visit.resize("phone")
    page = watch(visit, "/games/dummy-0-0/1/3")
    assert page.evaluate(ALL_IN_SIGHT) == []
    for seat in page.locator(".seat").all():
        hand, placed = (seat.locator(part).bounding_box() for part in (".hand", ".placed"))
        assert hand is not None
        assert placed is not None
        assert hand["x"] + hand["width"] <= placed["x"]
        assert hand["y"] < placed["y"] + placed["height"] / 2 < hand["y"] + hand["height"]
    places = (
        "() => [...document.querySelectorAll('.seat, .counter')].map((e) => e.getBoundingClientRect().top)"
    )
    before = page.evaluate(places)
    for _ in range(20):
        page.keyboard.press("ArrowRight")
        assert page.evaluate(places) == before


def test_small_phones_show_five_seats_and_the_controls(visit: Visit) -> None:
    """Seats and controls are all visible once the page has been scrolled to the table."""
    page = watch(visit, f"{FIVE}/1/3")
    visit.resize("small")
    page.evaluate("document.getElementById('film').scrollIntoView()")
    assert page.evaluate(ALL_IN_SIGHT) == []


def test_nothing_sticks_in_a_short_window(visit: Visit) -> None:
    """At 400%, a window of 1280 by 800 pixels has only 320 by 200. The controls then scroll with the page."""
    page = watch(visit, f"{FIVE}/2/3")
    page.set_viewport_size(ViewportSize(width=320, height=200))
    stuck = page.evaluate(
        """() => [...document.querySelectorAll("*")].map((e) => getComputedStyle(e))
          .filter(({ position }) => position === "sticky" || position === "fixed")
          .filter(({ visibility }) => visibility === "visible").length"""
    )
    assert stuck == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_back_and_forward_go_from_jump_to_jump(url: str, visit: Visit) -> None:
    """Single steps add nothing to the history. Back leads to the last frame before a jump."""
    page = watch(visit, f"{THREE}/1/1")
    for key in ("ArrowRight", "ArrowRight", "]", "ArrowRight", "End"):
        page.keyboard.press(key)
    expect(page).to_have_url(f"{url}{THREE}/3/9?step=end")
    for way, address, at in (
        ("back", "/2/1?step=reveal", 28),
        ("back", "/1/1?step=pass", 2),
        ("forward", "/2/1?step=reveal", 28),
        ("forward", "/3/9?step=end", 81),
    ):
        page.evaluate(f"history.{way}()")
        expect(page).to_have_url(f"{url}{THREE}{address}")
        expect(page.locator("#film")).to_have_attribute("data-at", str(at))


SWIPE: str = """([x, y, on]) => {
  const film = document.querySelector(on);
  const touch = (clientX, clientY) => new Touch({ identifier: 1, target: film, clientX, clientY });
  const fire = (type, touches, changedTouches) =>
    film.dispatchEvent(new TouchEvent(type, { touches, changedTouches, bubbles: true }));
  fire("touchstart", [touch(200, 300)], [touch(200, 300)]);
  fire("touchend", [], [touch(200 + x, 300 + y)]);
}"""


def test_a_swipe_is_a_step(visit: Visit) -> None:
    """Swiping to the left steps forward, and to the right back. Taps and other swipes don't step."""
    visit.resize("phone")
    page = watch(visit, f"{THREE}/1/2")
    for across, along, at in ((-90, 10, 4), (-90, 80, 4), (-20, 0, 4), (0, -200, 4), (90, -20, 3)):
        page.evaluate(SWIPE, [across, along, "#film"])
        assert shown(page) == at
    page.keyboard.press("End")
    last = shown(page)
    page.evaluate(SWIPE, [90, 0, "#sheet td"])
    assert shown(page) == last


def test_the_race_shows_where_we_are(visit: Visit) -> None:
    """It has a scale, and a named line per player up to the current frame. Showing it moves nothing."""
    page = watch(visit, f"{FIVE}/1/1")
    race, moments = page.locator(".race"), page.get_by_role("region", name="Moments")
    assert page.locator(".race .line").count() == page.locator(".race figcaption span").count() == 5
    expect(race).to_be_hidden()
    below = moments.bounding_box()
    page.keyboard.press("]")
    expect(race).to_be_visible()
    assert moments.bounding_box() == below
    levels = [int(level) for level in page.locator(".race .levels span").all_inner_texts()]
    assert levels == list(range(levels[0], -1, -20))
    most = max(int(points) for points in page.locator("#sheet tbody td:nth-child(2)").all_text_contents())
    assert levels[1] < most <= levels[0]
    assert page.locator(".race .rounds span").all_inner_texts() == ["Round 1", "Round 2", "Round 3"]
    assert re.match(r"M21 0V\d+$", page.locator(".race .now").get_attribute("d") or "")
    assert page.locator("#raced").get_attribute("width") == "22"


def test_kaiten_tv_fits_into_its_window(windows: Windows, url: str) -> None:
    """Even the table of five players fits, with the graph of their points and their names."""
    visit = windows.open(url, "desktop", "light")
    stop_time(visit.page)  # it plays by itself
    page = watch(visit, "/tv/games/five-0-0")
    for width, height in ((390, 844), (1024, 768), (1280, 800), (1920, 1080)):
        page.set_viewport_size(ViewportSize(width=width, height=height))
        for _ in range(9):  # three turns
            assert page.evaluate("document.documentElement.scrollHeight") <= height
            page.keyboard.press("ArrowRight")


def refuse_twice(page: Page, address: str) -> list[Route]:
    """Make requests for an address fail: the first is aborted, others get a 502. Return a list of them."""
    asked: list[Route] = []

    def refuse(route: Route) -> None:
        asked.append(route)
        if len(asked) == 1:
            route.abort()
        else:
            route.fulfill(status=502)

    page.route(address, refuse)
    return asked


def test_kaiten_tv_goes_from_game_to_game(windows: Windows, url: str) -> None:
    """Kaiten TV plays a game and shows the score sheet for a while. Each game has its own address.

    While the site can't be reached, or returns an error, the score sheet stays.
    """
    visit = windows.open(url, "desktop", "light")
    stop_time(visit.page)
    visit.open("/tv?after=five-0-0")
    page = visit.page
    page.locator("#film[data-ready]").wait_for()
    first = page.url
    page.get_by_role("button", name="Pause").click()
    page.keyboard.press("End")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("button", name="Play").click()
    for _ in range(20):  # seconds, which is more than these frames take
        page.clock.run_for(1000)
        if page.locator("#film.ended").count():
            break
    expect(page.locator("#where")).to_contain_text("End")
    expect(page.get_by_role("region", name="Score sheet")).to_be_visible()
    page.clock.run_for(10_000)
    assert page.url == first
    asked = refuse_twice(page, "**/tv?after=*")
    visit.forgive("Failed to load resource")

    def after_a_second(happened: Callable[[], bool]) -> bool:
        page.clock.run_for(1000)
        return happened()

    wait_until(lambda: after_a_second(lambda: len(asked) > 1), "two requests", pause=0.1)
    assert page.url == first
    expect(page.get_by_role("region", name="Score sheet")).to_be_visible()
    page.unroute_all()
    wait_until(lambda: after_a_second(lambda: page.url != first), "the next game", pause=0.1)
    expect(page).to_have_url(re.compile(rf"^{url}/tv/games/"))
    page.locator("#film[data-ready]").wait_for()
    assert shown(page) == 0


def blog(frame: str) -> str:
    """Return a page that shows an address in a frame."""
    return f'<!doctype html><title>blog</title><iframe src="{frame}" width="1000" height="760"></iframe>'


def test_other_sites_can_show_a_game_and_nothing_else(windows: Windows, url: str) -> None:
    """The embeddable page works in a frame on another site. The viewer's normal page is refused there."""
    with elsewhere(blog(f"{url}/embed/five-0-0/2/3?view=seat:1")) as other:
        visit = windows.open(other, "desktop", "light")
        visit.open("/")
        frame = visit.page.frame_locator("iframe")
        frame.locator("#film[data-ready]").wait_for()
        frame.get_by_role("link", name="Step forward").click()
        expect(frame.locator("#where")).to_contain_text("Reveal")
        expect(frame.get_by_role("link", name="on Kaiten")).to_have_attribute(
            "href", "/games/five-0-0/2/3?step=reveal&view=seat:1"
        )
        visit.keep("viewer-embedded")
    with elsewhere(blog(f"{url}{FIVE}/2/3")) as other:
        visit = windows.open(other, "desktop", "light")
        with visit.page.expect_console_message(lambda message: "frame-ancestors" in message.text):
            visit.open("/")
        expect(visit.page.frame_locator("iframe").locator("#film")).to_have_count(0)
        visit.forgive("frame-ancestors")


SHIFT = """() => new Promise((resolve) => {
  let total = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => { total += entry.value; }))
    .observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => setTimeout(() => resolve(total), 200));
})"""


def over_a_slow_line(url: str) -> AbstractContextManager[str]:
    """Relay a site, and send pages in parts, so that a browser may draw each part as it arrives."""

    def relay(request: BaseHTTPRequestHandler) -> None:
        with urlopen(url + request.path) as answer:  # noqa: S310 - of our own site
            body = answer.read()
            request.send_response(200)
            request.send_header("Content-Type", answer.headers["Content-Type"])
        request.end_headers()
        for part in re.split(rb"(?=<section|<ol|<dialog)", body):
            request.wfile.write(part)
            request.wfile.flush()
            if body.startswith(b"<!doctype html>"):
                time.sleep(0.03)

    return serving(relay)


@pytest.mark.parametrize(
    ("size", "path"),
    [
        ("phone", f"{THREE}/1/1"),
        pytest.param("desktop", "/embed/five-0-0/1/3", marks=pytest.mark.soak),
        pytest.param("phone", "/embed/five-0-0/1/3", marks=pytest.mark.soak),
        pytest.param("desktop", f"{THREE}/1/1", marks=pytest.mark.soak),
    ],
)
def test_nothing_shifts_while_the_page_arrives(windows: Windows, url: str, size: str, path: str) -> None:
    """Seats and counter arrive in a different order from that on screen, so they are drawn together."""
    with over_a_slow_line(url) as slow:
        visit = windows.open(slow, size, "light")
        assert watch(visit, path).evaluate(SHIFT) == 0


OVERLAPS = """() => {
  const names = [".where", "nav", ".options", ".scrub input", ".says", ".hand", ".placed", ".seat header"];
  const parts = names.flatMap((name) => [...document.querySelectorAll(`#film ${name}`)]);
  const within = getComputedStyle(document.querySelector(".counter")).position === "sticky";
  const boxes = parts.filter((part) => !within || part.closest(".counter"))
    .map((part) => [part, part.getBoundingClientRect()]);
  const film = document.getElementById("film").getBoundingClientRect();
  const wrong = boxes.filter(([, box]) => box.left < film.left - 8 || box.right > film.right + 8)
    .map(([part]) => `${part.className} sticks out`);
  for (const [one, a] of boxes) {
    for (const [other, b] of boxes) {
      const aside = a.right <= b.left + 1 || b.right <= a.left + 1;
      const apart = aside || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
      if (one !== other && !apart) wrong.push(`${one.className || one.id} on ${other.className || other.id}`);
    }
  }
  return [document.documentElement.scrollWidth, wrong];
}"""
"""Finds parts of the table that overlap. A bar that sticks to the window's edge may cover parts."""


@pytest.mark.parametrize(
    "path",
    [
        f"{FIVE}/2/3?step=reveal",
        pytest.param("/games/two-0-0/1/1", marks=pytest.mark.soak),
        pytest.param("/games/dummy-0-0/2/4", marks=pytest.mark.soak),
    ],
)
def test_no_width_makes_parts_overlap(visit: Visit, path: str) -> None:
    """The widths include small phones, wall screens, and those at which a row of seats becomes a ring."""
    page = watch(visit, path)
    for width in (360, 480, 700, 950, 1000, 1050, 1100, 1200, 1280, 1440, 1920, 2560):
        page.set_viewport_size(ViewportSize(width=width, height=1100))
        scroll, overlaps = page.evaluate(OVERLAPS)
        assert scroll <= width
        assert overlaps == [], width


def test_the_faces_of_pictures_are_those_of_the_site(browser: Browser) -> None:
    """``web/viewer/cards.png`` looks like ``cards.svg``, except for the number of colours."""
    with Image.open(BytesIO(drawn(browser))) as fresh, Image.open(FILE) as kept:
        difference = ImageChops.difference(fresh.convert("RGBA"), kept.convert("RGBA"))
    for number, name in enumerate(FACES):
        one = difference.crop((number * WIDTH, 0, (number + 1) * WIDTH, HEIGHT))
        assert max(ImageStat.Stat(one).mean) < 3, f"{name}: run python -m tests.browser.card_faces"
