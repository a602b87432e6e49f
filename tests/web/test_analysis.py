"""Analyses of games, on the game's page and as data."""

import json
import re
from collections.abc import Iterator
from contextlib import closing

import msgspec
import pytest
from fastapi.testclient import TestClient

from arena.db.store import Store
from arena.protocol.analysis import Grade
from tests.accounts.world import World
from tests.builders import START, analysed, puzzled
from tests.db.builders import present
from tests.soak import many
from tests.web.app import site_of
from tests.web.html import Page
from tests.web.stable import fill_games
from web.bots.history import SHOWN_MISTAKES
from web.games.pages import MAX_COSTLY, lay_out

MAX_BYTES = 120_000
"""Maximum size of a page."""


@pytest.fixture(scope="module")
def analyses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Yield a store with three analysed games. The analysis of ``three-0-0`` has the house bots' choices."""
    with closing(World.at(tmp_path_factory.mktemp("analyses"))) as world:
        world.filled(fill_games)
        for game in ("faulty-0-0", "dummy-0-0"):
            analysed(world.store, game)
        puzzled(world.store, "three-0-0", START.date())
        yield world.store


@pytest.fixture(scope="module")
def visitor(analyses: Store) -> TestClient:
    """Return a client of the site with the analyses."""
    return TestClient(site_of(analyses))


def test_a_game_without_an_analysis_says_how_to_get_one(client: TestClient) -> None:
    """The page shows the command with the game's number. The API reports that there is no analysis."""
    text = client.get("/games/three-0-0").text
    assert 'id="analysis"' not in text
    assert re.search(r"<code>arena analyse \d+</code>", text)
    answer = client.get("/api/v1/games/three-0-0/analysis")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "This game has not been analysed."
    assert client.get("/api/v1/games/nothing/analysis").json()["detail"] == "There is no game with this id."


def test_the_page_shows_what_the_api_returns(analyses: Store, visitor: TestClient) -> None:
    """The page has graphs with a line per seat, the turning points and the costliest decisions."""
    analysis = present(analyses.analyses.find("faulty-0-0"))
    data = visitor.get("/api/v1/games/faulty-0-0/analysis")
    assert data.json() == json.loads(msgspec.json.encode(analysis))
    text = visitor.get("/games/faulty-0-0").text
    page = Page(text)
    part = text[text.index('<h2 id="analysis">') :]
    for seat in range(4):
        assert len(re.findall(rf'<path class="line l{seat}" d="M0 [\d.]+(L\d+ [\d.]+)+"/>', part)) == 2
    shown = lay_out(analysis)
    for index in analysis.turning_points:
        turn = analysis.turns[index]
        assert f'<a href="/games/faulty-0-0/{turn.round}/{turn.turn}">' in part
    assert 0 < len(shown.costly) <= MAX_COSTLY
    for decision in shown.costly:
        assert f"/games/faulty-0-0/{decision.round}/{decision.turn}?view=infer:{decision.seat}" in page.links
        assert f"Options: {len(decision.options)}</summary>" in part
    losses = [decision.lost_chance for decision in shown.costly]
    assert losses == sorted(losses, reverse=True)
    assert all(decision.grade in {Grade.INACCURACY, Grade.BLUNDER} for decision in shown.costly)


def test_every_link_of_an_analysis_works(visitor: TestClient) -> None:
    """The links lead to moments of the game and to the documentation."""
    text = visitor.get("/games/dummy-0-0").text
    part = text[text.index('<h2 id="analysis">') : text.index('<h2 id="replay">')]
    for link in sorted(set(re.findall(r'href="(/[^"#]*)', part)))[:: many(4, 1)]:
        assert visitor.get(link).status_code == 200, link


def test_all_decisions_of_a_seat_are_listed_with_the_house_bots_choices(
    analyses: Store, visitor: TestClient
) -> None:
    """They are in order, with their options. An unknown seat or a game without an analysis gets a 404."""
    analysis = present(analyses.analyses.find("three-0-0"))
    for seat in range(3):
        address = f"/games/three-0-0/decisions/{seat}"
        assert f'href="{address}"' in visitor.get("/games/three-0-0").text
        text = visitor.get(address).text
        own = [each for each in analysis.decisions if each.seat == seat]
        links = [f"/games/three-0-0/{each.round}/{each.turn}?view=infer:{seat}" for each in own]
        assert re.findall(r'href="(/games/[^"]*view[^"]*)"', text) == links
        assert text.count("<details>") == len(own)
        assert len(text.encode()) < MAX_BYTES
        groups = re.findall(r'<div>.*?<span class="soft">([^<]*)</span></div>', text)
        named = [name for group in groups for name in group.split(", ")]
        assert sorted(named) == sorted(name for each in own for name in each.house) != []
    assert visitor.get("/games/three-0-0/decisions/3").status_code == 404
    assert visitor.get("/games/three-0-0/decisions/9").status_code == 404
    assert visitor.get("/games/three-1-0/decisions/0").status_code == 404
    assert visitor.get("/games/nothing/decisions/0").status_code == 404


def test_a_bots_page_lists_its_costliest_decisions(
    analyses: Store, visitor: TestClient, client: TestClient
) -> None:
    """They link to their moments, and have a summary. Without analyses, the section is missing."""
    assert 'id="mistakes"' not in client.get("/bots/random").text
    found = analyses.analyses.costly("random", 1)
    assert found
    text = visitor.get("/bots/random").text
    part = text[text.index('<h2 id="mistakes">') : text.index('<h2 id="faults">')]
    assert f"Number of such decisions (latest only): {len(found):,}" in part
    links = [f"/games/{it.game}/{it.round}/{it.turn}?view=infer:{it.seat}" for it in found[:SHOWN_MISTAKES]]
    assert re.findall(r'href="(/games/[^"]*view[^"]*)"', part) == links
    assert visitor.get(links[0]).status_code == 200
    assert sum(int(times) for times in re.findall(r"(\d+) in round \d", part)) == len(found)
    assert "Cards most often missed: " in part
    assert "Cards most often taken wrongly: " in part
