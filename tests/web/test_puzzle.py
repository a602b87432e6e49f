"""The puzzle of the day."""

import re
from datetime import timedelta

from fastapi.testclient import TestClient

from tests.accounts.world import World
from tests.builders import puzzled
from tests.web.app import site_over
from tests.web.stable import fill_games


def test_a_visitor_chooses_a_card_and_sees_the_answer(world: World) -> None:
    """At first, only table and hand are shown, then all cards with their values and who chose them."""
    world.filled(fill_games)
    today = world.now.date()
    address = f"/puzzle/{today.isoformat()}"
    made = puzzled(world.store, "three-0-0", today)
    client = TestClient(site_over(world))
    asked = client.get("/puzzle").text
    assert client.get(address).text == asked
    cards = re.findall(r'<button class="pick" name="card" value="(\w+)">', asked)
    assert set(cards) == {option.cards[0] for option in made.options}
    assert f'action="{address}"' in asked
    assert "Chance of winning" not in asked
    best, *_, worst = (option.cards[0] for option in made.options)
    right = client.get(f"{address}?card={best}").text
    assert "Right:" in right
    wrong = client.get(f"{address}?card={worst}").text
    assert "The best is" in wrong
    assert wrong.count('data-label="Chance of winning"') == len(made.options)
    assert all(name in wrong for name in made.house)
    there = re.search(r'href="(/games/three-0-0/[^"]*)"', wrong)
    assert there is not None
    assert client.get(there[1].replace("&amp;", "&")).status_code == 200
    front = client.get("/").text
    assert "Puzzle of the day" in front
    assert 'href="/puzzle"' in front


def test_future_puzzles_are_hidden(world: World) -> None:
    """Invalid dates and cards are refused, and earlier puzzles are listed."""
    world.filled(fill_games)
    today = world.now.date()
    client = TestClient(site_over(world))
    assert "There is no puzzle yet" in client.get("/puzzle").text
    assert "Puzzle of the day" not in client.get("/").text
    yesterday, tomorrow = today - timedelta(days=1), today + timedelta(days=1)
    puzzled(world.store, "three-0-0", yesterday)
    puzzled(world.store, "three-0-0", tomorrow)
    made = puzzled(world.store, "three-0-1", today)
    assert f'href="/puzzle/{yesterday.isoformat()}"' in client.get("/puzzle").text
    for path, status in {
        f"/puzzle/{tomorrow.isoformat()}": 404,
        "/puzzle/2020-01-01": 404,
        "/puzzle/soon": 404,
        f"/puzzle/{today.isoformat()}?card=sushi": 422,
        f"/puzzle/{today.isoformat()}?card=": 422,
        f"/puzzle/{today.isoformat()}?card={'x' * 99}": 422,
        f"/puzzle/{today.isoformat()}?card={made.options[0].cards[0]}": 200,
    }.items():
        assert client.get(path).status_code == status, path
