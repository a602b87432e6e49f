"""Tests that docs/replay.md shows a real game and describes all fields of the format."""

import dataclasses
import json
from functools import partial
from typing import Any

import pytest

from arena.play.botfiles import FILE, load_bot, samples
from arena.play.replay.document import (
    PublicReplay,
    ReplayPuddings,
    ReplayRound,
    ReplayTurn,
    Seat,
    encode,
    parse,
)
from arena.play.replay.verify import verify
from arena.play.simulate import SimulatedPlayer, simulate
from arena.rules import Rules
from arena.sdk.bot import new_chooser
from tests.docs.documents import DOCS, blocks

PAGE = DOCS / "replay.md"


@pytest.fixture(scope="module")
def game() -> dict[str, Any]:
    """Return the game that the page's command gives."""
    bots = ("greedy", "random")
    loaded = [load_bot(samples() / bot / FILE) for bot in bots]
    players = [
        SimulatedPlayer(seat=Seat(bot=name, version=1, author="house"), factory=partial(new_chooser, bot))
        for name, bot in zip(bots, loaded, strict=True)
    ]
    (replay,) = simulate(Rules(players=2), players, 1, 1)
    document: dict[str, Any] = json.loads(encode(replay))
    return document


def is_part(shown: object, whole: object) -> bool:
    """Return whether ``whole`` has every key of ``part``, and its lists begin with the same entries."""
    if isinstance(shown, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(value, whole[key]) for key, value in shown.items())
    if isinstance(shown, list) and isinstance(whole, list):
        return len(shown) <= len(whole) and all(map(is_part, shown, whole))
    return shown == whole


def test_the_examples_are_parts_of_the_game(game: dict[str, Any]) -> None:
    """Together, the examples have every top-level key."""
    shown = [json.loads(block) for block in blocks(PAGE, "json")]
    for part in shown:
        assert is_part(part, game)
    assert list(game) == [key for part in shown for key in part]


def test_every_field_is_described() -> None:
    """Each field of the format is named between backticks, or shown in an example."""
    text = PAGE.read_text()
    listed = [*dataclasses.fields(PublicReplay), *dataclasses.fields(ReplayTurn)]
    shown = [*dataclasses.fields(ReplayRound), *dataclasses.fields(ReplayPuddings)]
    assert [field.name for field in listed if f"`{field.name}`" not in text] == []
    assert [field.name for field in shown if f'"{field.name}"' not in text] == []


def test_the_difference_on_the_page_is_that_of_verify(game: dict[str, Any]) -> None:
    """The page shows the actual message for a changed total."""
    spoilt = game | {"totals": [50, game["totals"][1]]}
    assert f"game simulate-1-0: {verify(parse(json.dumps(spoilt)))}" in PAGE.read_text()
