"""Tests of converting between messages and the rules' types."""

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules import (
    Card,
    Move,
    RoundScore,
    Rules,
    Turn,
    View,
    apply,
    new_game,
    seats_to_move,
    shuffled_deck,
    view,
)
from arena.wire import convert
from arena.wire.v1 import referee_pb2 as pb
from tests.rules.helpers import VARIANTS


@st.composite
def views(draw: st.DrawFn) -> View:
    """Draw the view of any decision in a random game of any variant."""
    rules = draw(st.sampled_from(VARIANTS))
    state = new_game(rules, shuffled_deck(rules, draw(st.binary(min_size=16, max_size=16))))
    for _ in range(draw(st.integers(0, 3 * rules.turns))):
        moves: list[Move | None] = [None] * rules.players
        for seat in seats_to_move(state):
            legal = view(state, seat).legal_moves()
            moves[seat] = legal[draw(st.integers(0, len(legal) - 1))]
        after = apply(state, moves)
        if after.over:
            break
        state = after
    return view(state, draw(st.sampled_from(seats_to_move(state))))


def over_the_wire(message: pb.TurnRequest) -> pb.TurnRequest:
    """Return the message as the other side parses it."""
    return pb.TurnRequest.FromString(message.SerializeToString())


def numbers(*cards: int) -> list["pb.Card.ValueType"]:
    """Return these numbers, typed as cards. The wire allows any number."""
    return cast("list[pb.Card.ValueType]", list(cards))


@given(seen=views(), game=st.integers(0, 2**32 - 1), bank=st.integers(0, 2**32 - 1))
def test_a_bot_sees_exactly_the_view_that_the_referee_sent(seen: View, game: int, bank: int) -> None:
    """Converting a request back, together with the bot's stored history, gives an equal view."""
    sent = pb.TurnRequest()
    convert.fill_turn_request(sent, game, seen, convert.position_to_wire(seen), bank_millis=bank, nonce=7)
    request = over_the_wire(sent)
    read = convert.view_from_wire(
        request, rules=seen.rules, seat=seen.seat, turns=seen.turns, past_hands=seen.past_hands
    )
    assert read == seen
    assert all(type(card) is Card for card in read.hand)
    assert (request.game, request.bank_millis) == (game, bank)


@given(seen=views(), data=st.data())
def test_every_legal_move_survives_the_wire(seen: View, data: st.DataObject) -> None:
    """The dummy's card, the game, round and turn, and the note survive as well."""
    move = data.draw(st.sampled_from(seen.legal_moves()))
    message = pb.Move.FromString(convert.move_to_wire(7, seen, move, "why").SerializeToString())
    assert convert.move_from_wire(message) == move
    assert (message.game, message.round, message.turn, message.note) == (7, seen.round, seen.turn, "why")


@given(seen=views())
def test_every_revealed_turn_survives_the_wire(seen: View) -> None:
    """The order in which cards were placed is preserved, too."""
    for turn in seen.turns:
        message = pb.TurnResult.FromString(convert.turn_result(3, turn).SerializeToString())
        assert message.game == 3
        assert convert.turn_from_wire(message) == turn


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_rules_and_clock_reach_the_bot(rules: Rules) -> None:
    """GameStart has rules, clock and seat."""
    start = convert.game_start(5, 1, rules, move_millis=1000, bank_millis=9000)
    assert convert.rules_from_wire(start.rules) == rules
    assert (start.game, start.seat, start.clock.move_millis, start.clock.bank_millis) == (5, 1, 1000, 9000)


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_scores_and_results_survive_the_wire(rules: Rules) -> None:
    """Places are those given by the referee, not by the rules."""
    state = new_game(rules, shuffled_deck(rules, bytes(16)))
    while not state.over:
        moves = [
            view(state, s).legal_moves()[-1] if s in seats_to_move(state) else None
            for s in range(rules.players)
        ]
        state = apply(state, moves)
    assert state.result is not None
    for number, scores in enumerate(state.rounds, start=1):
        message = convert.round_result(2, number, scores)
        assert (message.game, message.round) == (2, number)
        sent = [
            RoundScore(*(getattr(score, name) for name in RoundScore._fields)) for score in message.scores
        ]
        assert tuple(sent) == scores
    places = tuple(range(1, rules.players + 1))
    end = convert.game_end(2, state.result, places)
    assert convert.result_from_wire(end) == state.result._replace(places=places)


def test_a_score_reaches_the_field_of_its_kind() -> None:
    """Points of each kind are in the field with the kind's name."""
    message = convert.round_result(0, 1, [RoundScore(1, 2, 3, 4, 5, 6)])
    assert message.scores[0] == pb.Score(tempura=1, sashimi=2, dumpling=3, maki=4, nigiri=5, soy_sauce=6)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (b"", "has 0 cards"),
        (pb.Move(cards=numbers(1, 1, 1)).SerializeToString(), "has 3 cards"),
        (pb.Move(cards=numbers(0)).SerializeToString(), "0 is not a card number"),
        (pb.Move(cards=numbers(1, 14)).SerializeToString(), "14 is not a card number"),
        (
            pb.Move(cards=numbers(1), dummy_card=numbers(99)[0]).SerializeToString(),
            "99 is not a card number",
        ),
        (pb.Move(cards=numbers(-1)).SerializeToString(), "-1 is not a card number"),
    ],
)
def test_a_move_without_one_or_two_cards_is_refused_with_the_reason(message: bytes, words: str) -> None:
    """A number that isn't assigned to a card raises ValueError, too."""
    with pytest.raises(ValueError, match=words):
        convert.move_from_wire(pb.Move.FromString(message))


def test_an_unknown_card_on_a_table_is_refused() -> None:
    """A bot doesn't guess what an unknown card means."""
    result = pb.TurnResult(plays=[pb.Play(cards=numbers(77))])
    with pytest.raises(ValueError, match="77 is not a card number"):
        convert.turn_from_wire(result)
    assert convert.turn_from_wire(pb.TurnResult(round=1, turn=2)) == Turn(1, 2, ())
