"""Frames in words, shown below the table and announced by screen readers."""

from collections.abc import Iterator, Sequence
from typing import Final

from arena.play.replay.document import is_automatic
from web.http.rendering import card_name, fixed, signed
from web.viewer.film import Film, FilmStage, Frame, Viewpoint
from web.viewer.stacks import stacks, standing

STAGES: Final = {
    FilmStage.PICK: "Choice",
    FilmStage.REVEAL: "Reveal",
    FilmStage.PASS: "Pass",
    FilmStage.SCORE: "Points",
    FilmStage.END: "End",
}


def where(frame: Frame) -> str:
    """Return a frame's round, turn and stage in words."""
    return f"Round {frame.round}, turn {frame.turn}, {STAGES[frame.stage].lower()}"


def describe_frame(film: Film, frame: Frame, viewpoint: Viewpoint) -> str:
    """Describe a frame. Only faults that this viewpoint may show are mentioned."""
    if frame.stage is FilmStage.PICK:
        return " ".join(_describe_choices(film, frame, viewpoint))
    if frame.stage is FilmStage.REVEAL:
        return " ".join(_describe_reveal(film, frame))
    if frame.stage is FilmStage.PASS:
        return _describe_pass(film, frame)
    if frame.stage is FilmStage.SCORE:
        scores = film.replay.rounds[frame.round - 1].scores
        return f"Points for this round: {points_of(film.names, scores)}."
    won = film.replay.totals[film.replay.places.index(1)]
    return " ".join([f"{_winners(film)} with {number(won, 'point')}.", *_ties(film)])


def of_unseen(count: int, hidden: int) -> str:
    """Describe how the cards in unknown places relate to the face-down cards.

    ``count`` cards are in unknown places, ``hidden`` of them face down in hands and in the dummy's pile.
    """
    if not hidden:
        return f"Every hand is known. These {count} cards were not dealt."
    return f"Face-down cards: {hidden} of these {count}; the rest were not dealt."


def _describe_choices(film: Film, frame: Frame, viewpoint: Viewpoint) -> Iterator[str]:
    automatic = is_automatic(film.rules, frame.turn)
    yield "The last cards are played automatically." if automatic else "Everyone has chosen."
    step = film.step(frame)
    for seat, (fault, gone) in enumerate(zip(step.noted.fault, step.gone, strict=True)):
        if fault and viewpoint.seat in (None, seat):
            what = "the stand-in takes over" if gone else "the stand-in chooses"
            yield f"{film.names[seat]}: {fault}; {what}."


def _describe_reveal(film: Film, frame: Frame) -> Iterator[str]:
    moment, gains = film.step(frame).moment, standing(film, frame).gains
    for name, play, table, gain in zip(film.names, moment.plays, moment.tables, gains, strict=True):
        tripled = [card for stack in stacks(film.rules, table, new=len(play)) for card in stack.tripled]
        words = []
        for card in play:
            words.append(card_name(card) + (" on wasabi" if card in tripled else ""))
            tripled = tripled[1:] if card in tripled[:1] else tripled
        chopsticks = " with chopsticks" if len(play) > 1 else ""
        yield f"{name}: {' and '.join(words)}{chopsticks}{f', {signed(gain, 0)}' if gain else ''}."


def _describe_pass(film: Film, frame: Frame) -> str:
    if film.rules.players == 2:  # noqa: PLR2004 - two hands can only be swapped
        return "The two players swap hands."
    forward = film.rules.direction(frame.round) > 0
    return f"Every hand goes to the {'next' if forward else 'previous'} seat."


def _winners(film: Film) -> str:
    winners = [seat for seat, place in enumerate(film.replay.places) if place == 1]
    if len(winners) == 1:
        return who_does(film, winners[0], "win")
    names = [film.names[seat] for seat in winners]
    return f"{', '.join(names[:-1])} and {names[-1]} share first place"


def _ties(film: Film) -> Iterator[str]:
    """Describe how ties in points were broken.

    Seats that were taken over come last, whatever their points and puddings.
    """
    places, totals, puddings = film.replay.places, film.replay.totals, film.replay.puddings.counts
    seats = sorted(range(film.rules.players), key=lambda seat: (places[seat], seat))
    for total in dict.fromkeys(totals[seat] for seat in seats):
        tied = [seat for seat in seats if totals[seat] == total]
        names = [film.names[seat] for seat in tied]
        who = f"{', '.join(names[:-1])} and {names[-1]}"
        found = {(puddings[seat], places[seat]) for seat in tied}
        if len(tied) > 1 and len(found) == 1:
            held = number(puddings[tied[0]], "pudding")
            yield f"{who} have {number(total, 'point')} and {held} each, and share place {places[tied[0]]}."
        elif len(tied) > 1 and sorted(found, reverse=True) == sorted(found, key=lambda each: each[1]):
            counts = points_of(names, [puddings[seat] for seat in tied])
            yield f"{who} have {number(total, 'point')} each; puddings break the tie: {counts}."


def who_does(film: Film, seat: int, verb: str) -> str:
    """Return a player's name and a regular verb: ``greedy wins``, but ``you win`` for a person."""
    is_person = film.replay.seats[seat].version == 0
    return f"{film.names[seat]} {verb if is_person else verb + 's'}"


def number(count: int, what: str) -> str:
    """Format a count with its noun: ``1 point``, ``2 points``."""
    return f"{fixed(count, 0)} {what if abs(count) == 1 else what + 's'}"


def points_of(names: Sequence[str], points: Sequence[int]) -> str:
    """List points by name."""
    return ", ".join(f"{name} {fixed(score, 0)}" for name, score in zip(names, points, strict=True))
