"""The race, the score sheet, the explanation of tie-breaks, and the list of moments."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from arena.play.replay.document import PublicReplay
from tests.web.viewer.films import SOME, golden, troubled
from web.viewer.film import ALL_HANDS, Film, FilmStage, Frame
from web.viewer.scene import scene
from web.viewer.screen import MANY_POINTS, ViewerEventKind, events, race, score_sheet


def decided(totals: tuple[int, ...], counts: tuple[int, ...], places: tuple[int, ...]) -> str:
    """Return the description of the last frame of a three-player game with this result."""
    film = troubled()
    puddings = replace(film.replay.puddings, counts=counts)
    ended = replace(film, replay=replace(film.replay, totals=totals, puddings=puddings, places=places))
    return scene(ended, film.frames[-1], ALL_HANDS).says


def test_puddings_explain_equal_totals() -> None:
    """Only equal totals are explained. More puddings rank higher, and equal numbers share a place."""
    assert decided((30, 31, 31), (0, 1, 3), (3, 2, 1)) == (
        "bot-2 wins with 31 points. "
        "bot-2 and bot-1 have 31 points each; puddings break the tie: bot-2 3, bot-1 1."
    )
    assert decided((31, 1, 1), (0, 1, 1), (1, 2, 2)) == (
        "bot-0 wins with 31 points. bot-1 and bot-2 have 1 point and 1 pudding each, and share place 2."
    )
    assert decided((1, 31, 30), (9, 0, 1), (3, 1, 2)) == "bot-1 wins with 31 points."


def test_puddings_do_not_explain_the_place_of_a_seat_that_was_taken_over() -> None:
    """The seat is ranked below the other despite more puddings."""
    assert decided((31, 31, 30), (5, 1, 1), (3, 1, 2)) == "bot-1 wins with 31 points."


def test_a_person_is_addressed() -> None:
    """Sentences about the person are in the second person."""
    film = troubled()
    replay = film.replay
    assert isinstance(replay, PublicReplay)
    people = tuple([replace(seat, bot="you", version=0) for seat in replay.seats])
    mine = replace(film, names=("you",) * 3, replay=replace(replay, seats=people))
    assert scene(mine, film.frames[-1], ALL_HANDS).says.startswith("you win with ")
    leads = {event.text for event in events(mine) if event.kind is ViewerEventKind.LEAD}
    assert leads == {"you take the lead"}


@pytest.mark.parametrize("file", SOME, ids=lambda path: path.stem)
def test_the_sheet_adds_up(file: Path) -> None:
    """Each row's rounds and categories add up to its total. The winner is first."""
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


@pytest.mark.parametrize("file", SOME, ids=lambda path: path.stem)
def test_the_race_ends_with_the_totals(file: Path) -> None:
    """Each line begins at zero, stays within the drawing, and ends at its player's points."""
    film = golden(file)
    drawn, lines = race(film), _heights(film)
    zero = lines[0][0]
    assert [zero - line[-1] for line in lines] == list(film.replay.totals[: film.rules.players])
    assert all(0 <= y <= drawn.height for line in lines for y in line)
    ends = [int(x) for x in re.findall(r"M(\d+) 0V", drawn.rounds)]
    assert [film.frames[x].stage for x in ends] == ["score"] * 3


def test_faults_and_take_overs_are_listed() -> None:
    """Faults and take-overs are listed at the choice in which they happened."""
    found = [
        event
        for event in events(troubled())
        if event.kind in {ViewerEventKind.FAULT, ViewerEventKind.TAKE_OVER}
    ]
    assert [(event.frame, event.text) for event in found] == [
        (Frame(1, 1, FilmStage.PICK), "bot-1: timeout"),
        (Frame(1, 3, FilmStage.PICK), "bot-1: illegal"),
        (Frame(1, 6, FilmStage.PICK), "bot-1: timeout"),
        (Frame(1, 6, FilmStage.PICK), "bot-1 is taken over"),
        (Frame(1, 8, FilmStage.PICK), "bot-0: crash"),
        (Frame(1, 8, FilmStage.PICK), "bot-0 is taken over"),
    ]


@pytest.mark.parametrize("file", SOME, ids=lambda path: path.stem)
def test_moments_are_what_the_frames_show(file: Path) -> None:
    """They are chopsticks, many points, changes of lead, and the ends of rounds and the game, in order."""
    film = golden(file)
    found = events(film)
    assert [film.frames.index(event.frame) for event in found] == sorted(
        film.frames.index(event.frame) for event in found
    )
    shown = {frame: scene(film, frame, ALL_HANDS) for frame in film.frames}
    chopsticks = [event.frame for event in found if event.kind is ViewerEventKind.CHOPSTICKS]
    points = [event.frame for event in found if event.kind is ViewerEventKind.POINTS]
    for frame, it in shown.items():
        if frame.stage is FilmStage.REVEAL:
            assert chopsticks.count(frame) == sum(len(play) > 1 for play in film.step(frame).moment.plays)
            assert points.count(frame) == sum(seat.gain >= MANY_POINTS for seat in it.seats)
    leaders = [
        next(number for number, seat in enumerate(it.seats) if seat.leads)
        for it in shown.values()
        if [seat.leads for seat in it.seats].count(True) == 1
    ]
    changes = sum(one != other for one, other in pairwise(leaders))
    assert sum(event.kind is ViewerEventKind.LEAD for event in found) == changes
    assert [event.frame.round for event in found if event.kind is ViewerEventKind.ROUND] == [1, 2, 3]
    assert found[-1].kind is ViewerEventKind.END
