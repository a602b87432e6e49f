"""The page of a bot that has played for a while, in a real browser, without scripts."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, expect

from arena.rules import Rules
from tests.accounts.world import World
from tests.browser.visits import visit_of
from tests.builders import add_bots, play_set
from tests.web.site import opened
from tests.web.stable import fill_stable

pytestmark = pytest.mark.chromium


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give a site on which the bot ``mine`` has played with one to four others, and made mistakes."""
    folder = tmp_path_factory.mktemp("site")
    with closing(World.at(folder)) as world:
        stable = fill_stable(world)
        others = [stable.other, *stable.house, *add_bots(world.store, [("x" * 40, "house")])]
        for number in range(16):
            table = [stable.versions[2], *others[number % 4 :]]
            play_set(world.store, [table], Rules(players=len(table)), name=f"g{number}", faults=0.03)
    with opened(folder) as site:
        yield site.url


def test_the_page_of_a_bot_is_gone_through(browser: Browser, url: str) -> None:
    """Its curves and games by links and forms; the curve is there as a table too."""
    visit = visit_of(browser, url, "phone", "light", script=False)
    page = visit.page
    visit.open("/bots/mine")
    expect(page.get_by_role("img", name="Rating in all games")).to_be_visible()
    page.get_by_text("The curve in numbers").click()
    expect(page.get_by_role("table", name="Rating in all games")).to_be_visible()
    page.get_by_label("Curve by number of players").get_by_role("link", name="3").click()
    expect(page.get_by_role("img", name="Rating in games of 3 players")).to_be_in_viewport()
    page.get_by_role("search", name="Games of mine").get_by_label("Opponent").fill("greedy")
    page.get_by_label("Place").select_option("1")
    page.get_by_label("Points from").fill("1")
    page.get_by_label("Points from").press("Enter")
    expect(page.get_by_role("heading", name="Games", exact=True)).to_be_in_viewport()
    assert "opponent=greedy" in page.url
    assert "curve=3" in page.url
    page.get_by_role("link", name="All games", exact=True).last.click()
    expect(page.get_by_role("link", name="Older games")).to_be_visible()
    assert visit.complaints == []
    page.context.close()
