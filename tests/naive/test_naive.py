"""The naive engine against the examples in the rule texts and cases worked out by hand.

Points of rounds, puddings and places are in ``tests/rules``, where both engines are compared.
"""

import copy
import itertools
import json
import random
from typing import Any

import pytest

from tests.soak import many

from .engine import (
    HAND_SIZE,
    KINDS,
    Choice,
    Game,
    below,
    score_round,
    shuffle,
    simulate_seed,
    split,
    start_order,
)

SEED = bytes(range(16))

VARIANTS = [
    {"players": players, "pass_both_ways": both, "soy_sauce": soy, "dummy": dummy}
    for players in (2, 3, 4, 5)
    for both in (False, True)
    for soy in (False, True)
    for dummy in (False, True)
    if players == 2 or not dummy
]


def rig(hands: list[list[str]], **switches: bool) -> Game:
    """A game whose round 1 has these hands; rounds 2 and 3 are all tempura."""
    dummy = bool(switches.get("dummy"))
    size = 9 if dummy else HAND_SIZE[len(hands)]
    deck: list[str] = []
    for hand in hands:
        deck += hand + ["tempura"] * (size - len(hand))
    deck += ["tempura"] * (2 * size * len(hands))
    return Game(2 if dummy else len(hands), deck, **switches)


def make(variant: dict[str, Any], seed: bytes = SEED) -> Game:
    """A game of a variant from a seeded deck."""
    return Game(deck=shuffle(seed, variant["soy_sauce"]), **variant)


def one(card: str) -> Choice:
    """The choice of a single card."""
    return ((card,), None)


def two(first: str, second: str) -> Choice:
    """The choice of two cards with chopsticks."""
    return ((first, second), None)


def any_turn(game: Game, rng: random.Random) -> dict[int, Choice]:
    """A legal joint turn, chosen at random."""
    return {seat: rng.choice(game.choices(seat)) for seat in game.asked()}


def play_out(game: Game, rng: random.Random) -> None:
    """Play a game to its end at random."""
    while not game.over:
        game.play(any_turn(game, rng))


def sizes(game: Game) -> list[int]:
    """How many cards each hand holds."""
    return [len(game.hand(seat)) for seat in range(game.players)]


# Deck, shuffle, deal


@pytest.mark.parametrize(("soy_sauce", "size"), [(False, 108), (True, 112)])
def test_deck_size(soy_sauce: bool, size: int) -> None:
    """108 cards, 112 with soy sauce, and a shuffle keeps every one of them."""
    assert len(start_order(soy_sauce)) == size
    assert sorted(shuffle(SEED, soy_sauce)) == sorted(start_order(soy_sauce))


def test_start_order_is_that_of_the_table() -> None:
    """Before the shuffle the kinds are in the table's order, soy sauce last."""
    deck = start_order(True)
    assert [kind for kind, _ in itertools.groupby(deck)] == KINDS
    assert [deck.count(kind) for kind in KINDS] == [14, 14, 14, 6, 12, 8, 10, 5, 5, 10, 6, 4, 4]


def test_shuffle_vectors() -> None:
    """Deck orders worked out by an unrelated program in another language."""
    assert (
        shuffle(SEED, False)[:12]
        == (
            "dumpling pudding salmon_nigiri maki_2 sashimi egg_nigiri"
            " sashimi tempura wasabi chopsticks dumpling squid_nigiri"
        ).split()
    )
    assert shuffle(SEED, False)[-4:] == "egg_nigiri sashimi maki_3 chopsticks".split()
    assert (
        shuffle(SEED, True)[:12]
        == (
            "tempura tempura dumpling wasabi tempura egg_nigiri"
            " dumpling maki_1 sashimi dumpling sashimi salmon_nigiri"
        ).split()
    )
    assert shuffle(SEED, True)[-4:] == "tempura tempura maki_3 maki_1".split()


def test_below_skips_words_that_would_favour_small_numbers() -> None:
    """floor(2^32 / 3) * 3 is 2^32 - 1, so only the largest word is skipped. For 4, no word is."""
    assert below(3, iter([2**32 - 1, 5])) == 2
    assert below(3, iter([2**32 - 2, 5])) == 2
    assert below(4, iter([2**32 - 1, 5])) == 3
    assert below(1, iter([7])) == 0


def test_seed_has_sixteen_bytes() -> None:
    """Any other length of seed is refused."""
    with pytest.raises(ValueError, match="16 bytes"):
        shuffle(b"short", False)


def test_simulate_seed_vector() -> None:
    """The first 16 bytes of SHA-256("simulate" || 1 || 2), as sha256sum computes them."""
    assert simulate_seed(1, 2).hex() == "42b4298e0119178f20238827724e7667"


@pytest.mark.parametrize(("players", "size"), [(2, 10), (3, 9), (4, 8), (5, 7)])
def test_deal(players: int, size: int) -> None:
    """Hands of 10, 9, 8 or 7, dealt whole, seat by seat, round by round, from the front of one deck."""
    deck = shuffle(SEED, False)
    game = Game(players, deck)
    assert game.asked() == list(range(players))
    play_out(game, random.Random(1))
    dealt = [hand for deal in game.replay()["deals"] for hand in deal]
    assert [len(hand) for hand in dealt] == [size] * (3 * players)
    assert [card for hand in dealt for card in hand] == deck[: 3 * players * size]


def test_deal_with_a_dummy() -> None:
    """Three hands of nine; the third is the pile, its top card first, and seat 0 has drawn that card."""
    deck = shuffle(SEED, False)
    game = Game(2, deck, dummy=True)
    assert game.deals[0] == [deck[0:9], deck[9:18], deck[18:27]]
    assert sorted(game.hand(0)) == sorted(deck[0:9] + [deck[18]])
    assert sorted(game.hand(1)) == sorted(deck[9:18])


def test_setups_that_make_no_sense() -> None:
    """Wrong numbers of players, decks that are too short and stray cards are refused."""
    deck = start_order(False)
    for players in (0, 1, 6):
        with pytest.raises(ValueError, match="number of players"):
            Game(players, deck)
    with pytest.raises(ValueError, match="exactly two"):
        Game(3, deck, dummy=True)
    with pytest.raises(ValueError, match="too few"):
        Game(3, deck[:80])
    with pytest.raises(ValueError, match="no such card"):
        Game(3, ["ramen", *deck])
    with pytest.raises(ValueError, match="soy sauce"):
        Game(3, start_order(True))


# Passing and the course of a round


@pytest.mark.parametrize("both_ways", [False, True])
def test_passing(both_ways: bool) -> None:
    """Hands go to the next seat. With pass both ways they go to the previous one in round 2."""
    one_round = ["tempura"] * 9 + ["sashimi"] * 9 + ["dumpling"] * 9
    game = Game(3, one_round * 3, pass_both_ways=both_ways)
    for round_number in (1, 2, 3):
        assert game.round == round_number
        assert [game.hand(seat)[0] for seat in range(3)] == ["tempura", "sashimi", "dumpling"]
        game.play({0: one("tempura"), 1: one("sashimi"), 2: one("dumpling")})
        if both_ways and round_number == 2:
            expected = ["sashimi", "dumpling", "tempura"]
        else:
            expected = ["dumpling", "tempura", "sashimi"]
        assert [game.hand(seat) for seat in range(3)] == [[card] * 8 for card in expected]
        while game.round == round_number and not game.over:
            game.play({seat: one(game.hand(seat)[0]) for seat in game.asked()})
    assert game.over


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_last_card_is_automatic(players: int) -> None:
    """Nobody is asked about the last card, but the record contains it as a turn, after one more pass."""
    game = Game(players, shuffle(SEED, False))
    size = HAND_SIZE[players]
    for _ in range(size - 2):
        game.play({seat: one(game.hand(seat)[0]) for seat in game.asked()})
    assert (game.round, game.turn, sizes(game)) == (1, size - 1, [2] * players)
    last = [game.hand(seat)[1] for seat in range(players)]
    game.play({seat: one(game.hand(seat)[0]) for seat in game.asked()})
    assert (game.round, game.turn, sizes(game)) == (2, 1, [size] * players)
    assert game.turns[-1] == {
        "round": 1,
        "turn": size,
        "plays": [[last[(seat - 1) % players]] for seat in range(players)],
    }
    assert len(game.rounds) == 1


def test_end_of_the_game() -> None:
    """After round 3 nobody is asked, nobody holds cards and another turn is refused."""
    game = make(VARIANTS[0])
    with pytest.raises(ValueError, match="not over"):
        game.replay()
    play_out(game, random.Random(2))
    assert (game.asked(), game.choices(0), game.hand(0)) == ([], [], [])
    with pytest.raises(ValueError, match="end of the game"):
        game.play({})


def test_hand_is_shown_in_the_order_of_the_kinds() -> None:
    """A hand is shown in the table's order, whatever the order of dealing, and as a copy."""
    game = rig([["chopsticks", "maki_2", "sashimi", "maki_1"], []])
    shown = game.hand(0)
    assert shown == ["tempura"] * 6 + ["sashimi", "maki_1", "maki_2", "chopsticks"]
    shown.clear()
    assert sizes(game) == [10, 10]


# Chopsticks


def after_chopsticks(hand_of_1: list[str]) -> Game:
    """Two players who both took chopsticks on turn 1, so that seat 0 now holds the rest of this hand."""
    game = rig([["chopsticks"], ["chopsticks", *hand_of_1]])
    game.play({0: one("chopsticks"), 1: one("chopsticks")})
    return game


def test_chopsticks_go_back_into_the_hand_that_is_passed() -> None:
    """The chopsticks leave the table and travel on, so the hand shrinks by exactly one card."""
    game = after_chopsticks(["wasabi", "squid_nigiri"])
    game.play({0: two("wasabi", "squid_nigiri"), 1: one("tempura")})
    assert game.tables == [["wasabi", "squid_nigiri"], ["chopsticks", "tempura"]]
    assert game.hand(1) == ["tempura"] * 7 + ["chopsticks"]
    assert sizes(game) == [8, 8]
    assert game.turns[-1]["plays"] == [["wasabi", "squid_nigiri"], ["tempura"]]


def test_chopsticks_are_never_required() -> None:
    """With chopsticks on the table a single card is still a legal choice."""
    game = after_chopsticks([])
    assert set(game.choices(0)) == {one("tempura"), two("tempura", "tempura")}
    game.play({0: one("tempura"), 1: one("tempura")})
    assert game.tables[0] == ["chopsticks", "tempura"]


def test_chopsticks_are_for_a_later_turn() -> None:
    """Without chopsticks on the table, chopsticks in the hand allow no second card."""
    game = rig([["chopsticks", "wasabi"], []])
    assert set(game.choices(0)) == {one("tempura"), one("wasabi"), one("chopsticks")}
    with pytest.raises(ValueError, match="chopsticks"):
        game.play({0: two("chopsticks", "wasabi"), 1: one("tempura")})


def test_one_pair_of_chopsticks_per_turn() -> None:
    """Two pairs on the table still allow two cards, not three, and only one of them goes back."""
    game = rig([["chopsticks"], ["chopsticks", "sashimi"]])
    game.play({0: one("chopsticks"), 1: one("sashimi")})
    game.play({0: one("chopsticks"), 1: one("tempura")})
    with pytest.raises(ValueError, match="number of cards"):
        game.play({0: (("tempura", "tempura", "tempura"), None), 1: one("tempura")})
    game.play({0: two("tempura", "tempura"), 1: one("tempura")})
    assert game.tables[0] == ["chopsticks", "tempura", "tempura"]
    assert game.hand(1).count("chopsticks") == 1


def test_chopsticks_may_take_chopsticks() -> None:
    """Chopsticks taken with chopsticks stay, and the older ones go back."""
    game = after_chopsticks(["chopsticks", "pudding"])
    game.play({0: two("chopsticks", "pudding"), 1: one("tempura")})
    assert game.tables[0] == ["chopsticks", "pudding"]
    assert game.hand(1).count("chopsticks") == 1


def test_chopsticks_with_the_last_two_cards() -> None:
    """Both cards of a hand of two can be taken. The chopsticks are then the last card of the next seat."""
    game = after_chopsticks([])
    for _ in range(7):
        game.play({0: one("tempura"), 1: one("tempura")})
    assert sizes(game) == [2, 2]
    game.play({0: two("tempura", "tempura"), 1: one("tempura")})
    assert game.turns[-1] == {"round": 1, "turn": 10, "plays": [["tempura"], ["chopsticks"]]}


def test_two_cards_are_named_in_an_order() -> None:
    """Two different cards can be named in either order, and a card held once can't be named twice."""
    game = after_chopsticks(["wasabi", "egg_nigiri"])
    choices = game.choices(0)
    assert two("wasabi", "egg_nigiri") in choices
    assert two("egg_nigiri", "wasabi") in choices
    assert two("wasabi", "wasabi") not in choices
    assert len(choices) == 3 + 7


@pytest.mark.parametrize(
    ("naming", "nigiri"), [(two("wasabi", "squid_nigiri"), 9), (two("squid_nigiri", "wasabi"), 3)]
)
def test_wasabi_in_the_order_of_naming(naming: Choice, nigiri: int) -> None:
    """Wasabi then nigiri in one turn triples that nigiri; nigiri then wasabi doesn't."""
    game = after_chopsticks(["wasabi", "squid_nigiri"])
    game.play({0: naming, 1: one("tempura")})
    while game.round == 1:
        game.play({seat: one(game.hand(seat)[0]) for seat in game.asked()})
    assert game.rounds[0]["breakdown"][0]["nigiri"] == nigiri


# Scoring a round


@pytest.mark.parametrize(
    ("amount", "sharers", "each"), [(6, 4, 1), (6, 5, 1), (3, 2, 1), (3, 4, 0), (4, 3, 1)]
)
def test_split_drops_the_remainder(amount: int, sharers: int, each: int) -> None:
    """Points are split evenly and the remainder is dropped."""
    assert split(amount, sharers) == each


# Soy sauce


def soy(*tables: str) -> list[int]:
    """Everyone's soy sauce points, with the tables as lists of words."""
    return [score["soy_sauce"] for score in score_round([table.split() for table in tables], True)]


def test_eight_colours_are_different() -> None:
    """Two kinds from this list count one colour more than two cards of one of them."""
    others = "tempura sashimi dumpling maki_2 wasabi pudding chopsticks".split()
    for first, second in itertools.combinations(others, 2):
        assert soy(f"soy_sauce {first} {second}", f"soy_sauce {first} {first}") == [4, 0]
        assert soy(f"soy_sauce {first}", "soy_sauce soy_sauce") == [4, 0]


@pytest.mark.parametrize(
    ("last_choice", "expected"), [(one("tempura"), [4, 0]), (two("tempura", "tempura"), [0, 4])]
)
def test_chopsticks_that_went_back_are_no_colour(last_choice: Choice, expected: list[int]) -> None:
    """Chopsticks count for the table where they end the round, not for the one who used them."""
    game = rig([["chopsticks", "soy_sauce"], ["soy_sauce"]], soy_sauce=True)
    game.play({0: one("chopsticks"), 1: one("tempura")})
    game.play({0: one("soy_sauce"), 1: one("soy_sauce")})
    for _ in range(6):
        game.play({0: one("tempura"), 1: one("tempura")})
    # If used on turn 9, they are the last card of the hand, which goes to seat 1.
    game.play({0: last_choice, 1: one("tempura")})
    assert [score["soy_sauce"] for score in game.rounds[0]["breakdown"]] == expected


def test_only_puddings_of_this_round_are_a_colour() -> None:
    """A pudding kept from round 1 adds no colour in round 2."""
    one_round = [["pudding"] + ["tempura"] * 9, ["tempura"] * 10]
    two_round = [["soy_sauce"] + ["tempura"] * 9, ["soy_sauce"] + ["tempura"] * 9]
    deck = [card for hands in (one_round, two_round, two_round) for hand in hands for card in hand]
    game = Game(2, deck, soy_sauce=True)
    game.play({0: one("pudding"), 1: one("tempura")})
    while game.round == 1:
        game.play({0: one("tempura"), 1: one("tempura")})
    game.play({0: one("soy_sauce"), 1: one("soy_sauce")})
    while game.round == 2:
        game.play({0: one("tempura"), 1: one("tempura")})
    assert game.puddings == [1, 0]
    assert [part["soy_sauce"] for part in game.rounds[1]["breakdown"]] == [2, 2]


# Puddings and places


@pytest.mark.parametrize(("players", "expected"), [(2, [6, 0]), (3, [6, -3, -3]), (4, [6, -2, -2, -2])])
def test_puddings_at_the_end_of_a_game(players: int, expected: list[int]) -> None:
    """The player with the fewest puddings loses points, except in a game of two."""
    game = rig([["pudding"]] + [[] for _ in range(players - 1)])
    game.play({seat: one("pudding" if seat == 0 else "tempura") for seat in range(players)})
    while not game.over:
        game.play({seat: one("tempura") for seat in game.asked()})
    assert game.replay()["puddings"] == {"counts": [1] + [0] * (players - 1), "scores": expected}


# Two players with a dummy


def first_choices(game: Game) -> dict[int, Choice]:
    """The first card of each seat asked, and the controller's second card for the dummy."""
    turn: dict[int, Choice] = {}
    for seat in game.asked():
        hand = game.hand(seat)
        turn[seat] = ((hand[0],), hand[1] if seat == game.controller else None)
    return turn


def test_dummy_control_alternates_through_the_game() -> None:
    """Control alternates through all 27 turns, nine per round, so seat 1 is first in round 2."""
    game = Game(2, shuffle(SEED, False), dummy=True)
    seen = []
    while not game.over:
        controller = game.controller
        assert controller in game.asked()
        seen.append((game.round, game.turn, controller))
        game.play(first_choices(game))
    assert seen == [(r, t, ((r - 1) * 9 + t - 1) % 2) for r in (1, 2, 3) for t in range(1, 10)]
    assert [seat for _, turn, seat in seen if turn == 1] == [0, 1, 0]
    assert len(game.replay()["turns"]) == 27


def test_dummy_turn() -> None:
    """The controller draws the top of the pile and plays for both; then the two hands are swapped."""
    game = rig([["wasabi"], ["sashimi"], ["pudding", "dumpling"]], dummy=True)
    assert game.hand(0) == ["tempura"] * 8 + ["pudding", "wasabi"]
    assert sizes(game) == [10, 9]
    game.play({0: (("wasabi",), "pudding"), 1: one("sashimi")})
    assert game.tables == [["wasabi"], ["sashimi"], ["pudding"]]
    assert game.turns == [{"round": 1, "turn": 1, "plays": [["wasabi"], ["sashimi"], ["pudding"]]}]
    assert game.hand(0) == ["tempura"] * 8
    assert game.hand(1) == ["tempura"] * 8 + ["dumpling"]
    assert len(game.pile) == 7


def test_dummy_choices() -> None:
    """The controller names any two cards of the hand, one for the dummy. The opponent names one card."""
    game = rig([["wasabi"], [], ["pudding"]], dummy=True)
    assert set(game.choices(0)) == {
        (("tempura",), "tempura"),
        (("tempura",), "wasabi"),
        (("tempura",), "pudding"),
        (("wasabi",), "tempura"),
        (("wasabi",), "pudding"),
        (("pudding",), "tempura"),
        (("pudding",), "wasabi"),
    }
    assert game.choices(1) == [one("tempura")]
    with pytest.raises(ValueError, match="controller names a card for the dummy"):
        game.play({0: one("wasabi"), 1: one("tempura")})
    with pytest.raises(ValueError, match="only the controller"):
        game.play({0: (("wasabi",), "pudding"), 1: (("tempura",), "tempura")})
    with pytest.raises(ValueError, match="not in the hand"):
        game.play({0: (("wasabi",), "wasabi"), 1: one("tempura")})


def test_dummy_last_turn() -> None:
    """On turn 9 the controller still chooses which of two cards is the dummy's. The opponent isn't asked."""
    game = Game(2, shuffle(SEED, False), dummy=True)
    for _ in range(8):
        game.play(first_choices(game))
    assert (game.turn, game.controller, game.asked(), sizes(game)) == (9, 0, [0], [2, 1])
    first, second = game.hand(0)
    only = game.hand(1)[0]
    assert set(game.choices(0)) == {((first,), second), ((second,), first)}
    assert game.choices(1) == []
    with pytest.raises(ValueError, match="must choose"):
        game.play({0: ((first,), second), 1: one(only)})
    game.play({0: ((second,), first)})
    assert game.turns[-1]["plays"] == [[second], [only], [first]]
    assert (game.round, game.turn, game.controller, sizes(game)) == (2, 1, 1, [9, 10])


def test_dummy_last_turn_of_two_equal_cards() -> None:
    """The controller is asked even when both cards are the same."""
    game = rig([[], [], []], dummy=True)
    for _ in range(8):
        game.play(first_choices(game))
    assert game.asked() == [0]
    assert game.choices(0) == [(("tempura",), "tempura")]


def test_controller_with_chopsticks() -> None:
    """The controller plays two cards and the dummy's; the chopsticks go back, and hands are swapped."""
    game = rig([["chopsticks"], ["wasabi", "egg_nigiri"], ["pudding", "sashimi", "dumpling"]], dummy=True)
    game.play({0: (("chopsticks",), "pudding"), 1: one("tempura")})
    game.play({0: one("tempura"), 1: (("tempura",), "sashimi")})
    assert game.controller == 0
    assert (("tempura", "dumpling"), "tempura") in game.choices(0)
    game.play({0: (("tempura", "dumpling"), "tempura"), 1: one("tempura")})
    assert game.tables[0] == ["tempura", "tempura", "dumpling"]
    assert game.tables[2] == ["pudding", "sashimi", "tempura"]
    assert game.turns[-1]["plays"] == [["tempura", "dumpling"], ["tempura"], ["tempura"]]
    assert game.hand(1) == ["tempura"] * 6 + ["chopsticks"]
    assert sizes(game) == [6, 7]


def test_controller_with_chopsticks_needs_three_cards() -> None:
    """With three cards the chopsticks can still be used. With the last two they can't."""
    game = rig([["chopsticks"], [], []], dummy=True)
    game.play({0: (("chopsticks",), "tempura"), 1: one("tempura")})
    for _ in range(5):
        game.play(first_choices(game))
    assert (game.turn, game.controller, sizes(game)) == (7, 0, [4, 3])
    game.play(first_choices(game))
    assert (game.turn, game.controller, sizes(game)) == (8, 1, [2, 3])
    assert two("tempura", "tempura") in game.choices(0)
    game.play(first_choices(game))
    assert (game.turn, game.controller, sizes(game)) == (9, 0, [2, 1])
    assert "chopsticks" in game.tables[0]
    assert game.choices(0) == [(("tempura",), "tempura")]
    with pytest.raises(ValueError, match="too few"):
        game.play({0: (("tempura", "tempura"), "tempura")})


def test_second_controller_uses_chopsticks_on_three_cards() -> None:
    """On turn 8 the controller may use up a hand of three and pass on nothing but the chopsticks."""
    game = rig([[], ["chopsticks"], []], dummy=True)
    game.play({0: (("tempura",), "tempura"), 1: one("chopsticks")})
    for _ in range(6):
        game.play(first_choices(game))
    assert (game.turn, game.controller, sizes(game)) == (8, 1, [2, 3])
    game.play({0: one("tempura"), 1: (("tempura", "tempura"), "tempura")})
    assert game.hand(0) == ["tempura", "chopsticks"]


def test_dummy_wasabi_and_chopsticks() -> None:
    """The dummy's nigiri goes on its free wasabi. Its chopsticks stay where they are."""
    game = rig([["wasabi", "chopsticks"], [], ["squid_nigiri"]], dummy=True)
    game.play({0: (("tempura",), "wasabi"), 1: one("tempura")})
    game.play({0: one("tempura"), 1: (("tempura",), "chopsticks")})
    game.play({0: (("tempura",), "tempura"), 1: one("tempura")})
    game.play({0: one("tempura"), 1: (("tempura",), "squid_nigiri")})
    assert game.tables[2] == ["wasabi", "chopsticks", "tempura", "squid_nigiri"]
    while game.round == 1:
        game.play(first_choices(game))
    assert game.rounds[0]["breakdown"][2]["nigiri"] == 9


def test_dummy_scores_as_a_third_player_without_a_place() -> None:
    """The dummy scores for maki and puddings, the fewest puddings lose points, and it has no place."""
    game = rig([["maki_2", "pudding"], [], ["maki_3"]], dummy=True)
    game.play({0: (("maki_2",), "maki_3"), 1: one("tempura")})
    game.play({0: one("tempura"), 1: (("tempura",), "pudding")})
    while not game.over:
        game.play(first_choices(game))
    replay = game.replay()
    assert [score["maki"] for score in replay["rounds"][0]["breakdown"]] == [3, 0, 6]
    assert replay["puddings"] == {"counts": [0, 0, 1], "scores": [-3, -3, 6]}
    # Tempura: seat 0 has 8 + 9 + 9, seat 1 has 9 per round, the dummy 7 + 9 + 9.
    assert replay["totals"] == [3 + 20 + 20 + 20 - 3, 20 + 20 + 20 - 3, 6 + 15 + 20 + 20 + 6]
    assert replay["places"] == [1, 2]


def test_soy_sauce_of_the_dummy() -> None:
    """The dummy can win the 4 for the most colours."""
    game = rig([["wasabi"], [], ["soy_sauce"]], dummy=True, soy_sauce=True)
    game.play({0: (("tempura",), "soy_sauce"), 1: one("tempura")})
    game.play({0: one("tempura"), 1: (("tempura",), "wasabi")})
    while game.round == 1:
        game.play(first_choices(game))
    assert [score["soy_sauce"] for score in game.rounds[0]["breakdown"]] == [0, 0, 4]


def test_pass_both_ways_makes_no_difference_to_two() -> None:
    """With two hands, left and right are the same, with and without a dummy."""
    for dummy in (False, True):
        replays = []
        for both_ways in (False, True):
            game = Game(2, shuffle(SEED, False), pass_both_ways=both_ways, dummy=dummy)
            play_out(game, random.Random(3))
            replays.append(game.replay())
        assert replays[0] == replays[1]


# Legality and whole games


def test_illegal_turns_change_nothing() -> None:
    """A refused turn leaves every hand and table as it was, even if only one of the choices is wrong."""
    game = Game(3, shuffle(SEED, False))
    fine = {seat: game.choices(seat)[0] for seat in range(3)}
    missing = next(kind for kind in KINDS if kind not in game.hand(2))
    bad: list[dict[int, Choice]] = [
        {},
        {0: fine[0], 1: fine[1]},
        {**fine, 3: fine[0]},
        {**fine, 2: one(missing)},
        {**fine, 2: one("ramen")},
        {**fine, 2: ((), None)},
        {**fine, 2: (fine[2][0], fine[2][0][0])},
        {**fine, 2: two(game.hand(2)[0], game.hand(2)[1])},
    ]
    for turn in bad:
        before = copy.deepcopy(vars(game))
        with pytest.raises(ValueError, match=r".+"):
            game.play(turn)
        assert vars(game) == before
    game.play(fine)
    assert len(game.turns) == 1


@pytest.mark.parametrize(
    "variant",
    [v for v in VARIANTS if v["players"] <= 3 and v["soy_sauce"] and not v["pass_both_ways"]],
)
def test_choices_are_what_play_accepts(variant: dict[str, Any]) -> None:
    """Of all ways to name up to three cards, with and without a dummy card, only the choices are legal.

    The soak run checks this in every turn, the short run in every fourth one.
    """
    rng = random.Random(4)
    game = make(variant)
    for step in range(20):
        if game.over:
            break
        turn = any_turn(game, rng)
        if step % many(4, 1):
            game.play(turn)
            continue
        seat = game.asked()[step % len(game.asked())]
        legal = game.choices(seat)
        assert len(legal) == len(set(legal))
        names = sorted(set(game.hand(seat)))[:4] + ["ramen"]
        trial = copy.deepcopy(game)
        for length in range(4):
            for naming in itertools.product(names, repeat=length):
                for dummy_card in [None, *names[:2]]:
                    choice: Choice = (naming, dummy_card)
                    accepted = True
                    try:
                        trial.play({**turn, seat: choice})
                    except ValueError:  # a refused turn changes nothing
                        accepted = False
                    else:
                        trial = copy.deepcopy(game)
                    assert accepted == (choice in legal), choice
        game.play(turn)


@pytest.mark.parametrize("variant", VARIANTS)
def test_conservation(variant: dict[str, Any]) -> None:
    """Each card of the deck is always in exactly one place, and every turn takes one card from each hand."""
    for k in range(5):
        rng = random.Random(k)
        game = make(variant, simulate_seed(7, k))
        deck = sorted(shuffle(simulate_seed(7, k), variant["soy_sauce"]))
        while True:
            cards = game.rest + game.discard + game.pile + ["pudding"] * sum(game.puddings)
            for pile in game.hands + game.tables:
                cards = cards + pile
            assert sorted(cards) == deck
            if game.over:
                break
            expected = [game.hand_size - game.turn + 1 for _ in range(game.players)]
            if game.controller is not None:
                expected[game.controller] += 1
            assert sizes(game) == expected
            game.play(any_turn(game, rng))


@pytest.mark.parametrize("variant", VARIANTS)
def test_replay_fields(variant: dict[str, Any]) -> None:
    """A record is plain JSON of the right shape, adds up, and gives the same record when it is replayed."""
    game = make(variant)
    play_out(game, random.Random(5))
    replay = game.replay()
    assert json.loads(json.dumps(replay)) == replay
    sides = game.sides
    turns_a_round = 9 if variant["dummy"] else HAND_SIZE[variant["players"]]
    assert [(turn["round"], turn["turn"]) for turn in replay["turns"]] == [
        (r, t) for r in (1, 2, 3) for t in range(1, turns_a_round + 1)
    ]
    assert all(len(turn["plays"]) == sides for turn in replay["turns"])
    assert [len(deal) for deal in replay["deals"]] == [sides] * 3
    for record in replay["rounds"]:
        for score, parts in zip(record["scores"], record["breakdown"], strict=True):
            assert set(parts) == {"tempura", "sashimi", "dumpling", "maki", "nigiri", "soy_sauce"}
            assert score == sum(parts.values())
    for side in range(sides):
        rounds = sum(record["scores"][side] for record in replay["rounds"])
        assert replay["totals"][side] == rounds + replay["puddings"]["scores"][side]
        eaten = [card for turn in replay["turns"] for card in turn["plays"][side]]
        assert replay["puddings"]["counts"][side] == eaten.count("pudding")
    assert len(replay["totals"]) == len(replay["puddings"]["counts"]) == sides
    assert len(replay["places"]) == variant["players"]

    again = make(variant)
    for turn in replay["turns"]:
        if again.over or (turn["round"], turn["turn"]) != (again.round, again.turn):
            continue
        joint: dict[int, Choice] = {}
        for seat in again.asked():
            dummy_card = turn["plays"][2][0] if seat == again.controller else None
            joint[seat] = (tuple(turn["plays"][seat]), dummy_card)
        again.play(joint)
    assert again.replay() == replay
