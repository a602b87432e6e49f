"""What the ladder plays, shown to operators and changed by them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from arena.match import Clock, Limits
from arena.operators.errors import OperationRefused
from arena.store import LadderChange, LadderSettings, NewAuditEntry, Store, WrongState


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderStatus:
    """What the ladder plays, and how far it is.

    Attributes:
        settings: What operators change.
        clock: How long a bot may take.
        limits: What a bot may use on this host.
        games: That were rated.
        waiting: Matches that wait.
        running: Matches that are played now.
        quarantined: Matches that were put aside.
    """

    settings: LadderSettings
    clock: Clock
    limits: Limits
    games: int
    waiting: int
    running: int
    quarantined: int


class LadderOperators:
    """Acts for operators.

    Args:
        store: Where the ladder is.
        now: UTC.
        limits: What a bot may use.
    """

    def __init__(self, store: Store, now: Callable[[], datetime], limits: Limits) -> None:
        self._store = store
        self._now = now
        self._limits = limits

    def status(self) -> LadderStatus:
        """Return what the ladder plays, and how far it is."""
        totals = self._store.reads.totals()
        return LadderStatus(
            settings=self._store.reads.ladder(),
            clock=_CLOCK,
            limits=self._limits,
            games=totals.games,
            waiting=totals.matches_waiting,
            running=totals.matches_running,
            quarantined=self._store.reads.quarantined(),
        )

    def change(self, who: str, wanted: LadderChange) -> LadderStatus:
        """Change what the ladder plays from the next set on. What was drawn is played as it was drawn.

        Args:
            who: As in the audit log.
            wanted: What is to be different.

        Raises:
            OperationRefused: The ladder can't play that.
            WrongState: It plays that already.
        """
        entry = NewAuditEntry(at=self._now(), who=who, what="ladder", detail=_words(wanted))
        try:
            changed = self._store.writes.change_ladder(wanted, entry)
        except ValueError as error:
            raise OperationRefused(str(error)) from error
        if not changed:
            raise WrongState("the ladder plays that already: nothing of it differs")
        return self.status()


_CLOCK: Final = Clock()
"""Every ladder's; there is no setting for it."""


def _words(wanted: LadderChange) -> str:
    words = []
    if wanted.paused is not None:
        words.append("paused" if wanted.paused else "resumed")
    if wanted.players is not None:
        words.append(f"players {','.join(map(str, wanted.players))}")
    if wanted.deals is not None:
        words.append(f"deals {wanted.deals}")
    return "; ".join(words)
