"""Who hears what becomes of matches."""

from typing import Protocol

from arena.store import Claim, FinishedMatch


class Watcher(Protocol):
    """Hears what becomes of matches, in the coordinator's thread."""

    def on_started(self, claim: Claim, worker: str) -> None:
        """Take note that a match has been given to a worker."""

    def on_finished(self, match: FinishedMatch) -> None:
        """Take note that a match has been played and stored."""

    def on_voided(self, match: str, reason: str, *, quarantined: bool) -> None:
        """Take note that a match has failed for a fault of the arena, and waits again or is given up."""

    def on_lost(self, match: str, reason: str, *, quarantined: bool) -> None:
        """Take note that whoever played a match was lost, and it waits again or is given up."""

    def on_dropped(self, match: str, attempt: int) -> None:
        """Take note that a result came too late: nothing of it was stored."""
