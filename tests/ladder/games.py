"""Random games for tests of statistics."""

from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from arena.ladder.card_counts import Tally, count_game
from arena.protocol.faults import places_with_faults, taken_over
from arena.protocol.match import GameRecord, played_again
from arena.rules import Rules, State
from tests.builders import play
from tests.rules.helpers import VARIANTS, seeds


@dataclass(frozen=True, repr=False)
class Played:
    """A game that was played at random.

    Attributes:
        states: All states, from the deal to the end.
        record: The decisions.
        places: The places by which the game is rated.
        taken_over: Whether the stand-in played each seat to the end.
    """

    states: tuple[State, ...]
    record: GameRecord
    places: tuple[int, ...]
    taken_over: tuple[bool, ...]

    def __repr__(self) -> str:
        return f"<{self.rules}, seed {self.record.seed}, taken over {self.taken_over}>"

    @property
    def rules(self) -> Rules:
        """Return the game's rules."""
        return self.states[0].rules

    def tally(self) -> Tally:
        """Count the game's cards."""
        return count_game(self.states, self.record.steps, self.places, self.taken_over)


def played(rules: Rules, seed: bytes, *, faults: float = 0) -> Played:
    """Play a game in which everything random follows from the seed.

    ``faults`` is the share of faulty decisions.
    """
    end, record = play(rules, seed.hex(), Random(seed), faults=faults)  # noqa: S311 - a test's dice
    assert end.result is not None
    rows = [[decision.fault if decision else None for decision in step] for step in record.steps]
    moments = taken_over(rows, rules.players)
    return Played(
        states=played_again(rules, record).states,
        record=record,
        places=places_with_faults(end.result.places, moments),
        taken_over=tuple(moment is not None for moment in moments),
    )


def games(*, dummy: bool = False) -> st.SearchStrategy[Played]:
    """Draw a game, sometimes with faults, and always with a dummy if ``dummy`` is true."""
    rules = st.sampled_from([each for each in VARIANTS if each.dummy == dummy])
    return st.builds(played, rules, seeds, faults=st.sampled_from([0, 0.02, 0.1]))
