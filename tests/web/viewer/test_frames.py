"""Frames as data, and their addresses."""

from pathlib import Path

import msgspec
import pytest

from tests.web.viewer.films import GOLDEN, SOME, golden
from web.viewer.film import EVERYBODY, Eyes, FilmStage, Frame, Sight, address
from web.viewer.scene import KINDS, frames, scene


@pytest.mark.parametrize("file", SOME, ids=lambda path: path.stem)
@pytest.mark.parametrize("view", ["all", "seat:1", "infer:1"])
def test_the_document_is_small_and_says_what_is_seen(file: Path, view: str) -> None:
    """A letter for each card of a hand, in its order; points, gains and words as they are."""
    film, eyes = golden(file), Eyes.read(view)
    document = msgspec.json.encode(frames(film, eyes))
    assert len(document) < 30_000
    data = msgspec.json.decode(document)
    assert (data["view"], data["turns"], len(data["frames"])) == (view, film.rules.turns, len(film.frames))
    assert data["directions"] == [1, -1 if film.rules.pass_both_ways else 1, 1]
    for entry, frame in zip(data["frames"], film.frames, strict=True):
        shown = scene(film, frame, eyes)
        assert entry[:4] == [*frame, shown.says]
        for written, seat in zip(entry[4], shown.seats, strict=True):
            hand, _, stacks, score, gain = (*written, *["", "", "", 0, 0][len(written) :])[:5]
            kinds = [None if letter == "?" else KINDS[ord(letter) - ord("a")] for letter in hand]
            assert kinds == [card.card and card.card.label for card in seat.hand]
            assert len(stacks.split()) == len(seat.stacks)
            assert (score, gain) == (seat.score, seat.gain)


def test_addresses_leave_out_what_is_usual() -> None:
    """The choice and the view of everything have the shortest address."""
    reveal = Frame(2, 7, FilmStage.REVEAL)
    assert address("/games/g", Frame(1, 1, FilmStage.PICK)) == "/games/g/1/1"
    assert address("/games/g", reveal) == "/games/g/2/7?step=reveal"
    assert address("/games/g", reveal, Eyes(Sight.INFER, 3)) == "/games/g/2/7?step=reveal&view=infer:3"


@pytest.mark.parametrize("text", ["all", "seat:0", "infer:4"])
def test_eyes_are_read_as_they_are_written(text: str) -> None:
    """And back."""
    assert str(Eyes.read(text)) == text
    assert (Eyes.read(text) == EVERYBODY) == (text == "all")


@pytest.mark.parametrize("text", ["", "seat", "seat:", "seat:5", "infer:x", "all:1", "seat:1 "])
def test_no_other_eyes_are_read(text: str) -> None:
    """The error says what there is."""
    with pytest.raises(ValueError, match="use all, seat:N or infer:N"):
        Eyes.read(text)


def test_seats_of_one_bot_are_told_apart() -> None:
    """By their number; the dummy is called so."""
    assert golden(next(file for file in GOLDEN if file.stem == "2-dummy")).names == (
        "dice 0",
        "dice 1",
        "dummy",
    )
