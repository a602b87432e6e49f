"""A frame as seen from one viewpoint, and all frames as data for ``static/viewer.js``.

The data is compact, so that one response can contain all frames: one letter per card, and lists without
trailing empty entries. The letters, starting with ``a``, stand for ``KINDS``, in order.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_lowercase
from typing import Any, Final

from arena.rules import ROUNDS, Card, Hand, Knowledge, State, Turn, knowledge, seat_view
from web.http.rendering import fixed, millis
from web.viewer.film import Film, FilmStage, Frame, Viewpoint, VisibleHands
from web.viewer.stacks import Stack, stacks, standing, with_points
from web.viewer.words import describe_frame, of_unseen


class Mark(StrEnum):
    """A mark on a card in a hand."""

    NONE = ""
    PICKED = "picked"
    GIVEN = "given"
    """Chosen for the dummy."""
    RETURNED = "returned"
    """Chopsticks that were just returned to the hand."""


@dataclass(frozen=True, slots=True)
class HandCard:
    """A card in a hand; ``card`` is None if it is face down."""

    card: Card | None
    mark: Mark = Mark.NONE


def known_to(film: Film, frame: Frame, viewpoint: Viewpoint) -> Knowledge | None:
    """Return what the seat knows in this frame if the view shows what a seat can infer, else None."""
    if viewpoint.visible is not VisibleHands.INFER or viewpoint.seat is None:
        return None
    if frame.stage is FilmStage.PASS:
        return knowledge(seat_view(film.following(frame).moment.state, viewpoint.seat))
    moment = film.step(frame).moment
    before = seat_view(moment.state, viewpoint.seat)
    return knowledge(
        before, None if frame.stage is FilmStage.PICK else Turn(frame.round, frame.turn, moment.plays)
    )


def hands(
    film: Film, frame: Frame, viewpoint: Viewpoint, known: Knowledge | None
) -> list[tuple[HandCard, ...]]:
    """Return every hand, then the dummy's pile, as seen from this viewpoint."""
    found = [_players_hand(film, frame, seat) for seat in range(film.rules.players)]
    if film.rules.dummy:
        found.append(tuple(HandCard(card) for card in _state(film, frame).pile))
    if known:
        return [
            hand
            if seat == viewpoint.seat
            else (*map(HandCard, known.hands[seat].certain), *[HandCard(None)] * known.hands[seat].hidden)
            for seat, hand in enumerate(found)
        ]
    if viewpoint.seat is not None:
        return [hand if seat == viewpoint.seat else _face_down(hand) for seat, hand in enumerate(found)]
    return found


def _state(film: Film, frame: Frame) -> State:
    """Return the state whose hands the frame shows; after the pass, that of the next turn."""
    return (film.following if frame.stage is FilmStage.PASS else film.step)(frame).moment.state


def _players_hand(film: Film, frame: Frame, seat: int) -> tuple[HandCard, ...]:
    """Return a player's hand with the chosen or returned cards marked."""
    moment = film.step(frame).moment
    if frame.stage is FilmStage.PASS:
        return tuple(map(HandCard, _state(film, frame).hands[seat]))
    if frame.stage is not FilmStage.PICK:
        return marked(moment.hands[seat], returned(moment.plays[seat]))
    marks = [(card, Mark.PICKED) for card in moment.plays[seat]]
    if seat == moment.state.controller:
        marks += [(card, Mark.GIVEN) for card in moment.plays[-1]]
    return marked(moment.state.hands[seat], marks)


def returned(play: Sequence[Card]) -> list[tuple[Card, Mark]]:
    """Return the mark of the chopsticks that a play has returned to the hand, if any."""
    return [(Card.CHOPSTICKS, Mark.RETURNED)] if len(play) > 1 else []


def marked(hand: Hand, marks: Sequence[tuple[Card, Mark]]) -> tuple[HandCard, ...]:
    """Mark these cards in a hand."""
    left, cards = list(marks), []
    for card in hand:
        mark = next((mark for mark in left if mark[0] is card), (card, Mark.NONE))
        if mark in left:
            left.remove(mark)
        cards.append(HandCard(*mark))
    return tuple(cards)


def _face_down(hand: Sequence[HandCard]) -> tuple[HandCard, ...]:
    """Turn a hand face down. The result shows that cards were chosen, but not which or how many."""
    picked = any(card.mark is Mark.PICKED for card in hand)
    return tuple(
        HandCard(None, Mark.PICKED if picked and not number else Mark.NONE) for number in range(len(hand))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatScene:
    """One participant."""

    # In the order of card kinds, face-down cards last; the dummy's pile has its top card first.
    hand: tuple[HandCard, ...]
    stacks: tuple[Stack, ...]
    score: int  # points so far
    gain: int  # points gained in this frame
    tags: tuple[str, ...]  # fault, stand-in, take-over
    time: str  # the decision's time as text; empty if unknown
    leads: bool  # whether no player has more points, and some player has fewer
    place: int  # from 1 at the end of the game, else 0


@dataclass(frozen=True, slots=True)
class Unseen:
    """The cards whose places a seat can't know, as counts by kind and in words."""

    cards: tuple[tuple[Card, int], ...]
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A frame as seen from one viewpoint."""

    frame: Frame
    says: str  # the event, in a sentence
    seats: tuple[SeatScene, ...]  # one per participant, the dummy last
    unseen: Unseen | None  # in the view of what a seat can infer; else None


def scene(film: Film, frame: Frame, viewpoint: Viewpoint) -> Scene:
    """Return a frame of a film as seen from this viewpoint."""
    known = known_to(film, frame, viewpoint)
    return Scene(
        frame=frame,
        says=describe_frame(film, frame, viewpoint),
        seats=tuple(_seats(film, frame, viewpoint, hands(film, frame, viewpoint, known))),
        unseen=_unseen(known) if known else None,
    )


def _seats(
    film: Film, frame: Frame, viewpoint: Viewpoint, held: Sequence[tuple[HandCard, ...]]
) -> Iterator[SeatScene]:
    points = standing(film, frame)
    for seat, hand in enumerate(held):
        known = viewpoint.seat in {None, seat}
        player = seat < film.rules.players
        yield SeatScene(
            hand=hand,
            stacks=_stacks(film, frame, seat),
            score=points.scores[seat],
            gain=points.gains[seat],
            tags=_tags(film, frame, seat) if known and player else (),
            time=_time(film, frame, seat) if known and player else "",
            leads=seat in points.leaders,
            place=film.replay.places[seat] if known and player and frame.stage is FilmStage.END else 0,
        )


def _stacks(film: Film, frame: Frame, seat: int) -> tuple[Stack, ...]:
    moment, rules, replay = film.step(frame).moment, film.rules, film.replay
    kept = moment.state.puddings[seat]
    if frame.stage is FilmStage.PICK:
        return stacks(rules, moment.state.tables[seat], kept=kept)
    table = moment.tables[seat]
    if frame.stage is FilmStage.REVEAL:
        return stacks(rules, table, kept=kept, new=len(moment.plays[seat]))
    if frame.stage is FilmStage.END:
        left = stacks(rules, (), kept=replay.puddings.counts[seat])
        return with_points(left, Card.PUDDING, replay.puddings.scores[seat])
    laid = stacks(rules, table, kept=kept)
    if frame.stage is FilmStage.PASS:
        return laid
    points = replay.rounds[frame.round - 1].breakdown[seat]
    laid = with_points(laid, Card.MAKI_1, points["maki"])
    return with_points(laid, Card.SOY_SAUCE, points["soy_sauce"])


def _tags(film: Film, frame: Frame, seat: int) -> tuple[str, ...]:
    """Return a seat's tags. A decision's fault is shown only in the decision's frames."""
    step = film.step(frame)
    fault = step.noted.fault[seat] if frame.stage in {FilmStage.PICK, FilmStage.REVEAL} else None
    if step.gone[seat]:
        return (*([fault] if fault else []), "taken over")
    return (fault, "stand-in") if fault else ()


def _time(film: Film, frame: Frame, seat: int) -> str:
    taken = film.step(frame).noted.millis
    if taken is None or frame.stage not in {FilmStage.PICK, FilmStage.REVEAL}:
        return ""
    value = taken[seat]
    return "" if value is None else millis(value)


def _unseen(known: Knowledge) -> Unseen:
    counts = Counter(known.unseen)
    hidden = sum(held.hidden for held in known.hands)
    return Unseen(
        tuple((card, counts[card]) for card in Card if counts[card]), of_unseen(counts.total(), hidden)
    )


FORMAT: Final = "kaiten-frames/1"
KINDS: Final = tuple(card.label for card in Card)
_LETTERS: Final = dict(zip(Card, ascii_lowercase, strict=False))
_MARKS: Final = {Mark.NONE: ".", Mark.PICKED: "p", Mark.GIVEN: "g", Mark.RETURNED: "r"}
_FACE_DOWN: Final = "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """All frames of a game, as a document for ``static/viewer.js``."""

    format: str  # `kaiten-frames/1`
    view: str  # the viewpoint
    turns: int  # number per round
    # Per round: 1 if hands go to the next seat, -1 if they go to the previous one.
    directions: tuple[int, ...]
    kinds: tuple[str, ...]  # names of cards, in the order of their letters
    # Per frame: round, turn, stage, the event in words, and the seats. Views of what a seat could infer also
    # have the unseen cards, each as a letter and a number, and a sentence about them. Per seat: hand, marks
    # of the hand's cards, stacks, points, gain, tags, time, whether it leads, place.
    frames: tuple[tuple[Any, ...], ...]


def frames(film: Film, viewpoint: Viewpoint) -> Frames:
    """Return a film's frames as seen from this viewpoint."""
    return Frames(
        format=FORMAT,
        view=str(viewpoint),
        turns=film.rules.turns,
        directions=tuple(map(film.rules.direction, range(1, ROUNDS + 1))),
        kinds=KINDS,
        frames=tuple(_frame(scene(film, frame, viewpoint)) for frame in film.frames),
    )


def _frame(shown: Scene) -> tuple[Any, ...]:
    unseen = shown.unseen and (
        " ".join(f"{_LETTERS[card]}{count}" for card, count in shown.unseen.cards),
        shown.unseen.says,
    )
    return _trim(*shown.frame, shown.says, tuple(map(_seat, shown.seats)), unseen)


def _seat(seat: SeatScene) -> tuple[Any, ...]:
    return _trim(
        "".join(_FACE_DOWN if held.card is None else _LETTERS[held.card] for held in seat.hand),
        _marks(seat.hand),
        " ".join(map(_stack, seat.stacks)),
        seat.score,
        seat.gain,
        ",".join(seat.tags),
        seat.time,
        int(seat.leads),
        seat.place,
    )


def _marks(hand: tuple[HandCard, ...]) -> str:
    return "".join(_MARKS[held.mark] for held in hand).rstrip(_MARKS[Mark.NONE])


def _stack(stack: Stack) -> str:
    """Encode a stack: its letters (capitals for new cards), ``~`` and maki icons, ``=`` and points."""
    cards = "".join(
        _LETTERS[card].upper() if new else _LETTERS[card]
        for card, new in zip(stack.cards, stack.new, strict=True)
    )
    rolls = f"~{stack.rolls}" if stack.rolls else ""
    return cards + rolls + (f"={fixed(stack.points, 0)}" if stack.points else "")


def _trim(*entries: object) -> tuple[Any, ...]:
    """Drop trailing empty entries."""
    last = max((number for number, entry in enumerate(entries) if entry), default=-1)
    return entries[: last + 1]
