"""The rules, compared with an engine written only from the rule text, in 20,000 games with ``make soak``."""

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
    new_game,
    places,
    score_puddings,
    score_round,
    seats_to_move,
    shuffled_deck,
    simulation_seed,
    view,
)
from arena.rules.scoring import score_maki
from tests.naive import engine
from tests.naive.engine import Choice, Game, shuffle, simulate_seed
from tests.soak import many

from .helpers import VARIANTS, name

GAMES: Final = many(20, 1_000)
"""Number of games for each of the 20 combinations of players and variants."""
PARTS: Final = many(1, 5)
"""Each combination has this many tests, so that its games can be played in parallel."""
COMPARED: Final = 50
"""Of this many games in succession, one in each part compares all legal moves of every decision."""


def chosen(move: Move) -> Choice:
    """Return a move in the notation of the naive engine."""
    return tuple(card.label for card in move.cards), move.dummy.label if move.dummy else None


def same_position(state: State, game: Game) -> None:
    """Check that both engines ask the same seats, with the same hands."""
    seats = seats_to_move(state)
    assert list(seats) == game.asked()
    for seat in seats:
        assert [card.label for card in state.hands[seat]] == game.hand(seat)


def play(rules: Rules, seed: bytes, *, compare_choices: bool) -> tuple[State, Game]:
    """Play the same random game in both engines."""
    dice = Random(seed)  # noqa: S311 - a test's dice
    deck = shuffled_deck(rules, seed)
    labels = shuffle(seed, soy_sauce=rules.soy_sauce)
    assert [card.label for card in deck] == labels
    state = new_game(rules, deck)
    game = Game(rules.players, labels, rules.pass_both_ways, rules.soy_sauce, rules.dummy)
    while not state.over:
        same_position(state, game)
        moves: list[Move | None] = [None] * rules.players
        for seat in seats_to_move(state):
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
    """The engines agree on the seats that are asked, hands, legal moves and complete records."""
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
    """All distributions of up to five icons each are compared."""
    for icons in product(range(6), repeat=count):
        assert list(score_maki(icons)) == engine.maki_scores(list(icons))


@pytest.mark.parametrize("count", COUNTS)
def test_both_engines_split_puddings_and_places_alike(count: int) -> None:
    """All distributions of up to four puddings each are compared. Two players with a dummy count as three."""
    for puddings in product(range(5), repeat=count):
        nobody_loses = count == 2
        expected = engine.pudding_scores(list(puddings), nobody_loses)
        assert list(score_puddings(Rules(players=count), puddings)) == expected
        totals = [number % 3 for number in puddings]
        assert list(places(totals, puddings)) == engine.places(totals, list(puddings))


@given(st.lists(st.lists(st.sampled_from(Card), max_size=10).map(tuple), min_size=2, max_size=5))
def test_both_engines_score_a_round_alike(tables: list[tuple[Card, ...]]) -> None:
    """The tables have any cards in any order, even combinations that can't be dealt."""
    scores = score_round(Rules(players=len(tables), soy_sauce=True), tables)
    labels = [[card.label for card in table] for table in tables]
    assert [score._asdict() for score in scores] == engine.score_round(labels, soy_sauce=True)
