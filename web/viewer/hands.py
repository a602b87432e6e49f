"""The hands of a frame, as far as some eyes see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from arena.rules import Card, Hand, Knowledge, State, Turn, knowledge, seen
from web.viewer.address import Eyes, Frame, Sight, Stage
from web.viewer.film import Film


class Mark(StrEnum):
    """What is special about a card of a hand."""

    NONE = ""
    PICKED = "picked"
    GIVEN = "given"
    """Chosen for the dummy."""
    RETURNED = "returned"
    """Chopsticks that have just gone back."""


@dataclass(frozen=True, slots=True)
class HandCard:
    """A card of a hand; without a card it lies face down."""

    card: Card | None
    mark: Mark = Mark.NONE


def known_to(film: Film, frame: Frame, eyes: Eyes) -> Knowledge | None:
    """Return what the seat knows in this frame, if that is what is asked."""
    if eyes.sight is not Sight.INFER or eyes.seat is None:
        return None
    if frame.stage is Stage.PASS:
        return knowledge(seen(film.following(frame).moment.state, eyes.seat))
    moment = film.step(frame).moment
    before = seen(moment.state, eyes.seat)
    return knowledge(
        before, None if frame.stage is Stage.PICK else Turn(frame.round, frame.turn, moment.plays)
    )


def hands(film: Film, frame: Frame, eyes: Eyes, known: Knowledge | None) -> list[tuple[HandCard, ...]]:
    """Return every hand, and the dummy's pile last, as far as these eyes see them."""
    found = [_marked(film, frame, seat) for seat in range(film.rules.players)]
    if film.rules.dummy:
        found.append(tuple(HandCard(card) for card in _state(film, frame).pile))
    if known:
        return [
            hand
            if seat == eyes.seat
            else (*map(HandCard, known.hands[seat].certain), *[HandCard(None)] * known.hands[seat].hidden)
            for seat, hand in enumerate(found)
        ]
    if eyes.seat is not None:
        return [hand if seat == eyes.seat else _backs(hand) for seat, hand in enumerate(found)]
    return found


def _state(film: Film, frame: Frame) -> State:
    """Return the state in which the hands of this frame lie; after the pass, that of the next turn."""
    return (film.following if frame.stage is Stage.PASS else film.step)(frame).moment.state


def _marked(film: Film, frame: Frame, seat: int) -> tuple[HandCard, ...]:
    """Return a player's hand with what was chosen from it, or what came back to it."""
    moment = film.step(frame).moment
    if frame.stage is Stage.PASS:
        return tuple(map(HandCard, _state(film, frame).hands[seat]))
    if frame.stage is not Stage.PICK:
        returned = [Card.CHOPSTICKS] if len(moment.plays[seat]) > 1 else []
        return _mark(moment.hands[seat], [(card, Mark.RETURNED) for card in returned])
    marks = [(card, Mark.PICKED) for card in moment.plays[seat]]
    if seat == moment.state.controller:
        marks += [(card, Mark.GIVEN) for card in moment.plays[-1]]
    return _mark(moment.state.hands[seat], marks)


def _mark(hand: Hand, marks: Sequence[tuple[Card, Mark]]) -> tuple[HandCard, ...]:
    left, cards = list(marks), []
    for card in hand:
        mark = next((mark for mark in left if mark[0] is card), (card, Mark.NONE))
        if mark in left:
            left.remove(mark)
        cards.append(HandCard(*mark))
    return tuple(cards)


def _backs(hand: Sequence[HandCard]) -> tuple[HandCard, ...]:
    """Turn a hand over: that a card was chosen can be seen, but neither which nor how many."""
    picked = any(card.mark is Mark.PICKED for card in hand)
    return tuple(
        HandCard(None, Mark.PICKED if picked and not number else Mark.NONE) for number in range(len(hand))
    )
