"""Counting decisions."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.cardstats import ALL_TURNS, POINT, WIN, Count, Games, Tally, count_game, earned, merged, nothing
from arena.match import Decision
from arena.rules import Card, Rules, deals
from tests.cardstats.games import Played, games, played


def decided(game: Played) -> Iterator[tuple[int, int, list[Card], tuple[Card, ...]]]:
    """Yield seat, turn, hand and choice of each decision of a bot's own, from what was dealt and placed."""
    end, size = game.states[-1], game.rules.hand_size
    for number, dealt in enumerate(deals(game.rules, end.deck)):
        hands = [list(hand) for hand in dealt]
        for turn in range(size):
            plays = end.turns[number * size + turn].plays
            for seat, cards in enumerate(plays):
                if turn < size - 1 and not game.taken_over[seat]:
                    decision = game.record.steps[number * (size - 1) + turn][seat]
                    if decision and not decision.standin:
                        yield seat, turn + 1, list(hands[seat]), cards
                for card in cards:
                    hands[seat].remove(card)
                hands[seat] += [Card.CHOPSTICKS] * (len(cards) - 1)
            way = game.rules.direction(number + 1)
            hands = [hands[(seat - way) % len(hands)] for seat in range(len(hands))]


@given(games())
def test_what_is_counted_is_what_was_decided(game: Played) -> None:
    """By hand: hands passed on from the deal, and the choices in them, without the rules' states."""
    counted: defaultdict[tuple[Card, int], Counter[str]] = defaultdict(Counter)
    of_seats: Counter[tuple[str, int, Card, int]] = Counter()
    for seat, turn, hand, cards in decided(game):
        won = WIN // game.places.count(1) if game.places[seat] == 1 else 0
        for card in set(hand):
            what = "taken" if card in cards else "passed"
            for key in ((card, turn), (card, ALL_TURNS)):
                counted[key].update({"seen": 1, what: 1, f"won_{what}": won, "cards": cards.count(card)})
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
    """No more taken than seen, all turns the sum of each, and a card for every card that was placed."""
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
    """What all cards of a game earned, without those that were played by themselves."""
    game = played(Rules(players=players), seed)
    shares = [earned(game.states[-1], seat) for seat in range(players)]
    decisions = {(turn.round, turn.turn) for turn in game.states[-1].turns if turn.turn < game.rules.turns}
    counts = game.tally().counts
    assert sum(count.points for (*_, turn), count in counts.items() if turn == ALL_TURNS) == sum(
        points for each in shares for key in decisions for points in each[key]
    )


@settings(max_examples=25)
@given(st.lists(games(), max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_games_makes_no_difference(drawn: list[Played], dice: Random) -> None:
    """Nor does it, in which sums they are added up."""
    tallies = [game.tally() for game in drawn]
    total = merged(tallies)
    shuffled = dice.sample(tallies, len(tallies))
    assert merged(shuffled) == total
    cut = dice.randint(0, len(tallies))
    assert merged([merged(shuffled[:cut]), merged(shuffled[cut:])]) == total
    assert merged([total, nothing()]) == total
    assert sum(games.games for games in total.games.values()) == len(drawn)


@given(games())
def test_moves_of_the_stand_in_are_nobodys(game: Played) -> None:
    """Where it makes them all, only the game is counted."""
    steps = [
        [replace(decision, standin=True) if decision else None for decision in step]
        for step in game.record.steps
    ]
    tally = count_game(game.states, steps, game.places, (False,) * game.rules.players)
    players = game.rules.players
    assert tally == Tally(games={players: Games(games=1, seats=players)}, counts={})


def test_a_seat_that_was_taken_over_is_left_out() -> None:
    """What it decided before, too; the others' decisions are counted."""
    game = played(Rules(players=3), bytes(16))
    lost = count_game(game.states, game.record.steps, (3, 1, 2), (True, False, False))
    others = [[None, *step[1:]] for step in game.record.steps]
    assert lost.counts == count_game(game.states, others, (3, 1, 2), (False,) * 3).counts
    assert lost.games[3].seats == 2


def test_a_shared_win_is_shared() -> None:
    """Two who share the first place have half of it each."""
    game = played(Rules(players=4), bytes(16))
    steps = game.record.steps
    shared = count_game(game.states, steps, (1, 1, 3, 4), (False,) * 4)
    alone = [count_game(game.states, steps, places, (False,) * 4) for places in ((1, 2, 3, 4), (2, 1, 3, 4))]
    for key, count in shared.counts.items():
        assert 2 * count.won_taken == sum(each.counts[key].won_taken for each in alone)
        assert 2 * count.won_passed == sum(each.counts[key].won_passed for each in alone)


@given(games(dummy=True))
def test_games_with_a_dummy_are_left_out(game: Played) -> None:
    """One seat places cards for another there."""
    assert game.tally() == nothing()


def test_chopsticks_take_two_cards_in_one_decision() -> None:
    """Of one kind: taken once, two cards, each with what it earned."""
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
