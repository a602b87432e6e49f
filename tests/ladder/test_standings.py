"""Tests of a leaderboard that is kept in memory."""

import random
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.rating import Closing, Rating
from arena.ladder.rating_events import Entry
from arena.ladder.standings import BoardLine, BoardQuery, Standings

TODAY = date(2026, 11, 3).toordinal()
ALL = BoardQuery(limit=1000)


def line(bot: str, mean: float, deviation: float = 1.0, *, games: int = 9, house: bool = False) -> BoardLine:
    """Return a line of a leaderboard."""
    rating = Rating(mean, deviation)
    entry = Entry(
        rating=rating, skill=rating, sound=rating, games=games, place_sum=2 * games, wins=games // 2
    )
    return BoardLine(bot=bot, version=1, author=f"of {bot}", house=house, benched=False, entry=entry)


def standings(*lines: BoardLine | None) -> Standings:
    """Return standings with these lines."""
    made = Standings()
    made.update(dict(enumerate(lines, start=1)))
    return made


@st.composite
def lines(draw: st.DrawFn) -> list[BoardLine]:
    """Draw lines of a leaderboard with close or equal ratings."""
    numbers = range(draw(st.integers(1, 12)))
    return [
        line(
            f"bot-{number}",
            float(draw(st.integers(20, 30))),
            draw(st.sampled_from((0.5, 1.0, 3.0, 25 / 3))),
            games=draw(st.integers(0, 3)),
        )
        for number in numbers
    ]


@given(lines())
def test_ranks_go_by_score_and_lie_in_their_intervals(board: list[BoardLine]) -> None:
    """Equal scores share a rank. Bots without games come last and have no interval."""
    _, rows = standings(*board).rows(ALL, TODAY)
    played = sum(row.games > 0 for row in rows)
    assert all(row.games > 0 for row in rows[:played])
    for at, row in enumerate(rows):
        better = sum(other.score > row.score for other in rows[:played])
        if row.games == 0:
            better = played + sum(other.score > row.score for other in rows[played:])
            assert (row.rank_best, row.rank_worst, row.tied) == (None, None, False)
        else:
            assert row.rank_best is not None
            assert row.rank_worst is not None
            assert 1 <= row.rank_best <= row.rank <= row.rank_worst <= played
        assert row.rank == 1 + better
        assert at == 0 or rows[at - 1].rank <= row.rank


@given(lines())
def test_equal_ratings_are_tied(board: list[BoardLine]) -> None:
    """Two bots with games and equal ratings share a rank and are both marked as tied."""
    first = board[0]
    played = replace(first, entry=replace(first.entry, games=5))
    _, rows = standings(*board[1:], played, replace(played, bot="twin")).rows(ALL, TODAY)
    twins = [row for row in rows if row.bot in {"twin", played.bot}]
    assert [row.tied for row in twins] == [True, True]
    assert len({row.rank for row in twins}) == 1


def test_what_is_far_apart_is_not_tied() -> None:
    """A bot can be tied with either neighbour, but not with a bot without games."""
    _, rows = standings(
        line("a", 40.0), line("b", 30.0), line("c", 29.0), line("d", 20.0), line("new", 20.0, 25 / 3, games=0)
    ).rows(ALL, TODAY)
    assert [row.tied for row in rows] == [False, True, True, False, False]
    assert [(row.rank_best, row.rank_worst) for row in rows[:4]] == [(1, 1), (2, 3), (2, 3), (4, 4)]


@given(lines(), lines(), st.randoms(use_true_random=False))
def test_updates_one_by_one_equal_new_standings(
    before: list[BoardLine], after: list[BoardLine], dice: random.Random
) -> None:
    """Adding, changing and removing lines gives the same result as new standings."""
    live = standings(*before)
    live.rows(ALL, TODAY)
    ids = list(range(1, 1 + max(len(before), len(after))))
    dice.shuffle(ids)
    for bot in ids:
        live.update({bot: after[bot - 1] if bot <= len(after) else None})
    assert len(live) == len(after)
    assert live.rows(ALL, TODAY) == standings(*after).rows(ALL, TODAY)
    assert live.row("bot-0", TODAY) == standings(*after).row("bot-0", TODAY)
    live.update(dict.fromkeys(ids))
    assert live.rows(ALL, TODAY) == (0, [])


def test_a_change_is_over_seven_days() -> None:
    """The change is since the end of the day a week ago, or None without games by then."""
    now = line("a", 30.0, 1.0)

    def change(*closings: Closing) -> float | None:
        row = standings(replace(now, entry=replace(now.entry, closings=closings))).row("a", TODAY)
        assert row is not None
        return row.change

    assert change(Closing(TODAY - 7, 29.0, 2.0), Closing(TODAY, 30.0, 1.0)) == 27.0 - 23.0
    assert change(Closing(TODAY - 90, 29.0, 2.0), Closing(TODAY - 6, 30.0, 1.0)) == 27.0 - 23.0
    assert change(Closing(TODAY - 90, 30.0, 1.0)) == 0
    assert change(Closing(TODAY - 6, 30.0, 1.0)) is None


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (BoardQuery(limit=2), ["a", "house-b"]),
        (BoardQuery(limit=2, offset=2), ["c"]),
        (BoardQuery(limit=2, offset=9), []),
        (BoardQuery(limit=9, house=False), ["a", "c"]),
        (BoardQuery(limit=9, search="HOUSE"), ["house-b"]),
        (BoardQuery(limit=9, search="of c"), ["c"]),
        (BoardQuery(limit=9, search="of c", house=False, offset=1), []),
    ],
)
def test_pages_and_searches_find_their_rows(wanted: BoardQuery, expected: list[str]) -> None:
    """Rows on a page or in search results keep their ranks among all rows."""
    board = standings(line("a", 30.0), line("house-b", 29.0, house=True), line("c", 28.0))
    found, rows = board.rows(wanted, TODAY)
    assert [row.bot for row in rows] == expected
    assert found == {"": 3 if wanted.house else 2, "HOUSE": 1, "of c": 1}[wanted.search]
    assert [row.rank for row in rows] == [{"a": 1, "house-b": 2, "c": 3}[row.bot] for row in rows]
