"""Analyses of games, as a part of the game's page and as data."""

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
from tests.builders import START, analysed, fill, puzzled
from tests.soak import many
from tests.web.app import site_of
from tests.web.html import Page
from web.bots.history import SHOWN_MISTAKES
from web.games.analysis import MOST_COSTLY, laid_out

MOST_BYTES = 120_000
"""Of a page."""


@pytest.fixture(scope="module")
def analyses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Give a store in which three games are analysed, ``three-0-0`` by house bots too."""
    with closing(World.at(tmp_path_factory.mktemp("analyses"))) as world:
        fill(world.store)
        for game in ("faulty-0-0", "dummy-0-0"):
            analysed(world.store, game)
        puzzled(world.store, "three-0-0", START.date())
        yield world.store


@pytest.fixture(scope="module")
def visitor(analyses: Store) -> TestClient:
    """Give a client of its site."""
    return TestClient(site_of(analyses))


def test_a_game_without_one_says_how_to_get_it(client: TestClient) -> None:
    """With the command of the game's number; the API says that there is none."""
    text = client.get("/games/three-0-0").text
    assert 'id="analysis"' not in text
    assert re.search(r"<code>arena analyse \d+</code>", text)
    answer = client.get("/api/v1/games/three-0-0/analysis")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "This game has not been analysed."
    assert client.get("/api/v1/games/nothing/analysis").json()["detail"] == "There is no such game here."


def test_the_page_shows_what_the_api_returns(analyses: Store, visitor: TestClient) -> None:
    """Graphs with a line per seat, a row per seat, turning points, and the costliest decisions."""
    analysis = analyses.analyses.find("faulty-0-0")
    assert analysis is not None
    data = visitor.get("/api/v1/games/faulty-0-0/analysis")
    assert data.json() == json.loads(msgspec.json.encode(analysis))
    text = visitor.get("/games/faulty-0-0").text
    page = Page(text)
    part = text[text.index('<h2 id="analysis">') :]
    for seat in range(4):
        assert len(re.findall(rf'<path class="line l{seat}" d="M0 [\d.]+(L\d+ [\d.]+)+"/>', part)) == 2
    shown = laid_out(analysis)
    for turn in shown.turning_points:
        assert f'<a href="/games/faulty-0-0/{turn.round}/{turn.turn}">' in part
    assert 0 < len(shown.costly) <= MOST_COSTLY
    for each in shown.costly:
        made = each.made
        assert f"/games/faulty-0-0/{made.round}/{made.turn}?view=infer:{made.seat}" in page.links
        assert f"All {len(made.options)}</summary>" in part
    losses = [each.made.lost_chance for each in shown.costly]
    assert losses == sorted(losses, reverse=True)
    assert all(each.made.grade in {Grade.INACCURACY, Grade.BLUNDER} for each in shown.costly)


def test_every_link_of_it_leads_somewhere(visitor: TestClient) -> None:
    """To moments of the game, and to the documentation."""
    text = visitor.get("/games/dummy-0-0").text
    part = text[text.index('<h2 id="analysis">') : text.index('<h2 id="replay">')]
    for link in sorted(set(re.findall(r'href="(/[^"#]*)', part)))[:: many(4, 1)]:
        assert visitor.get(link).status_code == 200, link


def test_all_decisions_of_a_seat_are_listed_with_what_house_bots_would_have_played(
    analyses: Store, visitor: TestClient
) -> None:
    """In order, each with its options; a seat or an analysis that doesn't exist is not found."""
    analysis = analyses.analyses.find("three-0-0")
    assert analysis is not None
    for seat in range(3):
        address = f"/games/three-0-0/decisions/{seat}"
        assert f'href="{address}"' in visitor.get("/games/three-0-0").text
        text = visitor.get(address).text
        own = [each for each in analysis.decisions if each.seat == seat]
        links = [f"/games/three-0-0/{each.round}/{each.turn}?view=infer:{seat}" for each in own]
        assert re.findall(r'href="(/games/[^"]*view[^"]*)"', text) == links
        assert text.count("<details>") == len(own)
        assert len(text.encode()) < MOST_BYTES
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
    """With links to the moments, and what they have in common; without an analysis there is no such part."""
    assert 'id="mistakes"' not in client.get("/bots/random").text
    found = analyses.analyses.costly("random", 1)
    assert found
    text = visitor.get("/bots/random").text
    part = text[text.index('<h2 id="mistakes">') : text.index('<h2 id="faults">')]
    assert f"The newest {len(found):,} are counted" in part
    links = [f"/games/{it.game}/{it.round}/{it.turn}?view=infer:{it.seat}" for it in found[:SHOWN_MISTAKES]]
    assert re.findall(r'href="(/games/[^"]*view[^"]*)"', part) == links
    assert visitor.get(links[0]).status_code == 200
    assert sum(int(times) for times in re.findall(r"(\d+) in round \d", part)) == len(found)
    assert "Most often it should have taken" in part
