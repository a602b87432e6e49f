"""Tests of card statistics: rates with intervals, and a bot's habits."""

from dataclasses import fields
from itertools import pairwise
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ladder.card_counts import ALL_TURNS, POINT, WIN, Count, Games, Tally, merged, nothing
from arena.ladder.card_table import FEW, CardFigures, WinRate, difference, habits, table_of, win_rate
from arena.rules import Card, Rules
from tests.ladder.games import Played, games
from tests.soak import many

TEMPURA = Count(
    seen=400,
    taken=300,
    cards=310,
    won_taken=150 * WIN,
    won_passed=20 * WIN,
    points=620 * POINT,
    taken_squares=600,
    passed_squares=100,
)
TALLY = Tally(
    games={2: Games(100, 200, 1000, 500 * WIN), 3: Games(10, 30, 100, 30 * WIN)},
    counts={
        (2, Card.TEMPURA, ALL_TURNS): TEMPURA,
        (2, Card.TEMPURA, 1): TEMPURA._replace(seen=300, taken=300),
        (2, Card.TEMPURA, 3): TEMPURA._replace(seen=100, taken=0),
        (3, Card.TEMPURA, ALL_TURNS): Count(seen=1, taken=1, cards=1, taken_squares=1),
        (3, Card.TEMPURA, 1): Count(seen=1, taken=1, cards=1, taken_squares=1),
    },
)


def test_rates_follow_from_counts() -> None:
    """A line has take rate, win rates and their difference, points per card and mean turns."""
    table = table_of(TALLY, 2)
    assert (table.players, table.games, table.seats, table.decisions, table.win_rate) == (
        2,
        100,
        200,
        1000,
        0.5,
    )
    line = table.cards[0]
    assert line.card == "tempura"
    assert (line.total.turn, line.total.take_rate, line.total.mean_points) == (None, 0.75, 2)
    assert line.total.won_taken
    assert line.total.won_passed
    assert line.total.difference
    assert (line.total.won_taken.value, line.total.won_taken.effective) == (0.5, 150)
    assert (line.total.won_passed.value, line.total.won_passed.effective) == (0.2, 100)
    assert line.total.difference.value == pytest.approx(0.3)
    assert (line.mean_turn_seen, line.mean_turn_taken) == (1.5, 1)
    assert [turn.turn for turn in line.turns] == [*range(1, 10)]


def test_all_games_are_the_sum_over_table_sizes() -> None:
    """Rates for all games come from sums, and aren't means over the table sizes."""
    table = table_of(TALLY, None)
    assert (table.games, table.seats, table.decisions, table.win_rate) == (110, 230, 1100, 530 / 1100)
    assert table.cards[0].total.take_rate == 301 / 401


@pytest.mark.parametrize(
    ("taken", "passed", "few"), [(FEW, FEW, False), (FEW - 1, FEW, True), (FEW, FEW - 1, True)]
)
def test_few_decisions_are_marked(taken: int, passed: int, *, few: bool) -> None:
    """The mark is set if either group is too small, whatever the rates are."""
    count = Count(seen=taken + passed, taken=taken, cards=taken, taken_squares=taken, passed_squares=passed)
    tally = Tally(games={}, counts={(2, Card.PUDDING, ALL_TURNS): count})
    (line,) = [line for line in table_of(tally, 2).cards if line.card == "pudding"]
    assert line.total.few == few


def test_no_games_have_no_rates() -> None:
    """Without games, the table has the twelve kinds of the basic game, without rates."""
    table = table_of(nothing(), 5)
    assert (len(table.cards), table.games, table.win_rate) == (12, 0, None)
    for line in table.cards:
        assert len(line.turns) == Rules(players=5).turns - 1
        for figures in (line.total, *line.turns):
            empty = {field.name: getattr(figures, field.name) for field in fields(CardFigures)}
            assert {name for name, value in empty.items() if value} <= {"turn", "few"}


@settings(max_examples=many(10, 100))
@given(st.lists(games(), max_size=4))
def test_every_table_of_random_games_is_valid(drawn: list[Played]) -> None:
    """Rates are between 0 and 1, only seen soy sauce is listed, and chopsticks have no points."""
    tally = merged(game.tally() for game in drawn)
    for players in (None, 2, 3, 4, 5):
        table = table_of(tally, players)
        soy = any(game.rules.soy_sauce and players in {None, game.rules.players} for game in drawn)
        seen = any(line.card == "soy_sauce" for line in table.cards)
        assert soy or not seen
        for line in table.cards:
            assert line.total.seen == sum(turn.seen for turn in line.turns)
            for figures in (line.total, *line.turns):
                assert 0 <= (figures.take_rate or 0) <= 1
                assert (figures.take_rate is None) == (figures.seen == 0)
                assert (figures.difference is None) == (not 0 < figures.taken < figures.seen)
                assert line.card != "chopsticks" or figures.mean_points is None


def rate(won: int, games: int) -> WinRate:
    """Return the win rate of independent games."""
    found = win_rate(WIN * won, games, games)
    assert found is not None
    return found


@st.composite
def rates(draw: st.DrawFn) -> WinRate:
    """Draw how often each of some seats decided, and each seat's share of the win."""
    seats = draw(st.lists(st.tuples(st.integers(1, 27), st.integers(0, WIN)), min_size=1, max_size=30))
    found = win_rate(
        sum(times * won for times, won in seats),
        sum(times for times, _ in seats),
        sum(times * times for times, _ in seats),
    )
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("won", "games", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval_is_wilsons(won: int, games: int, low: float, high: float) -> None:
    """The examples are from Newcombe (1998), Statistics in Medicine 17, 857, method 3."""
    found = rate(won, games)
    assert found.value == won / games
    assert isclose(found.low, low, abs_tol=5e-5)
    assert isclose(found.high, high, abs_tol=5e-5)


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 20), 0.6791, 1),
    ],
)
def test_the_interval_of_a_difference_is_newcombes(
    one: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    """The examples are from Newcombe (1998), Statistics in Medicine 17, 873, method 10."""
    found = difference(rate(*one), rate(*other))
    assert isclose(found.low, low, abs_tol=5e-5)
    assert isclose(found.high, high, abs_tol=5e-5)


@given(rates(), rates())
def test_intervals_contain_their_value_and_stay_within_bounds(one: WinRate, other: WinRate) -> None:
    """Rates are between 0 and 1, and differences between -1 and 1."""
    assert 0 <= one.low <= one.value <= one.high <= 1
    found = difference(one, other)
    assert -1 <= found.low <= found.value <= found.high <= 1
    turned = difference(other, one)
    assert (turned.value, turned.low, turned.high) == (-found.value, -found.high, -found.low)


def test_decisions_of_one_seat_count_as_one_game() -> None:
    """Seats that decided equally often count as one game each."""
    once, often = rate(1, 1), win_rate(10 * WIN, 10, 10 * 10)
    assert once == often
    several = win_rate(3 * 4 * WIN, 7 * 4, 7 * 4 * 4)
    assert several is not None
    assert (several.value, several.effective) == (3 / 7, 7)
    assert several == rate(3, 7)


@given(rates())
def test_no_more_games_than_seats_are_counted(one: WinRate) -> None:
    """At least one game is counted, and at most one per seat."""
    assert 1 - 1e-9 <= one.effective <= 30 + 1e-9


def test_no_decisions_have_no_win_rate() -> None:
    """The win rate without decisions is None, not 0."""
    assert win_rate(0, 0, 0) is None


def tally(counts: dict[tuple[int, Card, int], tuple[int, int]]) -> Tally:
    """Return a tally with these numbers of decisions that saw and took a card, and sums over all turns."""
    sums: dict[tuple[int, Card, int], Count] = {}
    for (players, card, turn), (seen, taken) in counts.items():
        sums[players, card, turn] = Count(seen=seen, taken=taken)
        total = sums.get((players, card, ALL_TURNS), Count())
        sums[players, card, ALL_TURNS] = Count(seen=total.seen + seen, taken=total.taken + taken)
    return Tally(games={}, counts=sums)


EVERYBODY = tally(
    {
        (2, Card.WASABI, 1): (100, 50),
        (2, Card.WASABI, 2): (100, 10),
        (3, Card.WASABI, 1): (100, 90),
        (2, Card.PUDDING, 1): (100, 20),
    }
)


def test_habits_are_compared_in_the_same_place() -> None:
    """Habits are compared at equal table sizes and turns. The difference of usual habits is 0."""
    own = tally({(2, Card.WASABI, 1): (10, 5), (2, Card.WASABI, 2): (20, 2), (3, Card.WASABI, 1): (10, 9)})
    (wasabi,) = habits(own, EVERYBODY)
    assert (wasabi.card, wasabi.seen, wasabi.taken) == (Card.WASABI.label, 40, 16)
    assert wasabi.rate == 16 / 40
    assert wasabi.usual == pytest.approx(16 / 40)
    assert wasabi.difference == pytest.approx(0)


def test_an_unusual_habit_shows() -> None:
    """Cards are listed in the order of the deck, including those never taken, but not those never seen."""
    own = tally({(2, Card.PUDDING, 1): (10, 0), (2, Card.WASABI, 1): (10, 10)})
    found = habits(own, EVERYBODY)
    order = [card.label for card in Card]
    assert all(order.index(one.card) < order.index(other.card) for one, other in pairwise(found))
    assert {habit.card: habit.difference for habit in found} == {
        Card.PUDDING.label: pytest.approx(-0.2),
        Card.WASABI.label: pytest.approx(0.5),
    }


def test_uncounted_places_are_not_compared() -> None:
    """Without counts of other bots, only the bot's own rate is given."""
    (wasabi,) = habits(tally({(2, Card.WASABI, 1): (10, 5), (5, Card.WASABI, 1): (10, 5)}), EVERYBODY)
    assert (wasabi.rate, wasabi.usual, wasabi.difference) == (0.5, None, None)
    assert habits(nothing(), EVERYBODY) == ()
