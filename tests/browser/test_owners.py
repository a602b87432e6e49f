"""How owners manage and watch their bots in a real browser, by mouse and keyboard.

In the viewer, notes are next to their turn, and games of challenges are private.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.accounts.world import PASSWORD, World
from tests.browser.test_viewer import DRAWN_LIKE_SERVED, STEP, watch
from tests.browser.visits import ONCE_SCROLLED, SIZES, Windows, follow, hard_to_read, log_in
from tests.builders import add_bots
from tests.web.people import logged_in
from tests.web.site import opened
from tests.web.stable import fill_stable, play_all, play_next

pytestmark = pytest.mark.chromium

RATED = "/games/logged-0-0"


@dataclass(frozen=True)
class Place:
    """A running site and the world behind it."""

    url: str
    world: World


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Yield a site on which ann has a bot with three versions, and a challenge of three games."""
    folder = tmp_path_factory.mktemp("data")
    with closing(World.at(folder)) as world:
        fill_stable(world)
        asked = logged_in(world, "ann").post("/bots/mine/challenges", data={"opponent": ["greedy", "mine@1"]})
        assert asked.status_code == 303
        play_all(world.store)
        with opened(folder) as site:
            yield Place(site.url, world)


def test_a_challenge_from_the_form_to_its_games(windows: Windows, place: Place) -> None:
    """The form suggests bots' names, and keeps its input if it is refused. Games appear without a reload."""
    add_bots(place.world.store, [(f"crowd-{number}", "someone") for number in range(100, 180)])
    visit = windows.open(place.url, "desktop", "light")
    page = visit.page
    log_in(page, visit.url, "ann")
    visit.open("/bots/mine")
    offered = page.locator("datalist option[value=crowd-179]")
    expect(offered).to_have_count(0)
    page.get_by_label("Opponent 1").fill("wd-179")
    expect(offered).to_have_count(1)
    page.get_by_label("Opponent 1").fill("greedy")
    page.get_by_label("Opponent 2").fill("mien@1")
    page.get_by_label("Deals").select_option("2")
    page.get_by_role("button", name="Challenge").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no bot called mien")
    expect(page.get_by_role("alert")).to_be_in_viewport()
    expect(page.get_by_label("Opponent 1")).to_have_value("greedy")
    page.get_by_label("Opponent 2").fill("mine@1")
    page.clock.install()
    follow(page, page.get_by_role("button", name="Challenge"))
    expect(page.get_by_role("heading", name="Challenge", exact=True)).to_be_visible()
    expect(page.get_by_text("Games will appear here once all of them have been played")).to_be_visible()
    page.evaluate("document.body.dataset.same = 'yes'")
    play_next(place.world.store)
    page.clock.fast_forward(5000)
    expect(page.get_by_text("All 6 games will appear here when the last match is over")).to_be_visible()
    play_all(place.world.store)
    page.clock.fast_forward(5000)
    expect(page.get_by_text("6 games.")).to_be_visible()
    assert page.evaluate("document.body.dataset.same") == "yes"
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.fast_forward(20_000)
    assert page.evaluate("fetch('/static/mark.svg').then(it => it.ok)")
    assert asked == [f"{place.url}/static/mark.svg"]
    page.get_by_role("link", name="Game 3").click()
    expect(page.get_by_role("heading", name="Challenge by mine@3, game 3")).to_be_visible()
    visit.forgive("422")


def test_the_logs_of_a_game_are_on_its_page(windows: Windows, place: Place) -> None:
    """The bot's owner sees its logs and notes. Long ones don't widen the page, and scroll by keyboard."""
    visit = windows.open(place.url, "small", "light")
    page = visit.page
    log_in(page, visit.url, "ann")
    visit.open(RATED)
    log = page.get_by_role("region", name="Stderr output of the bot in seat 1")
    note = page.get_by_role("group", name="Private note by mine")
    for part, most in ((log, 500), (note, 150)):
        box = part.bounding_box()
        assert box is not None
        assert box["height"] < most
        assert 0 <= box["x"] <= box["x"] + box["width"] <= SIZES["small"]["width"]
        scroll(page, part)
    assert page.get_by_text("keeping <wasabi>").count() > 20


def scroll(page: Page, part: Locator) -> None:
    """Scroll a part of a page by keyboard, and check that its focus is visible."""
    part.focus()
    assert part.evaluate("it => getComputedStyle(it).outlineStyle") == "solid"
    page.keyboard.press("End")
    part.evaluate(ONCE_SCROLLED, "scrollTop")


def fill_in_the_form(page: Page) -> None:
    """Log in as ann with the form that is shown."""
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def test_from_a_frame_to_the_form_and_back_to_it(windows: Windows, place: Place) -> None:
    """After logging in, ann is back at the same frame, with her notes, which change with the turn."""
    visit = windows.open(place.url, "desktop", "light")
    page = watch(visit, f"{RATED}/1/1?view=seat:1")
    expect(page.get_by_role("region", name="Notes")).to_have_count(0)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    frame = f"{place.url}{RATED}/1/2?step=reveal&view=seat:1"
    expect(page).to_have_url(frame)
    page.get_by_role("link", name="Log in").click()
    fill_in_the_form(page)
    expect(page).to_have_url(frame)
    page.locator("#film[data-ready]").wait_for()
    seen = page.locator("[data-turn]:visible")
    mine, nothing = "seat 1: keeping <wasabi>", "No notes for this turn"
    for key, turn, said in (
        ("ArrowRight", "r1t2", mine),
        ("ArrowRight", "r1t3", mine),
        ("]", "r2t1", mine),
        ("End", "r3t9", nothing),  # the last cards are played automatically
        ("[", "r3t1", mine),
    ):
        page.keyboard.press(key)
        expect(seen).to_have_attribute("data-turn", turn)
        expect(seen).to_contain_text(said)
    visit.keep("viewer-notes-desktop-light")


def test_a_private_game_is_watched_like_any_other(windows: Windows, place: Place) -> None:
    """The challenge's page links to the game. Others can't see it, so the key for embedding does nothing."""
    visit = windows.open(place.url, "phone", "dark")
    page = visit.page
    visit.open("/challenges")
    fill_in_the_form(page)
    page.get_by_role("table").get_by_role("link").first.click()
    page.get_by_role("link", name="Game 2").click()
    page.get_by_role("link", name="Watch this game").click()
    page.locator("#film[data-ready]").wait_for()
    compared, wrong = page.evaluate(DRAWN_LIKE_SERVED, [["all", "seat:0", "infer:2"], STEP])
    assert wrong == []
    assert compared == sum(len(range(first % STEP, 82, STEP)) for first in range(3))
    visit.keep("viewer-private-phone-dark")
    assert hard_to_read(page) == []
    page.keyboard.press("e")
    expect(page.locator("#notice")).to_be_empty()
    page.keyboard.press("c")
    expect(page.locator("#notice")).to_have_text("Link copied")
