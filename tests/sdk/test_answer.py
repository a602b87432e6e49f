"""A bot's answers, and games in this process."""

from typing import Any

import pytest

from arena.rules import Card, IllegalMove, Move, Rules, View, view
from arena.sdk import Answer, GameOver, play
from arena.sdk.bot import as_move, note_of
from tests.sdk.referee import first_state


@pytest.fixture
def seen() -> View:
    """Return the view of a decision."""
    return view(first_state(Rules(players=2)), 0)


@pytest.mark.parametrize(
    ("answer", "move"),
    [
        (Card.WASABI, Move((Card.WASABI,))),
        ([Card.WASABI, Card.SQUID_NIGIRI], Move((Card.WASABI, Card.SQUID_NIGIRI))),
        ((card for card in (Card.TEMPURA,)), Move((Card.TEMPURA,))),
        (Move((Card.TEMPURA,), Card.PUDDING), Move((Card.TEMPURA,), Card.PUDDING)),
        (Answer(Card.TEMPURA, Card.PUDDING, "why"), Move((Card.TEMPURA,), Card.PUDDING)),
        (Answer([Card.TEMPURA]), Move((Card.TEMPURA,))),
        ([], Move(())),
    ],
)
def test_every_shape_of_an_answer_is_understood(answer: Any, move: Move, seen: View) -> None:  # noqa: ANN401 - whatever a bot returns
    """A bot may answer with a card, several cards, a Move or an Answer. The move needn't be legal here."""
    assert as_move(answer, seen) == move


@pytest.mark.parametrize(
    "answer",
    [None, "tempura", 3, [1, 2], b"\x01", Answer("tempura"), Move((Card.TEMPURA,), 4)],  # type: ignore[arg-type]
)
def test_other_values_are_refused_with_the_reason(answer: Any, seen: View) -> None:  # noqa: ANN401 - whatever a bot returns
    """Numbers and names are not cards. The error has the value and the permitted types."""
    with pytest.raises(TypeError, match=r"round 1, turn 1: choose\(\) returned .*; it must return a Card"):
        as_move(answer, seen)


def test_only_an_answer_has_a_note(seen: View) -> None:
    """A note must be text, also in games in this process. All other answers have an empty note."""
    assert note_of(Answer(Card.TEMPURA, note="why")) == "why"
    assert note_of(Card.TEMPURA) == note_of(Answer(Card.TEMPURA)) == ""
    with pytest.raises(TypeError, match="must be text, not 3"):
        note_of(Answer(Card.TEMPURA, note=3))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be text, not 3"):
        as_move(Answer(Card.TEMPURA, note=3), seen)  # type: ignore[arg-type]


def test_a_game_in_process_is_the_same_for_the_same_seed() -> None:
    """The same seed gives the same game, and another seed another."""

    def first(seen: View) -> Card:
        return seen.hand[0]

    assert play([first, first], seed=3) == play([first, first], seed=3)
    assert play([first, first], seed=3).deck != play([first, first], seed=4).deck


def test_a_game_in_process_creates_an_instance_and_reports_the_end_to_it() -> None:
    """As in the arena, every game has new instances, whose ``game_over`` gets the result."""
    ends: list[GameOver] = []

    class Bot:
        def choose(self, seen: View) -> Card:
            return seen.hand[-1]

        def game_over(self, end: GameOver) -> None:
            ends.append(end)

    state = play([Bot, Bot, Bot], Rules(players=3, soy_sauce=True))
    assert [end.seat for end in ends] == [0, 1, 2]
    assert {end.result for end in ends} == {state.result}


def test_a_game_in_process_refuses_what_the_rules_forbid() -> None:
    """An illegal move raises an error, as does a number of bots that differs from the number of seats."""
    with pytest.raises(IllegalMove, match="11 cards given"):
        play([lambda seen: [*seen.hand, Card.TEMPURA], lambda seen: seen.hand[0]])
    with pytest.raises(ValueError, match="2 bots for 3 seats"):
        play([lambda seen: seen.hand[0]] * 2, Rules(players=3))
