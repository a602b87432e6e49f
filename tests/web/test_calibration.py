"""The page that compares predictions with results."""

from arena.ladder.rating import BETAS
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import add_bots, play_set
from tests.db.builders import claimed, finished
from tests.web.html import Page
from tests.web.people import browser

PAGE = "/leaderboard/calibration"
DATA = f"/api/v1{PAGE}"


def test_page_and_data_have_the_same_numbers(world: World) -> None:
    """A table for each number of players that was played, and the parts of the games."""
    versions = add_bots(world.store, [("one", "ann"), ("two", "ben"), ("three", "cyd")])
    claim = claimed(world.store, versions[:2], deals=4)
    assert world.store.results.record(finished(claim, [(1, 2), (1, 2), (2, 1), (1, 1)]))
    play_set(world.store, [versions], Rules(players=3), name="three")
    data = browser(world).get(DATA).json()
    assert data["calibration"]["games"] == 6
    assert [(each["players"], each["games"]) for each in data["calibration"]["tables"]] == [(2, 4), (3, 2)]
    two, _, parts = Page(browser(world).get(PAGE).text).tables
    groups = data["calibration"]["tables"][0]["groups"]
    assert [row[:2] for row in two[1:]] == [
        [f"{100 * each['low']:.0f}\N{EN DASH}{100 * each['high']:.0f}%", str(each["pairs"])]
        for each in groups
    ]
    assert sum(each["pairs"] for each in groups) == 4
    assert parts[1][1:3] == ["6", "2"]
    assert data["betas"][0] == {"players": 2, "beta": BETAS[2]}


def test_a_new_match_changes_it(world: World) -> None:
    """With few games the page is made anew, and not sent again while nothing has changed."""
    versions = add_bots(world.store, [("one", "ann"), ("two", "ben")])
    visitor = browser(world)
    assert "No rated games yet" in visitor.get(PAGE).text
    play_set(world.store, [versions], Rules(players=2), name="two")
    answer = visitor.get(PAGE)
    assert len(Page(answer.text).tables) == 2
    assert visitor.get(PAGE, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    play_set(world.store, [versions], Rules(players=2), name="again")
    assert visitor.get(PAGE, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 200
    assert visitor.get(DATA).json()["calibration"]["games"] == 4
