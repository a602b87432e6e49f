"""Matches that were put aside because the arena failed them too often."""

from collections.abc import Callable
from datetime import datetime

from arena.store import NewAuditEntry, QuarantinedMatch, Store


class QuarantineOperators:
    """Acts for operators.

    Args:
        store: Where the matches are.
        now: UTC.
    """

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    def every(self) -> tuple[QuarantinedMatch, ...]:
        """Return all of them, the last one first."""
        return self._store.reads.quarantine()

    def release(self, who: str, match: str) -> None:
        """Let a match wait again, as if it had never failed.

        Args:
            who: As in the audit log.
            match: Its id.

        Raises:
            BotDisqualified: A bot that sits in it plays no more.
            NoSuchMatch: There is none of that id.
            VersionGone: The image of a bot that sits in it was removed.
            WrongState: It was not put aside, or its submission plays another one instead.
        """
        entry = NewAuditEntry(at=self._now(), who=who, what="release", subject=f"match:{match}")
        self._store.writes.release(match, entry)
