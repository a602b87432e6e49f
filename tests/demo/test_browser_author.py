"""From the front page to a rated bot with nothing but a browser: real Chromium, real containers."""

import re

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.accounts.world import PASSWORD
from tests.browser.visits import Windows, chromium
from tests.demo.conftest import With
from tests.demo.town import town
from tests.patience import WAIT_SECONDS

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]


# Over 20 s: a whole arena, and three qualifying games and a rated match in containers.
@pytest.mark.usefixtures("arena")
def test_a_bot_gets_from_the_front_page_onto_the_leaderboard(place_with: With, chromium_path: str) -> None:
    """Someone without an account or a clone follows the buttons."""
    with town(place_with("greedy", "random")) as address, chromium(chromium_path) as browser:
        windows = Windows(browser)
        visit = windows.open(address, "desktop", "light")
        visit.open("/")
        _write_and_submit(visit.page)
        _follow_to_the_leaderboard(visit.page)
        windows.close()
        row = httpx2.get(f"{address}/api/v1/bots/first-try", timeout=60).json()
    assert (row["author"], row["version"]) == ("newcomer", 1)


def _write_and_submit(page: Page) -> None:
    page.get_by_role("link", name="Submit a bot").click()
    page.get_by_role("link", name="Register").last.click()
    page.get_by_label("Name", exact=True).fill("newcomer")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Register").click()
    expect(page).to_have_url(re.compile(r"/start$"))
    page.get_by_role("textbox", name="Source").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("# my first bot")
    page.get_by_label("Name of the bot").fill("first-try")
    page.get_by_role("button", name="Submit").click()
    expect(page).to_have_url(re.compile(r"/submissions/[0-9a-f]{16}$"))


def _follow_to_the_leaderboard(page: Page) -> None:
    """The page of the submission moves on by itself."""
    first = page.get_by_role("link", name="Watch its first rated game")
    expect(first).to_be_visible(timeout=1000 * WAIT_SECONDS)
    first.click()
    expect(page).to_have_url(re.compile(r"/games/"))
    expect(page.get_by_role("link", name="first-try").first).to_be_visible()
    page.get_by_role("link", name="Leaderboard").first.click()
    expect(page.get_by_role("row").filter(has_text="first-try")).to_be_visible()
