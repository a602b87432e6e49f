"""What one pair of eyes sees in one frame."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.rules import Card, Knowledge
from web.text import millis
from web.viewer.address import Eyes, Frame, Stage
from web.viewer.film import Film
from web.viewer.hands import HandCard, hands, known_to
from web.viewer.points import standing
from web.viewer.stacks import Stack, stacks, with_points
from web.viewer.words import of_unseen, says


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatScene:
    """One participant.

    Attributes:
        hand: In the order of the table of kinds, face-down ones last; of the dummy its pile, top card first.
        stacks: What lies in front of it.
        score: Points so far.
        gain: Points of this very frame.
        tags: Fault, stand-in, take-over.
        time: How long it took, or nothing.
        leads: Whether no player has more points, and one has fewer.
        place: At the end of the game, from 1; before it 0.
    """

    hand: tuple[HandCard, ...]
    stacks: tuple[Stack, ...]
    score: int
    gain: int
    tags: tuple[str, ...]
    time: str
    leads: bool
    place: int


@dataclass(frozen=True, slots=True)
class Unseen:
    """The cards of which a seat knows no place: of each kind, and in words."""

    cards: tuple[tuple[Card, int], ...]
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A frame as somebody sees it.

    Attributes:
        frame: Which.
        says: What happens, in a sentence.
        seats: One a participant, the dummy last.
        unseen: What a seat could infer of the rest of the deck; None where that is not asked.
    """

    frame: Frame
    says: str
    seats: tuple[SeatScene, ...]
    unseen: Unseen | None


def scene(film: Film, frame: Frame, eyes: Eyes) -> Scene:
    """Return what these eyes see in a frame of this film."""
    known = known_to(film, frame, eyes)
    return Scene(
        frame=frame,
        says=says(film, frame, eyes),
        seats=tuple(_seats(film, frame, eyes, hands(film, frame, eyes, known))),
        unseen=_unseen(known) if known else None,
    )


def _seats(film: Film, frame: Frame, eyes: Eyes, held: Sequence[tuple[HandCard, ...]]) -> Iterator[SeatScene]:
    points = standing(film, frame)
    for seat, hand in enumerate(held):
        known = eyes.seat in {None, seat}
        player = seat < film.rules.players
        yield SeatScene(
            hand=hand,
            stacks=_stacks(film, frame, seat),
            score=points.scores[seat],
            gain=points.gains[seat],
            tags=_tags(film, frame, seat) if known and player else (),
            time=_time(film, frame, seat) if known and player else "",
            leads=seat in points.leaders,
            place=film.replay.places[seat] if known and player and frame.stage is Stage.END else 0,
        )


def _stacks(film: Film, frame: Frame, seat: int) -> tuple[Stack, ...]:
    moment, rules, replay = film.step(frame).moment, film.rules, film.replay
    kept = moment.state.puddings[seat]
    if frame.stage is Stage.PICK:
        return stacks(rules, moment.state.tables[seat], kept=kept)
    table = moment.tables[seat]
    if frame.stage is Stage.REVEAL:
        return stacks(rules, table, kept=kept, new=len(moment.plays[seat]))
    if frame.stage is Stage.END:
        left = stacks(rules, (), kept=replay.puddings.counts[seat])
        return with_points(left, Card.PUDDING, replay.puddings.scores[seat])
    laid = stacks(rules, table, kept=kept)
    if frame.stage is Stage.PASS:
        return laid
    points = replay.rounds[frame.round - 1].breakdown[seat]
    laid = with_points(laid, Card.MAKI_1, points["maki"])
    return with_points(laid, Card.SOY_SAUCE, points["soy_sauce"])


def _tags(film: Film, frame: Frame, seat: int) -> tuple[str, ...]:
    """Return what went wrong with a seat, of a decision only while that is shown."""
    step = film.step(frame)
    fault = step.noted.fault[seat] if frame.stage in {Stage.PICK, Stage.REVEAL} else None
    if step.gone[seat]:
        return (*([fault] if fault else []), "taken over")
    return (fault, "stand-in") if fault else ()


def _time(film: Film, frame: Frame, seat: int) -> str:
    taken = film.step(frame).noted.millis
    if taken is None or frame.stage not in {Stage.PICK, Stage.REVEAL}:
        return ""
    value = taken[seat]
    return "" if value is None else millis(value)


def _unseen(known: Knowledge) -> Unseen:
    counts = Counter(known.unseen)
    hidden = sum(held.hidden for held in known.hands)
    return Unseen(
        tuple((card, counts[card]) for card in Card if counts[card]), of_unseen(counts.total(), hidden)
    )
