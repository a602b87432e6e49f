"""Views of frames, on pages and as data, and the frames' addresses."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from arena.rules import Card, knowledge, seat_view
from tests.web.viewer.films import GOLDEN, SOME, golden, troubled
from web.viewer.film import ALL_HANDS, Film, FilmStage, Frame, Viewpoint, VisibleHands, address
from web.viewer.scene import KINDS, HandCard, Mark, Scene, frames, scene

games = pytest.mark.parametrize("file", SOME, ids=lambda path: path.stem)


def scenes(film: Film, viewpoint: Viewpoint = ALL_HANDS) -> Iterator[Scene]:
    """Return the scenes of all frames of a film in this view."""
    return (scene(film, frame, viewpoint) for frame in film.frames)


def marked(hand: tuple[HandCard, ...], *marks: Mark) -> Counter[Card]:
    """Count the face-up cards of a hand that have one of these marks."""
    return Counter(card.card for card in hand if card.card and card.mark in marks)


def test_frames_are_the_three_stages_of_each_turn() -> None:
    """A round's last turn has points instead of a pass. The game has a final frame."""
    film = troubled()
    assert film.frames[:4] == (
        Frame(1, 1, FilmStage.PICK),
        Frame(1, 1, FilmStage.REVEAL),
        Frame(1, 1, FilmStage.PASS),
        Frame(1, 2, FilmStage.PICK),
    )
    assert [frame.stage for frame in film.frames if frame[:2] == (1, 9)] == ["pick", "reveal", "score"]
    assert film.frames[-2:] == (Frame(3, 9, FilmStage.SCORE), Frame(3, 9, FilmStage.END))
    assert len(film.frames) == len(set(film.frames)) == 3 * 27 + 1


@games
def test_no_card_is_lost_between_the_frames(file: Path) -> None:
    """Hands and tables have the cards dealt in the round. The chosen cards are those that are revealed."""
    film = golden(file)
    for shown in scenes(film):
        if shown.frame.stage is FilmStage.END:
            continue
        step = film.step(shown.frame)
        deal = Counter(
            Card.from_label(card) for hand in film.replay.deals[shown.frame.round - 1] for card in hand
        )
        held = Counter(card.card for seat in shown.seats for card in seat.hand if card.card)
        placed = Counter(card for seat in shown.seats for stack in seat.stacks for card in stack.cards)
        kept = Counter({Card.PUDDING: sum(step.moment.state.puddings)})
        assert held + placed - kept == deal
        plays = [Counter(play) for play in step.moment.plays]
        new = [
            Counter(
                card for stack in seat.stacks for card, new in zip(stack.cards, stack.new, strict=True) if new
            )
            for seat in shown.seats
        ]
        chosen = [marked(seat.hand, Mark.PICKED, Mark.GIVEN) for seat in shown.seats]
        if step.moment.state.controller is not None:
            given = chosen[step.moment.state.controller] - plays[step.moment.state.controller]
            chosen[-1] += given
            chosen[step.moment.state.controller] -= given
        nothing: list[Counter[Card]] = [Counter() for _ in plays]
        assert chosen == (plays if shown.frame.stage is FilmStage.PICK else nothing)
        assert new == (plays if shown.frame.stage is FilmStage.REVEAL else nothing)


@games
def test_points_are_those_of_the_replay(file: Path) -> None:
    """The points agree after each round and at the end. A gain is the difference from the frame before."""
    film = golden(file)
    before = [0] * film.rules.participants
    so_far = [0] * film.rules.participants
    for shown in scenes(film):
        scores = [seat.score for seat in shown.seats]
        assert [seat.gain for seat in shown.seats] == [a - b for a, b in zip(scores, before, strict=True)]
        before = scores
        if shown.frame.stage is FilmStage.SCORE:
            points = film.replay.rounds[shown.frame.round - 1]
            so_far = [a + b for a, b in zip(so_far, points.scores, strict=True)]
            assert scores == so_far
            for seat, breakdown in zip(shown.seats, points.breakdown, strict=True):
                assert sum(stack.points or 0 for stack in seat.stacks) == sum(breakdown.values())
        if shown.frame.stage is FilmStage.END:
            assert tuple(scores) == film.replay.totals
            assert [seat.place for seat in shown.seats] == [*film.replay.places, *[0] * film.rules.dummy]
            assert [sum(stack.points or 0 for stack in seat.stacks) for seat in shown.seats] == [
                score if count else 0
                for score, count in zip(film.replay.puddings.scores, film.replay.puddings.counts, strict=True)
            ]


@games
def test_a_seat_sees_its_own_hand_and_the_backs_of_the_others(file: Path) -> None:
    """The number of backs is correct. During a choice, one is raised, however many cards were chosen."""
    film = golden(file)
    for number in range(film.rules.players):
        viewpoint = Viewpoint(VisibleHands.SEAT, number)
        for shown, whole in zip(scenes(film, viewpoint), scenes(film), strict=True):
            assert shown.unseen is None
            for seat, (mine, true) in enumerate(zip(shown.seats, whole.seats, strict=True)):
                assert (mine.stacks, mine.score, mine.gain) == (true.stacks, true.score, true.gain)
                if seat == number:
                    assert mine == true
                    continue
                assert len(mine.hand) == len(true.hand)
                assert {card.card for card in mine.hand} <= {None}
                player = seat < film.rules.players
                raised = player and shown.frame.stage is FilmStage.PICK
                assert [card.mark for card in mine.hand].count(Mark.PICKED) == raised


@games
def test_a_seat_infers_what_is_known_from_its_view(file: Path) -> None:
    """Certain cards are face up, and the others face down. Unseen cards agree with the engine's inference."""
    film = golden(file)
    for number in range(film.rules.players):
        viewpoint = Viewpoint(VisibleHands.INFER, number)
        for frame in film.frames:
            if frame.stage is not FilmStage.PICK:
                continue
            shown = scene(film, frame, viewpoint)
            known = knowledge(seat_view(film.step(frame).moment.state, number))
            for seat, held in enumerate(known.hands):
                hand = shown.seats[seat].hand
                assert tuple(card.card for card in hand) == held.certain + (None,) * held.hidden
                assert seat == number or not marked(hand, Mark.PICKED, Mark.GIVEN)
            assert shown.unseen is not None
            assert Counter(dict(shown.unseen.cards)) == Counter(known.unseen)


def test_after_the_pass_a_seat_knows_the_hand_it_passed_on() -> None:
    """After the reveal, the seat knows only its own hand."""
    film = troubled()
    viewpoint = Viewpoint(VisibleHands.INFER, 0)
    reveal, passed = (
        scene(film, Frame(1, 1, stage), viewpoint) for stage in (FilmStage.REVEAL, FilmStage.PASS)
    )
    assert [sum(card.card is None for card in seat.hand) for seat in reveal.seats] == [0, 8, 8]
    assert [sum(card.card is None for card in seat.hand) for seat in passed.seats] == [0, 0, 8]


def test_faults_are_tagged_where_they_happened() -> None:
    """Faults are shown with their decision. A seat that was taken over is marked from then on."""
    film = troubled()

    def tags(turn: int, stage: FilmStage, viewpoint: Viewpoint = ALL_HANDS) -> list[tuple[str, ...]]:
        return [seat.tags for seat in scene(film, Frame(1, turn, stage), viewpoint).seats]

    assert tags(1, FilmStage.PICK) == tags(1, FilmStage.REVEAL) == [(), ("timeout", "stand-in"), ()]
    assert tags(1, FilmStage.PASS) == tags(2, FilmStage.PICK) == [(), (), ()]
    assert tags(6, FilmStage.PICK) == [(), ("timeout", "taken over"), ()]
    assert tags(6, FilmStage.PASS) == [(), ("taken over",), ()]
    assert tags(8, FilmStage.PICK) == [("crash", "taken over"), ("taken over",), ()]
    assert tags(6, FilmStage.PICK, Viewpoint(VisibleHands.SEAT, 0)) == [(), (), ()]
    assert tags(6, FilmStage.PICK, Viewpoint(VisibleHands.INFER, 1)) == [(), ("timeout", "taken over"), ()]


def test_times_are_shown_with_their_decision() -> None:
    """A seat sees only its own time. A decision without an answer has none."""
    film = troubled()

    def times(stage: FilmStage, viewpoint: Viewpoint = ALL_HANDS) -> list[str]:
        return [seat.time for seat in scene(film, Frame(1, 1, stage), viewpoint).seats]

    assert times(FilmStage.PICK) == times(FilmStage.REVEAL) == ["1.5 ms", "", "1.5 ms"]
    assert times(FilmStage.PASS) == ["", "", ""]
    assert times(FilmStage.PICK, Viewpoint(VisibleHands.SEAT, 2)) == ["", "", "1.5 ms"]


def test_each_frame_has_a_description() -> None:
    """Only views that may know of a fault mention it."""
    film = troubled()

    def said(frame: Frame, viewpoint: Viewpoint = ALL_HANDS) -> str:
        return scene(film, frame, viewpoint).says

    first = Frame(1, 1, FilmStage.PICK)
    assert said(first) == "Everyone has chosen. bot-1: timeout; the stand-in chooses."
    assert said(first, Viewpoint(VisibleHands.SEAT, 0)) == "Everyone has chosen."
    assert said(Frame(1, 6, FilmStage.PICK)).endswith("bot-1: timeout; the stand-in takes over.")
    assert said(Frame(1, 9, FilmStage.PICK)) == "The last cards are played automatically."
    assert said(Frame(1, 1, FilmStage.PASS)) == "Every hand goes to the next seat."
    assert said(film.frames[-1]) == f"bot-2 wins with {film.replay.totals[2]} points."


def test_descriptions_of_reveals_and_ends() -> None:
    """Reveals mention chopsticks, wasabi and points. Ends mention shared places."""
    said = " ".join(shown.says for file in SOME for shown in scenes(golden(file)))
    assert " with chopsticks" in said
    assert "nigiri on wasabi, +" in said
    assert "The two players swap hands." in said
    assert "Every hand goes to the previous seat." in said
    assert "share first place" not in said
    tie = replace(golden(SOME[0]), replay=replace(golden(SOME[0]).replay, places=(1, 1)))
    assert scene(tie, tie.frames[-1], ALL_HANDS).says.startswith(
        "dice 0 and dice 1 share first place with 33 points."
    )


@games
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
