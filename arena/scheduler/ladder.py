"""Enters house bots, and queues the ladder's matches and qualification games."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import structlog

from arena.db.bots import NewVersion
from arena.db.errors import BotTaken
from arena.db.matches import NewMatch
from arena.db.store import Store
from arena.ladder.matchmaking import (
    TooFewBots,
    deal_count,
    draw_seatings,
    draw_table,
    has_newcomer,
    possible_players,
    round_of_tables,
)
from arena.ladder.qualification import table
from arena.ladder.settings import LadderSettings
from arena.platform.names import HOUSE
from arena.protocol.match import Limits, RuntimeName
from arena.protocol.sandbox_controls import Gate
from arena.rules import Rules

_log = structlog.get_logger()

_BATCH: Final = 4
"""Number of matches to draw when the queue is empty, so that several tables can start together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entropy:
    """Sources of UTC time, short unique ids, unpredictable 16-byte seeds, and randomness for matchmaking."""

    now: Callable[[], datetime]
    new_id: Callable[[], str]
    new_seed: Callable[[], bytes]
    dice: random.Random


class Ladder:
    """Queues matches of the basic game. ``has`` returns True if a house bot's source still exists."""

    def __init__(  # noqa: PLR0913 - everything that a match needs
        self,
        store: Store,
        runtime: RuntimeName,
        entropy: Entropy,
        gate: Gate,
        limits: Limits,
        *,
        has: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._store = store
        self.runtime = runtime
        self.entropy = entropy
        self.gate = gate
        self.limits = limits
        self._has_source = has
        self._missing_bots: frozenset[str] = frozenset()
        self._too_few_bots = False

    def enter_house_bots(self, sources: Iterable[tuple[str, str]]) -> None:
        """Enter house bots, given as (name, source). A changed source becomes a new version.

        Leaves out house bots whose names are taken by authors' bots. Also suspends known house bots whose
        source is missing.
        """
        for name, source in sources:
            new = NewVersion(bot=name, author=HOUSE, house=True, source=source, created=self.entropy.now())
            try:
                self._store.bots.add_version(new)
            except BotTaken as error:
                _log.warning("house bot left out", bot=name, reason=str(error))
        self.update_house_bots()

    def cancel_unplayable(self, is_missing: Callable[[str], bool]) -> None:
        """Cancel matches with old versions of house bots whose sources no longer exist.

        After a restore on another host, house bots have new images. The ladder and open qualifications queue
        replacements.
        """
        lost: list[int] = []
        for each in self._store.bots.superseded_house_versions():
            if is_missing(each.source):
                _log.warning("unplayable matches cancelled", bot=each.bot, source=each.source)
                lost.append(each.id)
        self._store.bots.record_house_versions(gone=lost, back=[], at=self.entropy.now())

    def update_house_bots(self) -> None:
        """Suspend house bots whose source is missing, and their waiting matches, until the source is back."""
        known = self._store.bots.house_versions()
        missing = {each.id: each for each in known if not self._has_source(each.source)}
        self._store.bots.record_house_versions(
            gone=[each.id for each in known if each.available and each.id in missing],
            back=[each.id for each in known if not each.available and each.id not in missing],
            at=self.entropy.now(),
        )
        names = frozenset(each.bot for each in missing.values())
        for each in missing.values():
            if each.bot not in self._missing_bots:
                _log.warning("house bot suspended", bot=each.bot, source=each.source)
        for bot in sorted(self._missing_bots - names):
            _log.info("house bot available", bot=bot)
        self._missing_bots = names

    def waiting(self) -> int:
        """Return the number of waiting matches that may be played here."""
        return self._store.queue.waiting(self.runtime, house_only=self.gate.house_only)

    def ensure_round(self) -> None:
        """Queue a round of one-deal matches in which every bot plays at tables of every possible size.

        Does nothing if the ladder is paused or every bot already has such matches queued. Raises TooFewBots.
        """
        settings = self._store.ladder.settings()
        if settings.paused:
            return
        candidates = self._store.ratings.candidates(house_only=self.gate.house_only)
        counts = possible_players(candidates, settings.players)
        if all(candidate.queued[players] for candidate in candidates for players in counts):
            return
        for bots in round_of_tables(candidates, counts, self.entropy.dice):
            # One deal each, so that every bot is on the leaderboard soon.
            self._add(settings, bots, 1, soon=True)

    def refill(self) -> bool:
        """Queue several matches; return False if the ladder is paused or no table can be filled."""
        try:
            added = all(self.add_match() for _ in range(_BATCH))
        except TooFewBots as error:
            if not self._too_few_bots:
                _log.warning("too few bots", reason=str(error))
            self._too_few_bots = True
            return False
        self._too_few_bots = False
        return added

    def add_match(self) -> bool:
        """Queue the next match; return False if the ladder is paused. Raises TooFewBots."""
        settings = self._store.ladder.settings()
        if settings.paused:
            return False
        candidates = self._store.ratings.candidates(
            house_only=self.gate.house_only, rested_at=self.entropy.now()
        )
        bots = draw_table(candidates, settings.players, self.entropy.dice)
        if has_newcomer(candidates, bots):
            self._add(settings, bots, 1, soon=True)  # one deal, so that the newcomer is ranked soon
        else:
            micros = self._store.ratings.decision_micros(bots, settings.clock)
            self._add(settings, bots, deal_count(bots, settings.deals, micros), soon=False)
        return True

    def qualify(self, submission: str, played: int, counted: int) -> None:
        """Queue a submission's next game against house bots.

        ``played`` is the number of its games so far, and ``counted`` the number of those that count. Raises
        TooFewBots if there are no house bots.
        """
        house = [candidate.version for candidate in self._store.ratings.candidates(house_only=True)]
        if not house:
            raise TooFewBots("no house bots are available for a qualification game")
        players, seat = table(counted, len(house))
        settings = self._store.ladder.settings()
        others = self.entropy.dice.sample(house, players - 1)
        bots = (*others[:seat], None, *others[seat:])
        game = self._match(settings, bots, 1, submission=submission)
        self._store.submissions.add_game(game, played=played)

    def _add(self, settings: LadderSettings, bots: tuple[int, ...], count: int, *, soon: bool) -> None:
        match = self._match(settings, bots, count)
        seatings = draw_seatings(len(bots), count, self.entropy.dice)
        self._store.queue.add(replace(match, seatings=seatings, soon=soon))

    def _match(
        self,
        settings: LadderSettings,
        bots: tuple[int | None, ...],
        count: int,
        *,
        submission: str | None = None,
    ) -> NewMatch:
        return NewMatch(
            id=self.entropy.new_id(),
            rules=Rules(players=len(bots)),
            bots=bots,
            submission=submission,
            seeds=tuple(self.entropy.new_seed().hex() for _ in range(count)),
            clock=settings.clock,
            limits=settings.limits.lowered(self.limits),
            runtime=self.runtime,
            created=self.entropy.now(),
        )
