"""The viewer for owners in a real browser: notes next to the turn, games of challenges, logging in."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from tests.accounts.world import PASSWORD, World
from tests.browser.test_viewer import DRAWN_LIKE_SERVED, STEP, watch
from tests.browser.visits import Windows, hard_to_read
from tests.web.people import logged_in
from tests.web.site import opened
from tests.web.stable import fill_stable, play_next

pytestmark = pytest.mark.chromium

RATED = "/games/logged-0-0"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a site on which ann has a bot that has played, and a challenge of three games."""
    folder = tmp_path_factory.mktemp("data")
    with closing(World.at(folder)) as world:
        fill_stable(world)
        asked = logged_in(world, "ann").post("/bots/mine/challenges", data={"opponent": ["greedy", "mine@1"]})
        assert asked.status_code == 303
        for _ in range(3):
            play_next(world.store)
        with opened(folder) as site:
            yield site.url


def log_in(page: Page) -> None:
    """Log in as ann with the form that is shown."""
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def test_from_a_frame_to_the_form_and_back_to_it(windows: Windows, url: str) -> None:
    """After logging in, ann is back at the same frame, with her notes, which change with the turn."""
    visit = windows.open(url, "desktop", "light")
    page = watch(visit, f"{RATED}/1/1?view=seat:1")
    expect(page.get_by_role("region", name="Notes")).to_have_count(0)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    frame = f"{url}{RATED}/1/2?step=reveal&view=seat:1"
    expect(page).to_have_url(frame)
    page.get_by_role("link", name="Log in").click()
    log_in(page)
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


def test_a_private_game_is_watched_like_any_other(windows: Windows, url: str) -> None:
    """The challenge's page links to the game. Others can't see it, so the key for embedding does nothing."""
    visit = windows.open(url, "phone", "dark")
    page = visit.page
    visit.open("/challenges")
    log_in(page)
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
