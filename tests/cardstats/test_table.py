"""What a tally says, card by card."""

from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.cardstats import (
    ALL_TURNS,
    FEW,
    POINT,
    WIN,
    Count,
    Figures,
    Games,
    Tally,
    merged,
    nothing,
    table_of,
)
from arena.rules import Card, Rules
from tests.cardstats.games import Played, games

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


def test_rates_are_what_was_counted_by_how_often() -> None:
    """Share taken, shares won with their difference, points of a card, average turns."""
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


def test_all_games_are_the_sum_of_those_of_each_number_of_players() -> None:
    """Not the mean of their rates."""
    table = table_of(TALLY, None)
    assert (table.games, table.seats, table.decisions, table.win_rate) == (110, 230, 1100, 530 / 1100)
    assert table.cards[0].total.take_rate == 301 / 401


@pytest.mark.parametrize(
    ("taken", "passed", "few"), [(FEW, FEW, False), (FEW - 1, FEW, True), (FEW, FEW - 1, True)]
)
def test_few_decisions_are_called_so(taken: int, passed: int, *, few: bool) -> None:
    """Also where there are many of one group, and whatever the rates are."""
    count = Count(seen=taken + passed, taken=taken, cards=taken, taken_squares=taken, passed_squares=passed)
    tally = Tally(games={}, counts={(2, Card.PUDDING, ALL_TURNS): count})
    (line,) = [line for line in table_of(tally, 2).cards if line.card == "pudding"]
    assert line.total.few == few


def test_nothing_has_no_rates() -> None:
    """Of no games there are the twelve kinds of the basic game, all unseen."""
    table = table_of(nothing(), 5)
    assert (len(table.cards), table.games, table.win_rate) == (12, 0, None)
    for line in table.cards:
        assert len(line.turns) == Rules(players=5).turns - 1
        for figures in (line.total, *line.turns):
            empty = {field.name: getattr(figures, field.name) for field in fields(Figures)}
            assert {name for name, value in empty.items() if value} <= {"turn", "few"}


@settings(max_examples=20)
@given(st.lists(games(), max_size=4))
def test_every_table_of_played_games_can_be_made(drawn: list[Played]) -> None:
    """Rates are between nought and one; soy sauce is there where it was seen; chopsticks have no points."""
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
