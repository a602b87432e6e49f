"""The public part of a game in progress."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.play.replay.disclosed import DisclosedGame, LiveSeat, disclose, encode_disclosed, parse_disclosed
from arena.play.replay.document import InvalidReplay, build
from arena.play.replay.verify import course, course_so_far
from arena.rules import Rules, State
from tests.play.replay.games import seats
from tests.play.replay.twins import VARIANTS, Steps, deck_of, play_rounds, twin_of


def shown(state: State, steps: Steps) -> DisclosedGame:
    """Return the public part of a game after a round."""
    rules = state.rules
    return disclose(
        game="m-0",
        state=state,
        seats=[LiveSeat(bot=f"bot-{seat}", version=1) for seat in range(rules.players)],
        places=(1,) * rules.players,
        steps=steps,
    )


@settings(max_examples=30)
@given(rules=st.sampled_from(VARIANTS), rounds=st.integers(1, 2), number=st.integers(0, 2**64))
def test_the_public_part_reveals_nothing_about_later_rounds(rules: Rules, rounds: int, number: int) -> None:
    """Two games with the same first rounds and different later deals have identical public parts.

    The same applies to the states of their course, whose decks must not contain the real later cards.
    """
    deck = deck_of(rules, number)
    twin = twin_of(rules, deck, rounds, Random(number))  # noqa: S311 - a test's dice
    one, other = (
        shown(*play_rounds(rules, each, rounds, Random(number)))  # noqa: S311 - a test's dice
        for each in (deck, twin)
    )
    assert deck != twin
    assert encode_disclosed(one) == encode_disclosed(other)
    assert course_so_far(one) == course_so_far(other)


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_the_public_part_equals_the_beginning_of_the_replay(rules: Rules) -> None:
    """Finished rounds have deals, turns and points. At the end there are also puddings and totals."""
    state, steps = play_rounds(rules, deck_of(rules, 7), 3, Random(7))  # noqa: S311 - a test's dice
    replay = build(game="m-0", seed=f"{7:032x}", state=state, seats=seats(rules), steps=steps)
    for rounds in (1, 2, 3):
        here = shown(*play_rounds(rules, deck_of(rules, 7), rounds, Random(7)))  # noqa: S311 - a test's dice
        turns = rounds * rules.turns
        assert here.deals == replay.deals[:rounds]
        assert here.turns == replay.turns[:turns]
        assert here.rounds == replay.rounds[:rounds]
        assert here.over == (rounds == 3)
        assert (here.totals, here.puddings.counts) == (
            (replay.totals, replay.puddings.counts) if here.over else ((), ())
        )
        for so_far, whole in zip(course_so_far(here), course(replay), strict=False):
            assert so_far.moment.state.hands == whole.moment.state.hands
            assert so_far.moment.tables == whole.moment.tables
        assert parse_disclosed(encode_disclosed(here)) == here


def test_nothing_can_be_disclosed_within_a_round() -> None:
    """Disclosure raises ValueError before the end of round 1 and within a later round."""
    rules = Rules(players=3)
    deck = deck_of(rules, 1)
    dice = Random(1)  # noqa: S311 - a test's dice
    state, steps = play_rounds(rules, deck, 2, dice)
    begun, _ = play_rounds(rules, deck, 0, dice)
    with pytest.raises(ValueError, match="round 1, turn 1 is in progress"):
        shown(begun, ())
    with pytest.raises(ValueError, match="16 joint decisions"):
        shown(state, steps[:-1])
    within = state._replace(turns=(*state.turns, state.turns[0]), turn=2)
    with pytest.raises(ValueError, match="round 3, turn 2 is in progress"):
        shown(within, steps)


@pytest.mark.parametrize(
    "text",
    ["", "{}", '{"format":"kaiten-live/1"}', "[]"],
)
def test_other_texts_are_refused(text: str) -> None:
    """A text that isn't a partial game raises InvalidReplay."""
    with pytest.raises(InvalidReplay, match="not a valid partial game"):
        parse_disclosed(text)


def test_a_game_that_breaks_the_rules_is_refused() -> None:
    """Another format, or a card that was dealt too often, raises InvalidReplay."""
    rules = Rules(players=2)
    text = encode_disclosed(shown(*play_rounds(rules, deck_of(rules, 3), 1, Random(3))))  # noqa: S311 - a test's dice
    with pytest.raises(InvalidReplay, match="this program reads only"):
        parse_disclosed(text.replace("kaiten-live/1", "kaiten-live/2"))
    wrong = text.replace('"pudding"', '"wasabi"')
    for card in ("salmon_nigiri", "egg_nigiri", "squid_nigiri", "maki_1", "maki_2", "maki_3", "sashimi"):
        wrong = wrong.replace(f'"{card}"', '"wasabi"')
    assert wrong.count('"wasabi"') > 6
    with pytest.raises(InvalidReplay, match="not a valid partial game"):
        course_so_far(parse_disclosed(wrong))
