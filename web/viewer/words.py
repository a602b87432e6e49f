"""What happens in a frame, in words: for everybody below the table, and for screen readers as it changes."""

from collections.abc import Iterator, Sequence
from typing import Final

from arena.replay.build import is_automatic
from arena.rules import Card
from web.text import fixed, signed
from web.viewer.address import Eyes, Frame, Stage
from web.viewer.film import Film
from web.viewer.points import standing
from web.viewer.stacks import stacks

STAGES: Final = {
    Stage.PICK: "Choice",
    Stage.REVEAL: "Reveal",
    Stage.PASS: "Pass",
    Stage.SCORE: "Points",
    Stage.END: "End",
}
FACE_DOWN: Final = "face down"


def card_name(card: Card) -> str:
    """Return what a kind is called."""
    return card.label.replace("_", " ")


def where(frame: Frame) -> str:
    """Say which frame it is."""
    return f"Round {frame.round}, turn {frame.turn}, {STAGES[frame.stage].lower()}"


def says(film: Film, frame: Frame, eyes: Eyes) -> str:
    """Say what happens, and of faults what these eyes may know."""
    if frame.stage is Stage.PICK:
        return " ".join(_choice(film, frame, eyes))
    if frame.stage is Stage.REVEAL:
        return " ".join(_revealed(film, frame))
    if frame.stage is Stage.PASS:
        return _passed(film, frame)
    points = standing(film, frame)
    if frame.stage is Stage.SCORE:
        scores = film.replay.rounds[frame.round - 1].scores
        return f"Points of this round: {_list(film.names, scores)}."
    return f"{_winners(film)}. Points: {_list(film.names, points.scores)}."


def of_unseen(count: int, hidden: int) -> str:
    """Say what the unseen cards are to the face-down ones.

    Args:
        count: How many cards have no known place.
        hidden: How many of them lie face down in hands and in the dummy's pile.
    """
    if not hidden:
        return f"Every hand is known. These {count} cards are undealt."
    return f"The {hidden} face-down cards are some of these {count}, any of them; the rest are undealt."


def _choice(film: Film, frame: Frame, eyes: Eyes) -> Iterator[str]:
    automatic = is_automatic(film.rules, frame.turn)
    yield "The last cards are played by themselves." if automatic else "All have chosen."
    step = film.step(frame)
    for seat, (fault, gone) in enumerate(zip(step.noted.fault, step.gone, strict=True)):
        if fault and eyes.seat in (None, seat):
            what = "the stand-in takes over" if gone else "the stand-in chooses"
            yield f"{film.names[seat]}: {fault}, {what}."


def _revealed(film: Film, frame: Frame) -> Iterator[str]:
    moment, gains = film.step(frame).moment, standing(film, frame).gains
    for name, play, table, gain in zip(film.names, moment.plays, moment.tables, gains, strict=True):
        tripled = [card for stack in stacks(film.rules, table, new=len(play)) for card in stack.tripled]
        words = []
        for card in play:
            words.append(card_name(card) + (" on wasabi" if card in tripled else ""))
            tripled = tripled[1:] if card in tripled[:1] else tripled
        chopsticks = " with chopsticks" if len(play) > 1 else ""
        yield f"{name}: {' and '.join(words)}{chopsticks}{f', {signed(gain, 0)}' if gain else ''}."


def _passed(film: Film, frame: Frame) -> str:
    if film.rules.players == 2:  # noqa: PLR2004 - two hands can only be swapped
        return "The two players swap hands."
    forward = film.rules.direction(frame.round) > 0
    return f"Every hand goes to the {'next seat' if forward else 'seat before'}."


def _winners(film: Film) -> str:
    winners = [name for name, place in zip(film.names, film.replay.places, strict=False) if place == 1]
    if len(winners) == 1:
        return f"{winners[0]} wins"
    return f"{', '.join(winners[:-1])} and {winners[-1]} share the first place"


def _list(names: Sequence[str], points: Sequence[int]) -> str:
    return ", ".join(f"{name} {fixed(score, 0)}" for name, score in zip(names, points, strict=True))
