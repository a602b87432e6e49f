"""The rules against a second engine, written from the rule text alone: 20,000 games in ``make soak``."""

import json
from itertools import product
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.play.replay.document import Seat, build, encode
from arena.rules import (
    Card,
    Move,
    Rules,
    State,
    apply,
    asked,
    new_game,
    places,
    score_puddings,
    score_round,
    shuffled_deck,
    simulation_seed,
    view,
)
from arena.rules.scoring import score_maki
from tests.naive import engine
from tests.naive.engine import Choice, Game, shuffle, simulate_seed
from tests.soak import many

from .helpers import VARIANTS, name

GAMES: Final = many(50, 1_000)
"""For each of the 20 combinations of players and variants."""
PARTS: Final = many(1, 5)
"""Each combination is split, so that its games can be played side by side."""
COMPARED: Final = 50
"""In one game of this many the legal choices of every decision are compared as a whole."""


def chosen(move: Move) -> Choice:
    """Write a move as the naive engine does."""
    return tuple(card.label for card in move.cards), move.dummy.label if move.dummy else None


def same_position(state: State, game: Game) -> None:
    """Both engines ask the same seats, who hold the same cards."""
    seats = asked(state)
    assert list(seats) == game.asked()
    for seat in seats:
        assert [card.label for card in state.hands[seat]] == game.hand(seat)


def play(rules: Rules, seed: bytes, *, compare_choices: bool) -> tuple[State, Game]:
    """Play one game in both engines, each legal choice being as likely as the others."""
    dice = Random(seed)  # noqa: S311 - a test's dice
    deck = shuffled_deck(rules, seed)
    labels = shuffle(seed, soy_sauce=rules.soy_sauce)
    assert [card.label for card in deck] == labels
    state = new_game(rules, deck)
    game = Game(rules.players, labels, rules.pass_both_ways, rules.soy_sauce, rules.dummy)
    while not state.over:
        same_position(state, game)
        moves: list[Move | None] = [None] * rules.players
        for seat in asked(state):
            legal = view(state, seat).legal_moves()
            if compare_choices:
                assert {chosen(move) for move in legal} == set(game.choices(seat))
            moves[seat] = dice.choice(legal)
        state = apply(state, moves)
        game.play({seat: chosen(move) for seat, move in enumerate(moves) if move})
    assert game.over
    return state, game


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("rules", VARIANTS, ids=name)
def test_both_engines_agree(rules: Rules, part: int) -> None:
    """Who is asked, hands, legal choices, and the whole record of every game."""
    seats = [Seat(bot="random", version=1, author="house")] * rules.players
    for number in range(part, GAMES, PARTS):
        seed = simulation_seed(VARIANTS.index(rules), number)
        assert seed == simulate_seed(VARIANTS.index(rules), number)
        state, game = play(rules, seed, compare_choices=number % COMPARED < PARTS)
        replay = json.loads(encode(build(game="", seed=seed.hex(), state=state, seats=seats)))
        expected = game.replay()
        for turn in replay["turns"]:
            assert (turn.pop("standin"), turn.pop("fault")) == (
                [False] * rules.players,
                [None] * rules.players,
            )
            assert turn.pop("millis") is None
        assert {key: replay[key] for key in expected} == expected
        assert replay["rules_places"] == expected["places"]


COUNTS: Final = (2, 3, 4, 5)


@pytest.mark.parametrize("count", COUNTS)
def test_both_engines_split_maki_alike(count: int) -> None:
    """For all distributions of up to five icons each."""
    for icons in product(range(6), repeat=count):
        assert list(score_maki(icons)) == engine.maki_scores(list(icons))


@pytest.mark.parametrize("count", COUNTS)
def test_both_engines_split_puddings_and_places_alike(count: int) -> None:
    """For all distributions of up to four puddings each; two players with a dummy are scored as three."""
    for puddings in product(range(5), repeat=count):
        nobody_loses = count == 2
        expected = engine.pudding_scores(list(puddings), nobody_loses)
        assert list(score_puddings(Rules(players=count), puddings)) == expected
        totals = [number % 3 for number in puddings]
        assert list(places(totals, puddings)) == engine.places(totals, list(puddings))


@given(st.lists(st.lists(st.sampled_from(Card), max_size=10).map(tuple), min_size=2, max_size=5))
def test_both_engines_score_a_round_alike(tables: list[tuple[Card, ...]]) -> None:
    """Whatever lies on the tables, in whatever order, dealt or not."""
    scores = score_round(Rules(players=len(tables), soy_sauce=True), tables)
    labels = [[card.label for card in table] for table in tables]
    assert [score._asdict() for score in scores] == engine.score_round(labels, soy_sauce=True)
