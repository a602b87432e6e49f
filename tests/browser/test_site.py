"""Pages in a real browser: without scripts, by keys, by ear, on small phones, in any theme and zone."""

import random
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from arena.rules import Rules
from tests.accounts.world import PASSWORD
from tests.browser.visits import NAME, ONCE_SCROLLED, Windows
from tests.builders import add_bots, fill, finish, play_set
from tests.databases import sqlite_store
from tests.db.builders import claimed
from tests.web.site import opened

pytestmark = pytest.mark.chromium

GROUND = "getComputedStyle(document.body).backgroundColor"
PAPER, NIGHT = "rgb(250, 246, 237)", "rgb(18, 20, 42)"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a running site with games of two to five players, most of two."""
    folder = tmp_path_factory.mktemp("data")
    with closing(sqlite_store(folder / "arena.sqlite3")) as store:
        fill(store)
        others = [(f"a-bot-with-quite-a-long-name-{number}", "someone with a name") for number in range(5)]
        play_set(store, [add_bots(store, others)], Rules(players=5), name="five", faults=0.02)
        versions = add_bots(store, [("mine", "amy"), ("yours", "ben")])
        for number in range(15):
            play_set(store, [versions], Rules(players=2), name=f"s{number}")
        now = datetime.now(UTC)
        assert store.results.record(finish(claimed(store, versions), random.Random(3), ended=now))  # noqa: S311 - a test's dice
    with opened(folder) as site:
        yield site.url


def test_tables_stay_tables_for_screen_readers(windows: Windows, url: str) -> None:
    """Rows and cells keep their roles where a phone shows them as sheets."""
    visit = windows.open(url, "phone", "light")
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
"""Returns how high each row is, and its rank, name, author and score."""


def test_a_phone_has_two_lines_a_bot(windows: Windows, url: str) -> None:
    """Rank, name and score can be seen, none higher than 64 pixels, also where a name is long."""
    visit = windows.open(url, "phone", "light")
    for path in ("/", "/leaderboard"):
        visit.open(path)
        rows = visit.page.locator(".board tbody tr").evaluate_all(ROW_HEIGHTS)
        assert len(rows) >= 5
        for height, parts in rows:
            assert 0 < height <= 64
            assert min(parts) > 10


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


def test_a_bot_in_a_list_of_games_shows_that_it_has_the_focus(windows: Windows, url: str) -> None:
    """Also where its name is cut off; the tooltip has the whole name."""
    visit = windows.open(url, "desktop", "light")
    visit.open("/games")
    row = visit.page.locator("tbody tr").filter(has_text="quite-a-long-name").first
    row.locator("th a").focus()
    visit.page.keyboard.press("Tab")
    who = row.locator(".who").first
    expect(who).to_have_css("outline-style", "solid")
    expect(who).to_have_attribute("title", who.inner_text())


def test_the_keyboard_reaches_the_content_first(windows: Windows, url: str) -> None:
    """The first stop is the way past the navigation, and it can be seen."""
    visit = windows.open(url, "desktop", "light")
    visit.open("/leaderboard")
    visit.page.keyboard.press("Tab")
    skip = visit.page.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("main")).to_be_focused()


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_every_stop_of_the_keyboard_can_be_seen(windows: Windows, url: str, size: str) -> None:
    """There is one way to each order: the heads of columns, or, where these are hidden, a line of links."""
    visit = windows.open(url, size, "light")
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


def test_a_screen_reader_hears_the_bars(windows: Windows, url: str) -> None:
    """As a picture with a text, in a table that stays one on a phone."""
    visit = windows.open(url, "phone", "light")
    visit.open("/cards?players=2")
    table = visit.page.get_by_role("table")
    expect(table.get_by_role("row").filter(has_text="Tempura")).to_have_count(1)
    assert table.get_by_role("img", name=re.compile("^Taken by turn. 1: ")).count() == 12
    tree = table.aria_snapshot()
    assert tree.count("- rowheader") == 12


def test_documents_are_found_and_read_without_scripts(windows: Windows, url: str) -> None:
    """From any page by links alone: the index, a document, a part of it, the next one, the rules."""
    visit = windows.open(url, "small", "light", script=False)
    page = visit.page
    visit.open("/games")
    site = page.get_by_role("navigation", name="Site")
    site.get_by_role("link", name="Docs").click()
    page.get_by_role("main").get_by_role("link", name="Submitting a bot").click()
    expect(site.locator("[aria-current]")).to_have_text("Docs")
    page.get_by_role("navigation", name="On this page").get_by_role("link", name="Limits").click()
    expect(page).to_have_url(f"{url}/docs/submitting#limits")
    expect(page.get_by_role("heading", name="Limits")).to_be_in_viewport()
    page.get_by_role("link", name="clock", exact=True).first.click()
    expect(page).to_have_url(f"{url}/docs/arena-rules#the-clock")
    page.get_by_role("navigation", name="This chapter").get_by_role("link", name="The game").click()
    expect(page).to_have_url(f"{url}/rules")
    expect(site.locator("[aria-current]")).to_have_text("Rules")


def test_the_head_has_two_calm_rows_on_small_phones(windows: Windows, url: str) -> None:
    """The name and the account in one line; below it the site's pages, none of them cut or alone."""
    visit = windows.open(url, "small", "light")
    visit.open("/docs")
    tops = [link.bounding_box() for link in visit.page.locator("header nav[aria-label=Site] a").all()]
    rows = [round(box["y"]) for box in tops if box]
    assert sorted(rows.count(row) for row in set(rows)) == [3, 4]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in tops if box)


def test_what_is_wider_than_the_window_scrolls_by_keys(windows: Windows, url: str) -> None:
    """A table is a stop of the keyboard, which then moves it; the page stays where it is."""
    visit = windows.open(url, "small", "light")
    page = visit.page
    visit.open("/docs/submitting#causes")
    table = page.get_by_role("group", name=re.compile("^Causes"))
    table.focus()
    page.keyboard.press("ArrowRight")
    table.evaluate(ONCE_SCROLLED, "scrollLeft")
    assert page.evaluate("document.scrollingElement.scrollLeft") == 0


def test_an_opened_list_stays_open_while_the_page_keeps_itself_current(windows: Windows, url: str) -> None:
    """The hours as a table, while someone reads them."""
    visit = windows.open(url, "desktop", "light")
    page = visit.page
    page.clock.install()
    visit.open("/status")
    page.get_by_text("As a table").click()
    hours = page.get_by_role("row").filter(has_text=re.compile(r"\d\d:00")).first
    expect(hours).to_be_visible()
    page.clock.fast_forward(9000)
    expect(hours).to_be_visible()


def test_the_theme_is_chosen_for_the_whole_site(windows: Windows, url: str) -> None:
    """It holds on the next page from its first paint on, and goes back to the system's."""
    visit = windows.open(url, "desktop", "light")
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


def test_times_are_local_with_utc_as_the_tooltip(browser: Browser, windows: Windows, url: str) -> None:
    """In the visitor's zone, where nothing says UTC any more; without scripts it stays."""
    plain = windows.open(url, "desktop", "light", script=False)
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
    page.goto(f"{url}/status")
    axis = page.locator(".hours .axis time").first
    expect(axis).to_have_attribute("title", re.compile(r" UTC$"))
    local = page.evaluate(
        "new Date(document.querySelector('.axis time').dateTime)"
        ".toLocaleTimeString('sv', { timeZone: 'Asia/Tokyo' })"
    )
    assert axis.inner_text() == local[: len("00:00")]
    expect(page.locator(".hours figcaption")).not_to_contain_text("Times are UTC")
    context.close()


def test_compared_curves_fill_the_page(windows: Windows, url: str) -> None:
    """The graph is as wide as its section, with letters to read, on screens and on phones."""
    for size in ("desktop", "phone"):
        visit = windows.open(url, size, "light")
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


def test_compared_figures_are_in_line(windows: Windows, url: str) -> None:
    """Shares end below each other, the names stay in sight, and the legend is as dashed as the lines."""
    visit = windows.open(url, "phone", "light")
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


def test_forms_and_lists_show_whole_words(windows: Windows, url: str) -> None:
    """The choices of a field fit into it; a figure that games are sorted by is next to their number."""
    visit = windows.open(url, "phone", "light")
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


def test_a_head_begins_where_its_names_begin(windows: Windows, url: str) -> None:
    """Above the bots of the table of all pairs."""
    visit = windows.open(url, "desktop", "light")
    visit.open("/leaderboard/versus")
    starts = visit.page.evaluate(
        """() => [...document.querySelectorAll(".versus tr > th:first-child")].slice(0, 2).map((each) => {
          const range = document.createRange();
          range.selectNodeContents(each);
          return Math.round(range.getBoundingClientRect().left);
        })"""
    )
    assert starts[0] == starts[1]


def test_in_a_token_and_out(windows: Windows, url: str) -> None:
    """Everything by forms and links; nothing that the browser complains about."""
    visit = windows.open(url.replace("127.0.0.1", NAME), "phone", "dark")
    page = visit.page
    visit.open("/login")
    page.get_by_role("link", name="Register").click()
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill("password1")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("alert")).to_contain_text("most common passwords")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", name="ann")).to_be_visible()

    page.get_by_label("Name").fill("my laptop")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Create token").click()
    secret = page.locator(".secret code").inner_text()
    answer = httpx2.get(f"{url}/api/v1/account", headers={"Authorization": f"Bearer {secret}"})
    assert (answer.json()["name"], answer.json()["scopes"]) == ("ann", ["read", "submit"])
    page.get_by_role("link", name="Done").click()
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
