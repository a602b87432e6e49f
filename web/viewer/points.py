"""Points as they stand in a frame."""

from dataclasses import dataclass

from web.viewer.address import Frame, Stage
from web.viewer.film import Film
from web.viewer.stacks import earned


@dataclass(frozen=True, slots=True)
class Standing:
    """The points of a frame, one entry a participant.

    Attributes:
        scores: Of finished rounds, and of this one what is sure; maki, soy sauce and puddings count when they
            are scored.
        gains: What this frame added.
        players: How many of the participants are players.
    """

    scores: tuple[int, ...]
    gains: tuple[int, ...]
    players: int

    @property
    def leaders(self) -> frozenset[int]:
        """The players with the most points; nobody where all have the same."""
        scores = self.scores[: self.players]
        if min(scores) == max(scores):
            return frozenset()
        return frozenset(seat for seat, score in enumerate(scores) if score == max(scores))


def standing(film: Film, frame: Frame) -> Standing:
    """Return the points as they stand in a frame."""
    moment, rules = film.step(frame).moment, film.rules
    sure = [
        [score + earned(rules, table) for score, table in zip(moment.state.scores, tables, strict=True)]
        for tables in (moment.state.tables, moment.tables)
    ]
    scored = [
        before + points
        for before, points in zip(
            moment.state.scores, film.replay.rounds[frame.round - 1].scores, strict=True
        )
    ]
    before, now = {
        Stage.PICK: (sure[0], sure[0]),
        Stage.REVEAL: (sure[0], sure[1]),
        Stage.PASS: (sure[1], sure[1]),
        Stage.SCORE: (sure[1], scored),
        Stage.END: (scored, film.replay.totals),
    }[frame.stage]
    gains = tuple(after - earlier for earlier, after in zip(before, now, strict=True))
    return Standing(tuple(now), gains, rules.players)
