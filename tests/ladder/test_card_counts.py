"""Tests of the counts of cards in games, and of the points that each card earned."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ladder.card_counts import (
    ALL_TURNS,
    POINT,
    WIN,
    Count,
    Games,
    Tally,
    count_game,
    earned,
    merged,
    nothing,
)
from arena.protocol.match import Decision
from arena.rules import (
    Card,
    Result,
    RoundScore,
    Rules,
    State,
    Turn,
    deals,
    new_game,
    score_round,
    shuffled_deck,
)
from tests.ladder.games import Played, games, played
from tests.rules.helpers import VARIANTS, cards, random_game, seeds
from tests.soak import many


def decided(game: Played) -> Iterator[tuple[int, int, list[Card], tuple[Card, ...]]]:
    """Yield seat, turn, hand and choice of each decision of a bot, from the deals and the placed cards."""
    end, size = game.states[-1], game.rules.hand_size
    for number, dealt in enumerate(deals(game.rules, end.deck)):
        hands = [list(hand) for hand in dealt]
        for turn in range(size):
            plays = end.turns[number * size + turn].plays
            for seat, played_cards in enumerate(plays):
                if turn < size - 1 and not game.taken_over[seat]:
                    decision = game.record.steps[number * (size - 1) + turn][seat]
                    if decision and not decision.standin:
                        yield seat, turn + 1, list(hands[seat]), played_cards
                for card in played_cards:
                    hands[seat].remove(card)
                hands[seat] += [Card.CHOPSTICKS] * (len(played_cards) - 1)
            way = game.rules.direction(number + 1)
            hands = [hands[(seat - way) % len(hands)] for seat in range(len(hands))]


@given(games())
def test_counts_follow_from_decisions(game: Played) -> None:
    """Expected counts come from hands that the test itself passes on, without the rules' states."""
    counted: defaultdict[tuple[Card, int], Counter[str]] = defaultdict(Counter)
    of_seats: Counter[tuple[str, int, Card, int]] = Counter()
    for seat, turn, hand, choice in decided(game):
        won = WIN // game.places.count(1) if game.places[seat] == 1 else 0
        for card in set(hand):
            what = "taken" if card in choice else "passed"
            for key in ((card, turn), (card, ALL_TURNS)):
                counted[key].update({"seen": 1, what: 1, f"won_{what}": won, "cards": choice.count(card)})
                of_seats[what, seat, *key] += 1
    for (what, _, card, turn), times in of_seats.items():
        counted[card, turn][f"{what}_squares"] += times * times
    tally = game.tally()
    assert tally.counts.keys() == {(game.rules.players, *key) for key in counted}
    for (_, card, turn), count in tally.counts.items():
        expected = counted[card, turn]
        assert count._replace(points=0) == Count(**{name: expected[name] for name in Count._fields})
    decisions = [seat for seat, *_ in decided(game)]
    assert tally.games == {
        game.rules.players: Games(
            games=1,
            seats=game.taken_over.count(False),
            decisions=len(decisions),
            won=sum(WIN // game.places.count(1) for seat in decisions if game.places[seat] == 1),
        )
    }


@given(games())
def test_counts_agree_with_each_other(game: Played) -> None:
    """Cards aren't taken more often than seen, turns add up to totals, and all choices are counted."""
    tally = game.tally()
    sums: defaultdict[Card, list[int]] = defaultdict(lambda: [0] * 6)
    for (_, card, turn), count in tally.counts.items():
        assert 0 <= count.taken <= count.seen
        assert count.taken <= count.cards <= 2 * count.taken
        assert count.won_taken <= WIN * count.taken
        assert count.won_passed <= WIN * (count.seen - count.taken)
        assert count.taken <= count.taken_squares <= count.taken**2
        assert 1 <= turn < game.rules.turns or turn == ALL_TURNS
        if turn != ALL_TURNS:
            sums[card] = [a + b for a, b in zip(sums[card], count[:6], strict=True)]
    totals = {card: list(count[:6]) for (_, card, turn), count in tally.counts.items() if turn == ALL_TURNS}
    assert totals == sums
    assert sum(total[2] for total in totals.values()) == sum(len(cards) for *_, cards in decided(game))


@given(st.sampled_from([2, 3, 4, 5]), st.binary(min_size=16, max_size=16))
def test_points_are_those_of_the_cards_that_were_decided_on(players: int, seed: bytes) -> None:
    """The points of a round's last cards, which are played without a decision, are left out."""
    game = played(Rules(players=players), seed)
    shares = [earned(game.states[-1], seat) for seat in range(players)]
    decisions = {(turn.round, turn.turn) for turn in game.states[-1].turns if turn.turn < game.rules.turns}
    counts = game.tally().counts
    assert sum(count.points for (*_, turn), count in counts.items() if turn == ALL_TURNS) == sum(
        points for each in shares for key in decisions for points in each[key]
    )


@settings(max_examples=many(10, 100))
@given(st.lists(games(), max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_games_makes_no_difference(drawn: list[Played], dice: Random) -> None:
    """Tallies can be added in any order and grouping."""
    tallies = [game.tally() for game in drawn]
    total = merged(tallies)
    shuffled = dice.sample(tallies, len(tallies))
    assert merged(shuffled) == total
    cut = dice.randint(0, len(tallies))
    assert merged([merged(shuffled[:cut]), merged(shuffled[cut:])]) == total
    assert merged([total, nothing()]) == total
    assert sum(games.games for games in total.games.values()) == len(drawn)


@given(games())
def test_moves_of_the_stand_in_are_not_counted(game: Played) -> None:
    """If the stand-in makes all moves, only the game is counted."""
    steps = [
        [replace(decision, standin=True) if decision else None for decision in step]
        for step in game.record.steps
    ]
    tally = count_game(game.states, steps, game.places, (False,) * game.rules.players)
    players = game.rules.players
    assert tally == Tally(games={players: Games(games=1, seats=players)}, counts={})


def test_a_seat_that_was_taken_over_is_left_out() -> None:
    """Not even earlier decisions of such a seat count. Other seats' decisions do."""
    game = played(Rules(players=3), bytes(16))
    lost = count_game(game.states, game.record.steps, (3, 1, 2), (True, False, False))
    others = [[None, *step[1:]] for step in game.record.steps]
    assert lost.counts == count_game(game.states, others, (3, 1, 2), (False,) * 3).counts
    assert lost.games[3].seats == 2


def test_a_shared_win_is_shared() -> None:
    """Each of two winners has half of the win."""
    game = played(Rules(players=4), bytes(16))
    steps = game.record.steps
    shared = count_game(game.states, steps, (1, 1, 3, 4), (False,) * 4)
    alone = [count_game(game.states, steps, places, (False,) * 4) for places in ((1, 2, 3, 4), (2, 1, 3, 4))]
    for key, count in shared.counts.items():
        assert 2 * count.won_taken == sum(each.counts[key].won_taken for each in alone)
        assert 2 * count.won_passed == sum(each.counts[key].won_passed for each in alone)


@given(games(dummy=True))
def test_games_with_a_dummy_are_left_out(game: Played) -> None:
    """In such games, a seat also places the dummy's cards."""
    assert game.tally() == nothing()


def test_chopsticks_take_two_cards_in_one_decision() -> None:
    """Taking two of a kind counts as one decision and as two cards, and both cards earn points."""
    for number in range(200):
        game = played(Rules(players=2), number.to_bytes(16, "big"))
        pairs = [
            (before.turn, decision)
            for before, step in zip(game.states, game.record.steps, strict=False)
            for decision in step
            if isinstance(decision, Decision) and decision.cards == ("tempura", "tempura")
        ]
        if pairs:
            break
    turn = pairs[0][0]
    count = game.tally().counts[2, Card.TEMPURA, turn]
    assert count.cards > count.taken
    assert count.points % (POINT // 2) == 0


PLAIN = [rules for rules in VARIANTS if not rules.dummy]


def ended(mine: str, theirs: str = "", *, puddings: tuple[int, int] = (0, 0), gain: int = 0) -> State:
    """Return the end of a game whose first round placed these cards, one per turn, and the others none."""
    rules = Rules(players=2, soy_sauce=True)
    tables = (cards(mine), cards(theirs))
    turns = tuple(
        Turn(1, number, tuple((table[number - 1],) if number <= len(table) else () for table in tables))
        for number in range(1, max(map(len, tables)) + 1)
    )
    empty = (RoundScore(0, 0, 0, 0, 0, 0),) * 2
    return new_game(rules, shuffled_deck(rules, bytes(16)))._replace(
        turns=turns,
        rounds=(score_round(rules, tables), empty, empty),
        result=Result(puddings, (gain, -gain), (0, 0), (1, 2)),
    )


@pytest.mark.parametrize(
    ("mine", "theirs", "points"),
    [
        ("sal squ egg", "", "2 3 1"),
        ("wa sal", "", "4 2"),
        ("wa wa egg squ sal", "", "2 6 1 3 2"),
        ("egg wa", "", "1 0"),
        ("tp tp tp", "", "5/2 5/2 0"),
        ("tp sal tp", "", "5/2 2 5/2"),
        ("sa sa sa sa", "", "10/3 10/3 10/3 0"),
        ("sa sa", "", "0 0"),
        ("du", "", "1"),
        ("du du du", "", "2 2 2"),
        ("du du du du du du", "", "3 3 3 3 3 0"),
        ("m3 m1", "m1 m2", "9/2 3/2"),
        ("m2", "m3", "3"),
        ("m2", "m1 m1", "3"),
        ("ch pu", "", "0 0"),
        ("soy tp soy", "sal", "2 0 2"),
    ],
)
def test_each_card_gets_its_share(mine: str, theirs: str, points: str) -> None:
    """Nigiri and wasabi earn their own points, sets in order of placement, and maki by icons."""
    shares = earned(ended(mine, theirs), 0)
    got = [Fraction(share, POINT) for turn in sorted(shares) for share in shares[turn]]
    assert got == [Fraction(text) for text in points.split()]


def test_points_for_the_most_puddings_are_shared() -> None:
    """Puddings of earlier rounds share the points. Points lost for the fewest belong to no card."""
    end = ended("pu pu", "pu", puddings=(4, 1), gain=6)
    assert earned(end, 0) == {(1, 1): (POINT * 6 // 4,), (1, 2): (POINT * 6 // 4,)}
    assert earned(end, 1) == {(1, 1): (0,), (1, 2): ()}


def test_an_unfinished_game_has_no_points() -> None:
    """Asking for an unfinished game's points is an error."""
    rules = Rules(players=2)
    with pytest.raises(ValueError, match="not over"):
        earned(new_game(rules, shuffled_deck(rules, bytes(16))), 0)


@given(st.sampled_from(PLAIN), seeds)
def test_all_points_are_assigned_and_no_more(rules: Rules, seed: bytes) -> None:
    """A seat's cards earned exactly its total, except for points lost for the fewest puddings."""
    *_, (end, _) = random_game(rules, seed)
    assert end.result is not None
    for seat in range(rules.players):
        shares = earned(end, seat)
        for turn in end.turns:
            assert len(shares[turn.round, turn.turn]) == len(turn.plays[seat])
        loss = min(end.result.pudding_scores[seat], 0)
        assert sum(map(sum, shares.values())) == POINT * (end.result.totals[seat] - loss)


def test_a_point_can_be_shared_by_every_number_of_icons() -> None:
    """Points can be divided evenly by any number of icons, up to those of the ten highest maki cards."""
    icons = sorted([1] * 6 + [2] * 12 + [3] * 8)[-10:]
    assert all(POINT % number == 0 for number in range(1, sum(icons) + 1))
