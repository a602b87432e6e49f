"""What the arena does for whoever runs it, whether asked by a command or by the site."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from arena.admission import Gate
from arena.match import Clock, Limits, RuntimeName
from arena.matchmaking import (
    TooFewBots,
    deals,
    draw_set,
    next_players,
    round_of_sets,
    seatings,
)
from arena.rules import Rules
from arena.store import NewQualification, NewSet, NewVersion, Store
from arena.submitting.qualification import table

HOUSE: Final = "house"
"""The author of the arena's own bots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """Where ids, seeds, dice and the time come from.

    Attributes:
        now: UTC.
        new_id: A short id that was never used.
        new_seed: 16 bytes that nobody can guess.
        dice: For match-making.
    """

    now: Callable[[], datetime]
    new_id: Callable[[], str]
    new_seed: Callable[[], bytes]
    dice: random.Random


class Ladder:
    """One ladder: who is on it and what is played next. The basic game, 2 to 5 players.

    Args:
        store: Where it is kept.
        runtime: How its bots are run.
        chances: Ids, seeds, dice and the time.
        gate: Whether strangers' bots play.
        limits: What a bot may use.
    """

    def __init__(
        self, store: Store, runtime: RuntimeName, chances: Chances, gate: Gate, limits: Limits
    ) -> None:
        self._store = store
        self.runtime = runtime
        self._chances = chances
        self.gate = gate
        self.clock = Clock()
        self.limits = limits

    def enter_house_bots(self, sources: Iterable[tuple[str, str]]) -> None:
        """Enter the arena's own bots, as (name, source). A new source makes a new version."""
        for name, source in sources:
            self._store.writes.add_version(
                NewVersion(bot=name, author=HOUSE, house=True, source=source, created=self._chances.now())
            )

    def waiting(self) -> int:
        """Return how many matches wait that may be played here."""
        return self._store.reads.waiting(self.runtime, house_only=self.gate.house_only)

    def ensure_round(self) -> None:
        """Add sets of one deal in which every bot plays at every number of players, unless such sets wait.

        Raises:
            TooFewBots: A table can't be filled.
        """
        settings = self._store.reads.ladder()
        candidates = self._store.reads.candidates(house_only=self.gate.house_only)
        if settings.paused or all(
            candidate.queued[players] for candidate in candidates for players in settings.players
        ):
            return
        for order in round_of_sets(candidates, settings.players, self._chances.dice):
            # One deal: a round is there to show everybody soon, not to settle anything.
            self._add_set(order, 1, soon=True)

    def add_set(self) -> bool:
        """Add the set that is due next; return False where the ladder is paused.

        Raises:
            TooFewBots: No table can be filled.
        """
        settings = self._store.reads.ladder()
        if settings.paused:
            return False
        candidates = self._store.reads.candidates(house_only=self.gate.house_only)
        players = next_players(candidates, settings.players)
        order = draw_set(candidates, players, self._chances.dice)
        count = deals(candidates, order, settings.deals)
        self._add_set(order, count, soon=count < settings.deals)
        return True

    def qualify(self, submission: str, played: int) -> None:
        """Let a submission play its next game against the house, after so many; it is not rated.

        Raises:
            TooFewBots: There is no bot of the house.
        """
        house = [candidate.version for candidate in self._store.reads.candidates(house_only=True)]
        if not house:
            raise TooFewBots("there is no bot of the house to play a qualification game against")
        players, seat = table(played, len(house))
        others = self._chances.dice.sample(house, players - 1)
        game = NewQualification(
            id=self._chances.new_id(),
            submission=submission,
            seed=self._chances.new_seed().hex(),
            seats=(*others[:seat], None, *others[seat:]),
            clock=self.clock,
            limits=self.limits,
            runtime=self.runtime,
            created=self._chances.now(),
        )
        self._store.desk.add_game(game, played=played)

    def _add_set(self, order: tuple[int, ...], count: int, *, soon: bool) -> None:
        new = NewSet(
            id=self._chances.new_id(),
            rules=Rules(players=len(order)),
            seeds=tuple(self._chances.new_seed().hex() for _ in range(count)),
            seatings=seatings(order),
            clock=self.clock,
            limits=self.limits,
            runtime=self.runtime,
            created=self._chances.now(),
            soon=soon,
        )
        self._store.writes.add_set(new)
