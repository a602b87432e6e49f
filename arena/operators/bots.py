"""What operators do with bots."""

import unicodedata
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from arena.operators.errors import OperationRefused
from arena.store import BotState, KnownBot, NewAuditEntry, NoSuchBot, Rebuilt, Store, WrongState

REASON_LENGTH: Final = 200
_PAGE: Final = 100


class BotOperators:
    """Acts for operators.

    Each method that changes something raises BotDisqualified, NoSuchBot, or WrongState where the bot is in a
    state that doesn't allow it, is in that state already, or is the house's. ``who`` is as in the audit log:
    an account's name, or ``terminal:`` and a user of the machine.

    Args:
        store: Where bots are.
        now: UTC.
    """

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    def every(self, *, state: BotState | None = None, author: str | None = None) -> Iterator[KnownBot]:
        """Yield bots by name: all, or those in a state, or of an author, in any case."""
        after = None
        while page := self._store.bots.listed(after, _PAGE, state=state, author=author):
            yield from page
            after = page[-1].name

    def find(self, bot: str) -> KnownBot:
        """Return a bot.

        Raises:
            NoSuchBot: There is none of that name.
        """
        known = self._store.bots.find(bot)
        if known is None:
            raise NoSuchBot(f"there is no bot called {bot}")
        return known

    def bench(self, who: str, bot: str, reason: str) -> KnownBot:
        """Let a bot sit out until its author, a new version or an operator brings it back.

        Args:
            who: Acts.
            bot: Its name.
            reason: For everybody to read; it takes the place of an earlier one.

        Raises:
            OperationRefused: The reason says nothing, or too much.
        """
        reason = _reason(reason)
        now = self._now()
        self._store.bots.bench(bot, reason, now, _entry(now, who, "bench", bot, reason))
        return self.find(bot)

    def unbench(self, who: str, bot: str) -> KnownBot:
        """Let a bot that was benched play again.

        Raises:
            VersionGone: Its image was removed.
        """
        now = self._now()
        self._store.bots.unbench(bot, now, _entry(now, who, "unbench", bot))
        return self.find(bot)

    def retire(self, who: str, bot: str) -> KnownBot:
        """Take a bot off the ladder until its author or a new version brings it back."""
        now = self._now()
        if not self._store.bots.retire(bot, now, _entry(now, who, "retire", bot)):
            raise WrongState(f"{bot} is retired already")
        return self.find(bot)

    def play_version(self, who: str, bot: str, number: int) -> KnownBot:
        """Let a version of a bot play from now on, which brings the bot back if it was off the ladder.

        Raises:
            NoSuchVersion: It has none of that number.
            VersionGone: That version's image was removed.
        """
        now = self._now()
        entry = _entry(now, who, "play-version", bot, f"version {number}")
        if not self._store.bots.play_version(bot, number, now, entry):
            raise WrongState(f"{bot}@{number} plays already")
        return self.find(bot)

    def disqualify(self, who: str, bot: str, reason: str) -> Rebuilt:
        """Take a bot off the ladder for good, and rate everybody anew as if it had never played.

        That takes about a millisecond a game that was ever rated.

        Args:
            who: Acts.
            bot: Its name.
            reason: For everybody to read.

        Raises:
            OperationRefused: The reason says nothing, or too much.
        """
        reason = _reason(reason)
        now = self._now()
        return self._store.bots.disqualify(bot, reason, now, _entry(now, who, "disqualify", bot, reason))

    def reinstate(self, who: str, bot: str) -> Rebuilt:
        """Take a disqualification back, and rate everybody anew with the bot's games; this takes as long."""
        now = self._now()
        return self._store.bots.reinstate(bot, now, _entry(now, who, "reinstate", bot))


def _entry(at: datetime, who: str, what: str, bot: str, detail: str = "") -> NewAuditEntry:
    return NewAuditEntry(at=at, who=who, what=what, subject=f"bot:{bot}", detail=detail)


def _reason(text: str) -> str:
    """Return a reason without what could disturb the text beside it."""
    seen = " ".join("".join(c if unicodedata.category(c)[0] != "C" else " " for c in text).split())
    if not seen:
        raise OperationRefused("give a reason, which the bot's author and everybody else can read")
    if len(seen) > REASON_LENGTH:
        raise OperationRefused(f"the reason has {len(seen)} characters, and {REASON_LENGTH} is the most")
    return seen
