"""The analyst evaluates every legal move reproducibly, from what the seat could know."""

from functools import cache
from random import Random

import pytest

from arena.play.analysis.analyst import analyse, judged, turn_of
from arena.play.analysis.futures import Futures
from arena.play.replay.document import labels
from arena.play.replay.verify import RecordedDecision, decisions, log_of
from arena.protocol.analysis import Analysis
from arena.rules import Rules, apply, new_game, replay, shuffled_deck, view
from arena.sdk.search import worlds
from tests.play.replay.games import SEED, replay_of, spread

VARIANTS = (
    Rules(players=2),
    Rules(players=2, dummy=True, soy_sauce=True),
    Rules(players=3, pass_both_ways=True),
    Rules(players=5, soy_sauce=True),
)
FEW = 8


def dice() -> Random:
    """Return a random generator with a fixed seed."""
    return Random(1)  # noqa: S311 - a test's dice


@cache
def analysed(rules: Rules) -> Analysis:
    """Return the analysis of a random game."""
    return analyse(replay_of(rules), playouts=FEW)


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_every_decision_is_valued(rules: Rules) -> None:
    """Every legal move is an option, with the best first; ``played`` is the recorded move."""
    recorded = replay_of(rules)
    analysis = analysed(rules)
    made = decisions(recorded)
    assert len(analysis.decisions) == len(made)
    for each, graded in zip(made, analysis.decisions, strict=True):
        assert (graded.round, graded.turn, graded.seat) == (each.view.round, each.view.turn, each.view.seat)
        options = {(option.cards, option.dummy) for option in graded.options}
        assert len(options) == len(graded.options) == len(worlds(each.view)(dice()).moves(each.view.seat))
        assert options <= {
            (labels(move.cards), move.dummy and move.dummy.label) for move in each.view.legal_moves()
        }
        played = graded.options[graded.played]
        assert sorted(played.cards) == sorted(labels(each.move.cards))
        assert played.dummy == (each.move.dummy and each.move.dummy.label)
        assert graded.lost_chance == pytest.approx(graded.options[0].chance - played.chance, abs=2e-4)
        assert graded.lost_chance >= 0


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_chances_from_all_hands_add_up_to_one(rules: Rules) -> None:
    """The seats' chances add up to one, since each playout has one first place, which seats may share."""
    recorded = replay_of(rules)
    analysis = analysed(rules)
    states = replay(log_of(recorded)).states
    assert [(turn.round, turn.turn) for turn in analysis.turns] == [
        (each.round, each.turn) for each in states[:-1]
    ]
    for turn in analysis.turns:
        assert sum(outlook.chance for outlook in turn.dealt) == pytest.approx(1, abs=1e-3)
        assert len(turn.known) == rules.players
    assert sum(analysis.result) == 1
    assert [share > 0 for share in analysis.result] == [place == 1 for place in recorded.places]


def test_the_same_arguments_give_the_same_numbers() -> None:
    """The same game and seed give the same numbers, and another seed gives others."""
    recorded = replay_of(Rules(players=2))
    first = analyse(recorded, seed=7, playouts=FEW)
    assert analyse(recorded, seed=7, playouts=FEW) == first
    assert analyse(recorded, seed=8, playouts=FEW).turns != first.turns


def test_a_seat_is_judged_by_what_it_could_know() -> None:
    """Exchanging others' hands changes the chances from all hands, but not those from what the seat knows."""
    rules = Rules(players=3)
    deck = shuffled_deck(rules, SEED)
    size = rules.hand_size
    exchanged = (*deck[:size], *deck[2 * size : 3 * size], *deck[size : 2 * size], *deck[3 * size :])
    turns, values = [], []
    for cards in (deck, exchanged):
        state = new_game(rules, cards)
        futures = Futures(state, dice())
        seen = view(state, 0)
        made = RecordedDecision(0, seen, seen.legal_moves()[0], standin=False)
        turns.append(turn_of(state, futures, dice(), 50))
        values.append(judged(made, futures, dice(), 50))
    assert values[0] == values[1]
    assert turns[0].known[0] == turns[1].known[0]
    assert turns[0].dealt != turns[1].dealt


def test_the_last_decision_has_the_values_that_the_rules_give() -> None:
    """With two players all cards are known, so an option's points lie within those of the other's moves."""
    recorded = replay_of(Rules(players=2))
    states = replay(log_of(recorded)).states
    state = states[-2]
    futures = Futures(next(each for each in states if each.round == 3), dice())
    for made in decisions(recorded)[-2:]:
        graded = judged(made, futures, dice(), 40)
        for option in graded.options:
            move = next(
                each for each in view(state, graded.seat).legal_moves() if labels(each.cards) == option.cards
            )
            ends = []
            for answer in view(state, 1 - graded.seat).legal_moves():
                moves = [move, answer] if graded.seat == 0 else [answer, move]
                result = apply(state, spread(state, moves)).result
                assert result is not None
                ends.append(result.totals[graded.seat])
            assert min(ends) <= option.points <= max(ends)


def test_futures_deal_only_cards_that_are_left() -> None:
    """In round 3 the only future is empty. In round 2 futures add points, and at most the puddings left."""
    recorded = replay_of(Rules(players=5))
    states = {state.round: state for state in replay(log_of(recorded)).states[:-1]}
    (empty,) = Futures(states[3], dice()).draw(dice())
    assert not any(empty.points + empty.puddings)
    left = 10 - sum(states[2].puddings)
    drawn = Futures(states[2], dice()).draw(dice())
    assert all(sum(future.puddings) <= left for future in drawn)
    assert all(min(future.points) >= 0 and sum(future.points) > 20 for future in drawn)
