"""Moments to jump to."""

from itertools import pairwise
from pathlib import Path

import pytest

from tests.web.viewer.films import GOLDEN, golden, troubled
from web.viewer.film import EVERYBODY, FilmStage, Frame
from web.viewer.scene import scene
from web.viewer.screen import MANY_POINTS, ViewerEventKind, events


def test_faults_and_take_overs_are_there() -> None:
    """All of them, at the choice in which they happened."""
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


@pytest.mark.parametrize("file", GOLDEN, ids=lambda path: path.stem)
def test_moments_are_what_the_frames_show(file: Path) -> None:
    """Chopsticks, turns of many points, changes of the lead, ends of rounds and of the game; in order."""
    film = golden(file)
    found = events(film)
    assert [film.frames.index(event.frame) for event in found] == sorted(
        film.frames.index(event.frame) for event in found
    )
    shown = {frame: scene(film, frame, EVERYBODY) for frame in film.frames}
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
