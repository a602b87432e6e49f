"""Random games, and skills and results for tests of ratings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

from hypothesis import strategies as st

from arena.ladder.calibration import PredictedGame
from arena.ladder.card_counts import Tally, count_game
from arena.ladder.rating import Rating
from arena.ladder.rating_events import Entry, Event, Key, apply
from arena.protocol.faults import places_with_faults, taken_over
from arena.protocol.match import GameRecord, played_again
from arena.rules import Rules, State
from tests.builders import play
from tests.rules.helpers import VARIANTS, seeds

START = datetime(2026, 1, 1, tzinfo=UTC)

RATED_GAMES: st.SearchStrategy[tuple[list[Rating], list[int]]] = st.integers(2, 5).flatmap(
    lambda players: st.tuples(
        st.lists(
            st.builds(Rating, st.floats(-1000, 1000), st.floats(0.01, 100)),
            min_size=players,
            max_size=players,
        ),
        st.lists(st.integers(1, players), min_size=players, max_size=players),
    )
)
"""Ratings before a game, however far apart, and any places."""


def places_of(results: Sequence[float]) -> tuple[int, ...]:
    """Return the places of these results, the highest of which is first."""
    return tuple(1 + sum(other > own for other in results) for own in results)


def unchanged(versions: Sequence[int], ratings: Sequence[Rating], places: Sequence[int]) -> PredictedGame:
    """Return a game that changed no ratings."""
    known = tuple(ratings)
    return PredictedGame(
        versions=tuple(versions), ratings=known, rated=known, places=tuple(places), ended=START
    )


@dataclass(frozen=True, repr=False)
class Played:
    """A game that was played at random."""

    states: tuple[State, ...]  # from the deal to the end
    record: GameRecord
    places: tuple[int, ...]  # by which the game is rated
    taken_over: tuple[bool, ...]  # by seat: whether the stand-in took it over

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
    """Play a random game that is determined by the seed. ``faults`` is the share of faulty decisions."""
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


def rebuild(events: Iterable[Event]) -> dict[Key, Entry]:
    """Return the entries after all events of a log."""
    entries: dict[Key, Entry] = {}
    for event in events:
        entries |= apply(entries, event)
    return entries
