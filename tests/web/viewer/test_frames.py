"""Frames as data, and their addresses."""

from pathlib import Path

import msgspec
import pytest

from tests.web.viewer.films import GOLDEN, SOME, golden
from web.viewer.film import ALL_HANDS, FilmStage, Frame, Viewpoint, VisibleHands, address
from web.viewer.scene import KINDS, frames, scene


@pytest.mark.parametrize("file", SOME, ids=lambda path: path.stem)
@pytest.mark.parametrize("view", ["all", "seat:1", "infer:1"])
def test_the_document_has_the_scene_in_a_compact_form(file: Path, view: str) -> None:
    """Hands have one letter per card in order. Points, gains and descriptions are unchanged."""
    film, viewpoint = golden(file), Viewpoint.read(view)
    document = msgspec.json.encode(frames(film, viewpoint))
    assert len(document) < 30_000
    data = msgspec.json.decode(document)
    assert (data["view"], data["turns"], len(data["frames"])) == (view, film.rules.turns, len(film.frames))
    assert data["directions"] == [1, -1 if film.rules.pass_both_ways else 1, 1]
    for entry, frame in zip(data["frames"], film.frames, strict=True):
        shown = scene(film, frame, viewpoint)
        assert entry[:4] == [*frame, shown.says]
        for written, seat in zip(entry[4], shown.seats, strict=True):
            hand, _, stacks, score, gain = (*written, *["", "", "", 0, 0][len(written) :])[:5]
            kinds = [None if letter == "?" else KINDS[ord(letter) - ord("a")] for letter in hand]
            assert kinds == [card.card and card.card.label for card in seat.hand]
            assert len(stacks.split()) == len(seat.stacks)
            assert (score, gain) == (seat.score, seat.gain)


def test_addresses_leave_out_defaults() -> None:
    """The defaults are the choice as the step, and the view of all hands."""
    reveal = Frame(2, 7, FilmStage.REVEAL)
    assert address("/games/g", Frame(1, 1, FilmStage.PICK)) == "/games/g/1/1"
    assert address("/games/g", reveal) == "/games/g/2/7?step=reveal"
    assert (
        address("/games/g", reveal, Viewpoint(VisibleHands.INFER, 3))
        == "/games/g/2/7?step=reveal&view=infer:3"
    )


@pytest.mark.parametrize("text", ["all", "seat:0", "infer:4"])
def test_views_are_parsed_and_written(text: str) -> None:
    """Writing a parsed view gives the same text."""
    assert str(Viewpoint.read(text)) == text
    assert (Viewpoint.read(text) == ALL_HANDS) == (text == "all")


@pytest.mark.parametrize("text", ["", "seat", "seat:", "seat:5", "infer:x", "all:1", "seat:1 "])
def test_invalid_views_are_refused(text: str) -> None:
    """The error lists the valid views."""
    with pytest.raises(ValueError, match="use all, seat:N or infer:N"):
        Viewpoint.read(text)


def test_seats_of_one_bot_have_numbers() -> None:
    """The dummy's name is "dummy"."""
    assert golden(next(file for file in GOLDEN if file.stem == "2-dummy")).names == (
        "dice 0",
        "dice 1",
        "dummy",
    )
