"""Section "Deck", and the settings of a game."""

from collections import Counter

import pytest

from arena.rules import DECK_COUNTS, Card, InvalidRules, Rules, new_game, unshuffled_deck

from .helpers import ONE_WAY, cards, name


def test_the_deck_has_the_printed_numbers_of_108_cards() -> None:
    """The number of cards of each kind is that of the table in the rules."""
    deck = unshuffled_deck(Rules(players=2))
    assert len(deck) == 108
    assert Counter(card.label for card in deck) == {
        "tempura": 14,
        "sashimi": 14,
        "dumpling": 14,
        "maki_1": 6,
        "maki_2": 12,
        "maki_3": 8,
        "salmon_nigiri": 10,
        "squid_nigiri": 5,
        "egg_nigiri": 5,
        "pudding": 10,
        "wasabi": 6,
        "chopsticks": 4,
    }


def test_soy_sauce_adds_four_cards_at_the_end() -> None:
    """The variant's deck has 112 cards, with the four soy sauces last."""
    plain, soy = unshuffled_deck(Rules(players=2)), unshuffled_deck(Rules(players=2, soy_sauce=True))
    assert soy == plain + cards("soy soy soy soy")


def test_the_deck_starts_in_the_order_of_the_table_of_kinds() -> None:
    """The deck that is shuffled is in the order of the rules' table of cards."""
    deck = unshuffled_deck(Rules(players=5, soy_sauce=True))
    assert list(deck) == sorted(deck)
    assert list(dict.fromkeys(deck)) == list(DECK_COUNTS) == list(Card)


@pytest.mark.parametrize(
    ("rules", "size"),
    [
        (Rules(players=2), 10),
        (Rules(players=3), 9),
        (Rules(players=4), 8),
        (Rules(players=5), 7),
        (Rules(players=2, dummy=True), 9),
    ],
)
def test_hand_sizes(rules: Rules, size: int) -> None:
    """Hands have 10, 9, 8 or 7 cards with 2, 3, 4 or 5 players, and 9 with a dummy."""
    assert (rules.hand_size, rules.turns) == (size, size)
    assert rules.participants == rules.players + rules.dummy


@pytest.mark.parametrize("players", [-1, 0, 1, 6])
def test_other_numbers_of_players_are_refused(players: int) -> None:
    """The number of players is 2 to 5."""
    with pytest.raises(InvalidRules, match=f"^{players} players: Sushi Go! is for 2 to 5$"):
        Rules(players=players)


@pytest.mark.parametrize("players", [3, 4, 5])
def test_a_dummy_needs_exactly_two_players(players: int) -> None:
    """A dummy is refused with three to five players."""
    with pytest.raises(InvalidRules, match="exactly 2"):
        Rules(players=players, dummy=True)


def test_kinds_can_be_found_by_their_labels() -> None:
    """A kind can be found by its label, which is its name in records."""
    assert [Card.from_label(card.label) for card in Card] == list(Card)


@pytest.mark.parametrize("label", ["", "maki", "Tempura", "TEMPURA", "card_tempura"])
def test_an_unknown_label_names_the_known_ones(label: str) -> None:
    """The error for an unknown label lists all labels."""
    with pytest.raises(ValueError, match=f"^'{label}' is not a kind of card; .*tempura, .*soy_sauce$"):
        Card.from_label(label)


@pytest.mark.parametrize("rules", ONE_WAY, ids=name)
def test_a_wrong_deck_is_refused(rules: Rules) -> None:
    """A game requires exactly its variant's cards, in any order."""
    deck = unshuffled_deck(rules)
    new_game(rules, deck[::-1])
    for wrong in (deck[1:], (*deck, Card.WASABI), (*deck[1:], Card.CHOPSTICKS), ()):
        with pytest.raises(InvalidRules, match="does not contain exactly the cards"):
            new_game(rules, wrong)
