"""Section "Determinism": the shuffle ``sha256-fisher-yates/1``."""

import json
from collections import Counter
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from arena.rules import SHUFFLE, Rules, shuffled_deck, simulation_seed
from tests.naive.engine import below, words

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs" / "shuffle-vectors.json").read_text()
)


def test_the_vectors_are_of_this_shuffle() -> None:
    """The name of the shuffle in the documentation's vectors is that of the code."""
    assert VECTORS["shuffle"] == SHUFFLE


@pytest.mark.parametrize("vector", VECTORS["decks"], ids=itemgetter("seed"))
def test_a_seed_gives_the_documented_deck(vector: dict[str, Any]) -> None:
    """Every documented seed gives its deck; for two of them, a word is skipped."""
    deck = shuffled_deck(Rules(players=2, soy_sauce=vector["soy_sauce"]), bytes.fromhex(vector["seed"]))
    assert [card.label for card in deck] == vector["deck"]


@pytest.mark.parametrize("vector", VECTORS["simulate"])
def test_the_seeds_of_a_simulation(vector: dict[str, Any]) -> None:
    """Game k of ``--seed N`` has the documented seed."""
    assert simulation_seed(vector["number"], vector["game"]).hex() == vector["seed"]


def test_the_documented_words_and_bounds() -> None:
    """The documentation's vectors for words and for ``below`` are correct."""
    for vector in VECTORS["words"]:
        assert list(islice(words(bytes.fromhex(vector["seed"])), 10)) == vector["first"]
    for vector in VECTORS["below"]:
        last = below(vector["n"], iter([vector["word"], 0]))
        assert last == (vector["result"] or 0)
        assert (vector["word"] >= 2**32 // vector["n"] * vector["n"]) == (vector["result"] is None)


@pytest.mark.parametrize("vector", VECTORS["passed_over"], ids=itemgetter("seed"))
def test_a_seed_with_a_word_that_is_skipped(vector: dict[str, Any]) -> None:
    """The documented seeds with a skipped word have a word too large for its n, and a documented deck."""
    word = next(islice(words(bytes.fromhex(vector["seed"])), vector["number"], None))
    size = 112 if vector["soy_sauce"] else 108
    assert (word, vector["n"]) == (vector["word"], size - vector["number"])
    assert word >= 2**32 // vector["n"] * vector["n"]
    decks = [(deck["seed"], deck["soy_sauce"]) for deck in VECTORS["decks"]]
    assert (vector["seed"], vector["soy_sauce"]) in decks


@pytest.mark.parametrize("length", [0, 15, 17, 32])
def test_a_seed_has_16_bytes(length: int) -> None:
    """Seeds that aren't 16 bytes long are refused."""
    with pytest.raises(ValueError, match=f"the seed is {length} bytes long; it must be 16"):
        shuffled_deck(Rules(players=2), bytes(length))


def test_puddings_reach_every_position() -> None:
    """Many seeds put about equally many puddings in all positions (chi-squared, 107 degrees of freedom)."""
    counts: Counter[int] = Counter()
    games = 3000
    for game in range(games):
        deck = shuffled_deck(Rules(players=2), simulation_seed(1, game))
        counts.update(position for position, card in enumerate(deck) if card.label == "pudding")
    expected = games * 10 / 108
    chi = sum((counts[position] - expected) ** 2 / expected for position in range(108))
    # Drawing without replacement gives a little less than chi-squared. Of that, 0.1% is above 158, and
    # 0.1% is below 68.
    assert 60 < chi < 160
