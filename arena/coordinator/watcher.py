"""Who hears what becomes of matches."""

from typing import Protocol

from arena.store import Claim, FinishedMatch


class Watcher(Protocol):
    """Hears what becomes of matches, in the coordinator's thread."""

    def on_started(self, claim: Claim, worker: str) -> None:
        """Take note that a match has been given to a worker."""

    def on_finished(self, match: FinishedMatch) -> None:
        """Take note that a match has been played and stored."""

    def on_voided(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Take note that an attempt failed for a fault of the arena; the match waits again or is given up."""

    def on_lost(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Take note that whoever played an attempt was lost; the match waits again or is given up.

        It may have been another coordinator's.
        """

    def on_dropped(self, match: str, attempt: int) -> None:
        """Take note that an attempt was over before anything came of it: nothing is stored."""

    def on_leases_kept(self, renewed: int, expired: int) -> None:
        """Take note of a sign of life, in a thread of its own.

        Args:
            renewed: So many matches go on being this coordinator's.
            expired: So many, of any coordinator, were taken from whoever gave no sign of life.
        """


class Watchers:
    """Several that hear the same.

    Args:
        watchers: In the order in which they hear.
    """

    def __init__(self, *watchers: Watcher) -> None:
        self._watchers = watchers

    def on_started(self, claim: Claim, worker: str) -> None:
        """Tell all of them."""
        for watcher in self._watchers:
            watcher.on_started(claim, worker)

    def on_finished(self, match: FinishedMatch) -> None:
        """Tell all of them."""
        for watcher in self._watchers:
            watcher.on_finished(match)

    def on_voided(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Tell all of them."""
        for watcher in self._watchers:
            watcher.on_voided(match, attempt, reason, quarantined=quarantined)

    def on_lost(self, match: str, attempt: int, reason: str, *, quarantined: bool) -> None:
        """Tell all of them."""
        for watcher in self._watchers:
            watcher.on_lost(match, attempt, reason, quarantined=quarantined)

    def on_dropped(self, match: str, attempt: int) -> None:
        """Tell all of them."""
        for watcher in self._watchers:
            watcher.on_dropped(match, attempt)

    def on_leases_kept(self, renewed: int, expired: int) -> None:
        """Tell all of them."""
        for watcher in self._watchers:
            watcher.on_leases_kept(renewed, expired)
