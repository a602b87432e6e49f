"""Pages in a real browser: without scripts, by keyboard, for screen readers, on phones, in time zones.

Also data files: downloads, and requests by a notebook that runs in the browser on another site.
"""

import random
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import httpx2
import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from arena.ops.export.manifest import MANIFEST
from arena.rules import Rules
from tests.accounts.world import PASSWORD
from tests.browser.visits import NAME, ONCE_SCROLLED, Visit, Windows, elsewhere, follow, new_page, poll
from tests.builders import add_bots, fill, finish, play_matches
from tests.databases import sqlite_store
from tests.db.builders import START, claimed
from tests.patience import WAIT_SECONDS
from tests.web.exported import SIZE, content_of, name_of, put_files
from tests.web.site import opened

pytestmark = pytest.mark.chromium

GROUND = "getComputedStyle(document.body).backgroundColor"
PAPER, NIGHT = "rgb(250, 246, 237)", "rgb(18, 20, 42)"
FILE = name_of(START.date())

FIVE = ("wasabi-dragon", "nigiri-collector", "sashimi-hunter", "maki-mastermind", "pudding-hoarder")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a running site with games of two to five players, and a day's files."""
    folder = tmp_path_factory.mktemp("data")
    with closing(sqlite_store(folder / "arena.sqlite3")) as store:
        fill(store)
        others = [(f"a-bot-with-quite-a-long-name-{number}", "someone with a name") for number in range(5)]
        play_matches(store, [add_bots(store, others)], Rules(players=5), name="five", faults=0.02)
        twenty = [(f"{name}-{'x' * (19 - len(name))}", "eve") for name in FIVE]
        play_matches(store, [add_bots(store, twenty)], Rules(players=5), name="twenty")
        versions = add_bots(store, [("mine", "amy"), ("yours", "ben")])
        for number in range(15):
            play_matches(store, [versions], Rules(players=2), name=f"s{number}")
        now = datetime.now(UTC)
        assert store.results.record(finish(claimed(store, versions), random.Random(3), ended=now))  # noqa: S311 - a test's dice
    put_files(folder / "exports", 1)
    with opened(folder) as site:
        yield site.url


def test_tables_stay_tables_for_screen_readers(visit: Visit) -> None:
    """Rows and cells keep their roles on a phone, where they aren't displayed as a table."""
    visit.resize("phone")
    visit.open("/leaderboard")
    table = visit.page.get_by_role("table")
    expect(table.get_by_role("row").filter(has_text="random@1")).to_have_count(1)
    assert table.get_by_role("cell").count() >= 9 * 5
    tree = table.aria_snapshot()
    assert "- table" in tree
    assert "- rowheader" in tree
    assert tree.count("- row ") >= 5


ROW_HEIGHTS = """rows => rows.map((row) => [
  row.getBoundingClientRect().height,
  [".rank", ".bot bdi", ".by", ".score"].map((part) => row.querySelector(part).offsetHeight),
])"""
"""Returns the height of each row, and of its rank, name, author and score."""


def test_a_phone_has_two_lines_per_bot(visit: Visit) -> None:
    """Rank, name, author and score are visible, and no row exceeds 64 pixels, even with a long name."""
    visit.resize("phone")
    for path in ("/", "/leaderboard"):
        visit.open(path)
        rows = visit.page.locator(".board tbody tr").evaluate_all(ROW_HEIGHTS)
        assert len(rows) >= 5
        for height, parts in rows:
            assert 0 < height <= 64
            assert min(parts) > 10


def test_nothing_on_the_leaderboard_is_squeezed(visit: Visit) -> None:
    """A field's label has one line. With a thousand bots, rank intervals don't reach the bots' names."""
    for size in ("small", "desktop"):
        visit.resize(size)
        visit.open("/leaderboard")
        lines, right, left = visit.page.evaluate(
            """() => {
              const label = document.querySelector(".find label:has(select)").firstChild;
              const interval = document.querySelector(".board td.rank .under b");
              const bot = interval.closest("tr").querySelector(".by");
              interval.textContent = "1018-1118";
              const around = (node) => {
                const range = document.createRange();
                range.selectNodeContents(node);
                return range;
              };
              const { right } = around(interval).getBoundingClientRect();
              return [around(label).getClientRects().length, right, around(bot).getBoundingClientRect().left];
            }"""
        )
        assert lines == 1
        assert right + 4 <= left


def test_games_are_found_by_a_form_and_rows_lead_to_them(plain: Visit, url: str) -> None:
    """No scripts are needed. A click in a row opens its game, and a click on a bot's name opens the bot."""
    page = plain.page
    page.goto(f"{url}/games")
    page.get_by_text("Filter and sort").click()
    page.get_by_label("Players").select_option("5")
    page.get_by_label("Sort by").select_option("highest")
    follow(page, page.get_by_role("button", name="Apply"))
    row = page.locator("tbody tr").first
    expect(row.get_by_role("listitem")).to_have_count(5)
    assert len({box["y"] for box in (each.bounding_box() for each in row.locator("li").all()) if box}) == 1
    row.locator("time").click(force=True)  # the row's link covers it
    expect(page.get_by_role("heading", level=1)).to_contain_text("Game ")
    page.go_back()
    name = row.locator("li").first.get_by_role("link")
    bot = name.inner_text()
    name.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(bot)


POINTS_OF_GAMES = """() => [...document.querySelectorAll(".games tbody tr")].map((row) => [
  row.getBoundingClientRect().height,
  [...row.querySelectorAll(".points")].map((points) => Math.round(points.getBoundingClientRect().right)),
])"""
"""Returns the height of each game's row, and the right edge of each of its points."""


def test_points_of_games_are_in_line(visit: Visit) -> None:
    """Each seat has a column, whatever the number of players, and each game takes one line.

    On a tablet, the fourth seat begins a second line. On a phone, all points have the same right edge.
    """
    for size in ("desktop", "tablet", "phone"):
        visit.resize(size)
        visit.open("/games")
        games = visit.page.evaluate(POINTS_OF_GAMES)
        counts = {len(ends) for _, ends in games}
        assert counts >= {2, 5}
        if size != "phone":
            line = min(height for height, _ in games)
            two = {len(ends) for height, ends in games if height > 1.1 * line}
            assert two == {count for count in counts if size == "tablet" and count > 3}
            longest = max((ends for _, ends in games), key=len)
            assert all(ends == longest[: len(ends)] for _, ends in games)
            assert len(set(longest)) == (3 if size == "tablet" else 5)
        else:
            assert len({end for _, ends in games for end in ends}) == 1


CUT_OFF = """() => [...document.querySelectorAll(".games .who > :first-child")]
  .filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.innerText)"""
"""Returns the names that are cut off."""

NO_VERSION = """() => [...document.querySelectorAll(".games .who")].filter((who) =>
    who.querySelector(".version").getBoundingClientRect().top >= who.getBoundingClientRect().bottom)
  .map((who) => who.firstElementChild.innerText)"""
"""Returns the names whose versions don't fit."""

LINKS_OF_ROWS = """() => [...document.querySelectorAll(".games tbody tr")].map((row) => {
  row.scrollIntoView({block: "center"});
  const {left, top, width, height} = row.getBoundingClientRect();
  const steps = [...Array(40).keys()].map((step) => left + width * (step + .5) / 40);
  const links = steps.map((x) => document.elementFromPoint(x, top + height / 2).closest("a"));
  const game = row.querySelector("th a");
  return links.filter((link) => link !== game && !link?.matches(".botlink")).length;
})"""
"""Returns for each row how many of 40 points across it link neither to its game nor to a bot."""


@pytest.mark.parametrize("order", ["newest", pytest.param("comeback", marks=pytest.mark.soak)])
def test_names_of_twenty_letters_are_whole(visit: Visit, order: str) -> None:
    """From 1024 pixels up, such names aren't cut off, even next to longer ones, and rows are all links.

    From 1280 pixels up, each game takes one line. Below that, names keep their versions.
    """
    visit.page.set_viewport_size(ViewportSize(width=1280, height=800))
    visit.open(f"/games?order={order}")
    if order == "newest":  # which games have comebacks varies
        expect(visit.page.locator(".who").filter(has_text="sashimi-hunter-xxxxx")).to_have_count(2)
    cut = visit.page.evaluate(CUT_OFF)
    assert [name for name in cut if len(name) <= 20] == []
    heights = [height for height, _ in visit.page.evaluate(POINTS_OF_GAMES)]
    assert max(heights) < 1.1 * min(heights)
    assert not any(visit.page.evaluate(LINKS_OF_ROWS))
    visit.keep(f"games-{order}-1280")
    visit.page.set_viewport_size(ViewportSize(width=1024, height=800))
    incomplete = visit.page.evaluate(CUT_OFF) + visit.page.evaluate(NO_VERSION)
    assert [name for name in incomplete if len(name) <= 20] == []
    assert not any(visit.page.evaluate(LINKS_OF_ROWS))
    visit.keep(f"games-{order}-1024")
    visit.resize("wide")
    assert visit.page.evaluate(CUT_OFF) == []


def test_a_bot_in_a_list_of_games_shows_that_it_has_the_focus(visit: Visit) -> None:
    """The outline is visible even if the name is cut off. The tooltip has the whole name."""
    visit.open("/games")
    row = visit.page.locator("tbody tr").filter(has_text="quite-a-long-name").first
    row.locator("th a").focus()
    visit.page.keyboard.press("Tab")
    who = row.locator(".who").first
    expect(who).to_have_css("outline-style", "solid")
    expect(who).to_have_attribute("title", who.inner_text())


def test_the_keyboard_reaches_the_content_first(visit: Visit) -> None:
    """The first Tab stop is a visible link that skips the navigation."""
    visit.open("/leaderboard")
    visit.page.keyboard.press("Tab")
    skip = visit.page.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("main")).to_be_focused()


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_every_tab_stop_is_visible(visit: Visit, size: str) -> None:
    """Each sort order has one link: in a column head or, if the heads are hidden, in a row of links."""
    visit.resize(size)
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


def test_screen_readers_read_the_bars(visit: Visit) -> None:
    """Each bar is an image with a text alternative, in a table that keeps its role on a phone."""
    visit.resize("phone")
    visit.open("/cards?players=2")
    table = visit.page.get_by_role("table")
    expect(table.get_by_role("row").filter(has_text="Tempura")).to_have_count(1)
    assert table.get_by_role("img", name=re.compile("^Taken by turn. 1: ")).count() == 12
    tree = table.aria_snapshot()
    assert tree.count("- rowheader") == 12


def test_the_navigation_has_two_rows_on_small_phones(visit: Visit) -> None:
    """One row has three links, the other has four, and none is cut off."""
    visit.resize("small")
    visit.open("/docs")
    tops = [link.bounding_box() for link in visit.page.locator("header nav[aria-label=Site] a").all()]
    rows = [round(box["y"]) for box in tops if box]
    assert sorted(rows.count(row) for row in set(rows)) == [3, 4]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in tops if box)


def test_a_table_wider_than_the_window_scrolls_by_keys(visit: Visit) -> None:
    """The table is focusable, and the arrow keys then scroll it. The page itself doesn't scroll sideways."""
    visit.resize("small")
    page = visit.page
    visit.open("/docs/submitting#bots-off-the-ladder")
    table = page.get_by_role("group", name=re.compile("^Bots off the ladder"))
    table.focus()
    page.keyboard.press("ArrowRight")
    table.evaluate(ONCE_SCROLLED, "scrollLeft")
    assert page.evaluate("document.scrollingElement.scrollLeft") == 0


def test_an_opened_list_stays_open_while_the_page_updates_itself(windows: Windows, url: str) -> None:
    """The table of hours is still visible after the page has polled the site."""
    visit = windows.open(url, "desktop", "light")
    page = visit.page
    page.clock.install()
    visit.open("/status")
    page.get_by_text("As a table").click()
    hours = page.get_by_role("row").filter(has_text=re.compile(r"\d\d:00")).first
    expect(hours).to_be_visible()
    for _ in range(2):  # the second poll begins once the response to the first has been used
        poll(page)
    expect(hours).to_be_visible()


def test_the_theme_is_chosen_for_the_whole_site(visit: Visit) -> None:
    """The theme applies to all pages, including embedded ones, and can be reset to the system's."""
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
    # Simulate a choice on another page, and a return to this one from the browser's back/forward cache,
    # which automation disables.
    page.evaluate("localStorage.setItem('kaiten-theme', 'dark')")
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    assert page.evaluate(GROUND) == NIGHT
    expect(page.get_by_label("Theme")).to_have_value("dark")


@pytest.mark.parametrize("zone", [pytest.param("Asia/Tokyo", marks=pytest.mark.soak), "America/New_York"])
def test_times_are_local_with_utc_as_the_tooltip(
    browser: Browser, windows: Windows, url: str, zone: str
) -> None:
    """Times are in the visitor's time zone, and no label says UTC. Without scripts, they are in UTC.

    The day of a data file is the same in all zones, even where midnight UTC is on the evening before.
    """
    plain = windows.open(url, "desktop", "light", script=False)
    plain.open("/games")
    utc = plain.page.locator("time").first.inner_text()
    assert plain.page.get_by_role("columnheader", name="Ended (UTC)").is_visible()
    plain.page.context.close()

    page = new_page(browser, timezone_id=zone)
    page.goto(f"{url}/games")
    time = page.locator("time").first
    expect(page.get_by_role("columnheader", name="Ended", exact=True)).to_be_visible()
    assert page.evaluate("document.querySelector('time').title").startswith(utc)
    local = page.evaluate(
        "(zone) => new Date(document.querySelector('time').dateTime)"
        ".toLocaleString('sv', { timeZone: zone })",
        zone,
    )
    assert time.inner_text() == local[: len("2026-11-23 00:00")] != utc
    assert page.locator(".utc").count() == 0
    page.set_viewport_size(ViewportSize(width=390, height=800))
    label = page.evaluate("getComputedStyle(document.querySelector('td:has(> time)'), '::before').display")
    assert label == "none"  # as without scripts, or the rows would grow
    page.goto(f"{url}/status")
    axis = page.locator(".hours .axis time").first
    expect(axis).to_have_attribute("title", re.compile(r" UTC$"))
    local = page.evaluate(
        "(zone) => new Date(document.querySelector('.axis time').dateTime)"
        ".toLocaleTimeString('sv', { timeZone: zone })",
        zone,
    )
    assert axis.inner_text() == local[: len("00:00")]
    expect(page.locator(".hours figcaption")).not_to_contain_text("Times are UTC")
    page.goto(f"{url}/data")
    expect(page.locator("time").first).to_have_text(START.date().isoformat())
    page.context.close()


def test_compared_curves_fill_the_page(visit: Visit) -> None:
    """The graph is about as wide as its section, and its text is legible, on desktops and phones."""
    for size in ("desktop", "phone"):
        visit.resize(size)
        visit.open("/compare?bots=mine&bots=yours")
        width, whole, letters = visit.page.evaluate(
            """() => {
              const plot = document.querySelector(".together .plot");
              const [width, whole] = [plot, plot.parentElement].map((it) => it.getBoundingClientRect().width);
              return [width, whole, parseFloat(getComputedStyle(plot).fontSize)];
            }"""
        )
        assert width >= 0.85 * whole
        assert letters >= 12


def test_compared_figures_are_in_line(visit: Visit) -> None:
    """Shares are right-aligned, names remain visible after scrolling, and legend and lines match."""
    visit.resize("phone")
    visit.open("/compare?bots=mine&bots=yours&bots=random&bots=a-bot-with-quite-a-long-name-0")
    ends, widths, stays, dashes = visit.page.evaluate(
        """() => {
          const [, table] = document.querySelectorAll(".across");
          const rows = [...table.tBodies[0].rows];
          const ends = [1, 2].map((column) => new Set(rows.map((row) => {
            const range = document.createRange();
            range.selectNodeContents(row.cells[column].firstChild);
            return row.cells[column].querySelector(".off") && Math.round(range.getBoundingClientRect().right);
          }).filter(Boolean)).size);
          const widths = rows.map((row) => row.cells[0].offsetWidth);
          const scroll = table.parentElement;
          scroll.scrollLeft = scroll.scrollWidth;
          const stays = rows.every((row) => row.cells[0].getBoundingClientRect().left >= 0);
          const styled = (names, pseudo, what, plain) => [...document.querySelectorAll(names)]
            .map((each) => getComputedStyle(each, pseudo)[what] !== plain);
          return [ends, widths, stays && scroll.scrollLeft > 0, [
            styled(".together .line", null, "strokeDasharray", "none"),
            styled(".together figcaption span", "::before", "borderTopStyle", "solid"),
          ]];
        }"""
    )
    assert ends == [1, 1]
    assert min(widths) >= 90
    assert stays
    lefts = visit.page.locator(".compared input").evaluate_all("all => all.map((e) => e.offsetLeft)")
    assert len(set(lefts)) == 1
    assert dashes == [[False, True, False, True]] * 2


def test_forms_and_lists_show_whole_words(visit: Visit) -> None:
    """A field's options fit into it. The figure by which a game is sorted is level with the game's number."""
    visit.resize("phone")
    for size in ("phone", "zoomed", "tablet"):
        visit.resize(size)
        visit.open("/games?order=comeback")
        (cut, apart) = visit.page.evaluate(
            """() => {
              const paper = document.createElement("canvas").getContext("2d");
              const cut = [...document.querySelectorAll("main select")].filter((field) => {
                const { font, paddingLeft, paddingRight } = getComputedStyle(field);
                paper.font = font;
                const widths = [...field.options].map((each) => paper.measureText(each.text).width);
                const arrow = 16;
                const room = field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - arrow;
                return Math.max(...widths) > room;
              });
              const apart = [...document.querySelectorAll(".games tbody tr")].filter((row) => {
                const [number, behind] = [...row.querySelectorAll("th, [data-label=Behind]")]
                  .map((each) => each.getBoundingClientRect());
                return Math.abs(number.bottom - behind.bottom) > 8;
              });
              return [cut.map((each) => each.name), apart.length];
            }"""
        )
        assert (cut, apart) == ([], 0), size


def test_a_column_head_is_aligned_with_its_names(visit: Visit) -> None:
    """In the table of all pairs, the head of the column of bots starts where their names do."""
    visit.open("/leaderboard/versus")
    starts = visit.page.evaluate(
        """() => [...document.querySelectorAll(".versus tr > th:first-child")].slice(0, 2).map((each) => {
          const range = document.createRange();
          range.selectNodeContents(each);
          return Math.round(range.getBoundingClientRect().left);
        })"""
    )
    assert starts[0] == starts[1]


ASK = """
async ([url, method, headers, credentials]) => {
  try {
    const answer = await fetch(url, {method, headers, credentials});
    const body = new Uint8Array(await answer.arrayBuffer());
    return {
      status: answer.status, length: body.length, first: [...body.slice(0, 4)],
      range: answer.headers.get("Content-Range"), etag: answer.headers.get("ETag"),
    };
  } catch (error) {
    return {refused: error.name};
  }
}
"""
"""Sends a request from a page, and returns parts of the response, or the error."""


def test_a_click_downloads_a_file(visit: Visit) -> None:
    """The browser saves the file under its own name instead of showing it."""
    page = visit.page
    visit.open("/data")
    with page.expect_download() as begun:
        page.get_by_role("row").filter(has_text=str(START.date())).get_by_role("link").first.click()
    assert begun.value.suggested_filename == FILE
    assert begun.value.path().read_bytes() == content_of(FILE)


def test_a_notebook_on_another_site_reads_files(windows: Windows, url: str) -> None:
    """A notebook can read the manifest, whole files and ranges, without cookies. All else is refused."""
    with elsewhere() as other:
        visit = windows.open(other, "desktop", "light")
        visit.open("/")

        def ask(
            path: str, method: str = "GET", credentials: str = "omit", **headers: str
        ) -> dict[str, object]:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            answer: dict[str, object] = visit.page.evaluate(ASK, [url + path, method, sent, credentials])
            return answer

        assert ask(f"/data/{MANIFEST}")["status"] == 200
        content, file = content_of(FILE), f"/data/{FILE}"
        whole = ask(file)
        assert (whole["status"], whole["length"]) == (200, SIZE)
        assert ask(file, "HEAD")["etag"] == whole["etag"] is not None
        part = ask(file, Range="bytes=100-299", If_Range=str(whole["etag"]))
        assert (part["status"], part["length"], part["first"]) == (206, 200, [*content[100:104]])
        assert part["range"] == f"bytes 100-299/{SIZE}"
        assert ask("/data/missing")["status"] == 404
        for refused in (
            ask(file, credentials="include"),
            ask(file, "PUT"),
            ask("/api/v1/leaderboard"),
            ask("/data"),
        ):
            assert refused == {"refused": "TypeError"}
        visit.forgive("CORS policy")
        visit.forgive("Failed to load resource")


def test_register_create_a_token_and_log_out(windows: Windows, url: str) -> None:
    """Forms and links are enough, and the browser doesn't complain. A double click registers once."""
    visit = windows.open(url.replace("127.0.0.1", NAME), "phone", "dark")
    page = visit.page
    visit.open("/login")
    page.get_by_role("link", name="Register").click()
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill("password1")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("alert")).to_contain_text("most common passwords")
    page.get_by_label("Password").fill(PASSWORD)
    posts: list[str] = []
    page.on("request", lambda request: posts.extend([request.url] * (request.method == "POST")))
    page.get_by_role("button", name="Register").dblclick()
    expect(page.get_by_role("heading", name="ann")).to_be_visible()
    assert len(posts) == 1

    page.get_by_label("Name").fill("my laptop")
    page.get_by_label("Your password").fill(PASSWORD)
    follow(page, page.get_by_role("button", name="Create token"))
    secret = page.locator(".secret code").inner_text()
    bearer = {"Authorization": f"Bearer {secret}"}
    answer = httpx2.get(f"{url}/api/v1/account", headers=bearer, timeout=WAIT_SECONDS)
    assert (answer.json()["name"], answer.json()["scopes"]) == ("ann", ["read", "submit"])
    follow(page, page.get_by_role("link", name="Done"))
    expect(page.get_by_role("checkbox", name="my laptop")).not_to_be_checked()
    expect(page.get_by_role("rowheader", name="my laptop")).to_be_visible()
    assert secret not in page.content()

    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("link", name="Log in")).to_be_visible()
    visit.open("/account")
    expect(page).to_have_url(f"{visit.url}/login?next=/account")
    page.go_back()
    expect(page.get_by_text("my laptop")).to_have_count(0)
    visit.forgive("422")
