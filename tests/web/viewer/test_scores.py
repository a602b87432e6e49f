"""The race, the score sheet, and what ranks equal totals."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.web.viewer.films import GOLDEN, golden, troubled
from web.viewer.film import EVERYBODY, Film
from web.viewer.scene import scene
from web.viewer.screen import race, score_sheet


def decided(totals: tuple[int, ...], counts: tuple[int, ...], places: tuple[int, ...]) -> str:
    """Return what the last frame says of such an end of a game of three."""
    film = troubled()
    puddings = replace(film.replay.puddings, counts=counts)
    ended = replace(film, replay=replace(film.replay, totals=totals, puddings=puddings, places=places))
    return scene(ended, film.frames[-1], EVERYBODY).says


def test_puddings_explain_equal_totals() -> None:
    """More of them rank first; with as many the place is shared; otherwise nothing is said."""
    assert decided((30, 31, 31), (0, 1, 3), (3, 2, 1)) == (
        "bot-2 wins with 31 points. "
        "bot-2 and bot-1 have 31 points each; their puddings decide: bot-2 3, bot-1 1."
    )
    assert decided((31, 1, 1), (0, 1, 1), (1, 2, 2)) == (
        "bot-0 wins with 31 points. bot-1 and bot-2 have 1 point and 1 pudding each, and share place 2."
    )
    assert decided((1, 31, 30), (9, 0, 1), (3, 1, 2)) == "bot-1 wins with 31 points."


def test_a_seat_that_was_taken_over_is_not_below_for_its_puddings() -> None:
    """It has more of them, and is ranked below all the same: they decided nothing."""
    assert decided((31, 31, 30), (5, 1, 1), (3, 1, 2)) == "bot-1 wins with 31 points."


@pytest.mark.parametrize("file", GOLDEN, ids=lambda path: path.stem)
def test_the_sheet_adds_up(file: Path) -> None:
    """By round and by category each row comes to its total, and the winner is first."""
    film = golden(file)
    sheet = score_sheet(film)
    assert sheet is not None
    assert [row.place for row in sheet.rows] == sorted(film.replay.places)
    assert ("soy sauce" in sheet.kinds) == film.rules.soy_sauce
    for row in sheet.rows:
        assert sum(row.rounds) == sum(row.kinds) == row.total - row.puddings
        assert row.total == film.replay.totals[film.names.index(row.name)]


def _heights(film: Film) -> list[list[int]]:
    return [[int(y) for y in re.findall(r"[ML]\d+ (\d+)", line)] for line in race(film).lines]


@pytest.mark.parametrize("file", GOLDEN, ids=lambda path: path.stem)
def test_the_race_ends_with_the_totals(file: Path) -> None:
    """Each line begins at nothing, stays in the drawing, and ends as high as its player has points."""
    film = golden(file)
    drawn, lines = race(film), _heights(film)
    zero = lines[0][0]
    assert [zero - line[-1] for line in lines] == list(film.replay.totals[: film.rules.players])
    assert all(0 <= y <= drawn.height for line in lines for y in line)
    ends = [int(x) for x in re.findall(r"M(\d+) 0V", drawn.rounds)]
    assert [film.frames[x].stage for x in ends] == ["score"] * 3
