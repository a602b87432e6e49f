"""Operators' actions on bots and the ladder."""

import unicodedata
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from arena.db.audit import NewAuditEntry
from arena.db.bots import KnownBot
from arena.db.errors import NoSuchBot, WrongState
from arena.db.ladder import Rebuilt
from arena.db.store import Store
from arena.ladder.settings import LadderChange
from arena.protocol.states import BotState


class OperationRefused(Exception):
    """The operation can't be performed; the message says why."""


REASON_LENGTH: Final = 200


class BotOperators:
    """Changes bots for operators; ``now`` returns the time in UTC.

    Each method that changes a bot may raise BotDisqualified, NoSuchBot, or WrongState if the bot's state
    doesn't allow the change, the bot is already in the new state, or it is a house bot. ``who`` identifies
    the operator in the audit log: an account's name, or ``terminal:`` followed by a system user's name.
    """

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    def every(self, *, state: BotState | None = None, author: str | None = None) -> Iterator[KnownBot]:
        """Yield bots sorted by name; ``state`` and ``author`` (case-insensitive) narrow the list."""
        after = None
        while page := self._store.bots.listed(after, state=state, author=author):
            yield from page
            after = page[-1].name

    def find(self, bot: str) -> KnownBot:
        """Return a bot. Raises NoSuchBot."""
        known = self._store.bots.find(bot)
        if known is None:
            raise NoSuchBot(f"there is no bot called {bot}")
        return known

    def bench(self, who: str, bot: str, reason: str) -> KnownBot:
        """Bench a bot until an operator or its author reactivates it, or a new version becomes active.

        The reason is public and replaces any earlier one. Raises OperationRefused if the reason is empty or
        too long.
        """
        reason = _reason(reason)
        entry = self._entry(who, "bench", bot, reason)
        self._store.bot_states.bench(bot, reason, entry.at, entry)
        return self.find(bot)

    def unbench(self, who: str, bot: str) -> KnownBot:
        """Reactivate a benched bot. Raises VersionGone."""
        entry = self._entry(who, "unbench", bot)
        self._store.bot_states.unbench(bot, entry.at, entry)
        return self.find(bot)

    def retire(self, who: str, bot: str) -> KnownBot:
        """Take a bot off the ladder until it is reactivated as in :meth:`bench`."""
        entry = self._entry(who, "retire", bot)
        if not self._store.bot_states.retire(bot, entry.at, entry):
            raise WrongState(f"{bot} is already retired")
        return self.find(bot)

    def play_version(self, who: str, bot: str, number: int) -> KnownBot:
        """Activate a version, and reactivate the bot if it was off the ladder.

        Raises NoSuchVersion or VersionGone.
        """
        entry = self._entry(who, "play-version", bot, f"version {number}")
        if not self._store.bot_states.play_version(bot, number, entry.at, entry):
            raise WrongState(f"{bot}@{number} is already active")
        return self.find(bot)

    def disqualify(self, who: str, bot: str, reason: str) -> Rebuilt:
        """Take a bot off the ladder until it is reinstated, and recompute all ratings without its games.

        This takes about two milliseconds per rated game. The reason is public. Raises OperationRefused if the
        reason is empty or too long.
        """
        reason = _reason(reason)
        entry = self._entry(who, "disqualify", bot, reason)
        return self._store.bot_states.disqualify(bot, reason, entry.at, entry)

    def reinstate(self, who: str, bot: str) -> Rebuilt:
        """Lift a disqualification and recompute all ratings. This takes as long as :meth:`disqualify`."""
        entry = self._entry(who, "reinstate", bot)
        return self._store.bot_states.reinstate(bot, entry.at, entry)

    def _entry(self, who: str, what: str, bot: str, detail: str = "") -> NewAuditEntry:
        return NewAuditEntry(at=self._now(), who=who, what=what, subject=f"bot:{bot}", detail=detail)


def _reason(text: str) -> str:
    """Return a reason on one line, without control characters."""
    cleaned = " ".join("".join(c if unicodedata.category(c)[0] != "C" else " " for c in text).split())
    if not cleaned:
        raise OperationRefused("no reason was given: give one (it will be public)")
    if len(cleaned) > REASON_LENGTH:
        raise OperationRefused(
            f"the reason has {len(cleaned)} characters (limit {REASON_LENGTH}): shorten it"
        )
    return cleaned


def change_ladder(store: Store, at: datetime, who: str, change: LadderChange) -> None:
    """Change the settings for future matches. ``who`` is as in :class:`BotOperators`.

    Raises OperationRefused if the ladder doesn't support these settings, or WrongState if it already has
    them.
    """
    entry = NewAuditEntry(at=at, who=who, what="ladder", detail=_description(change))
    try:
        changed = store.ladder.change(change, entry)
    except ValueError as error:
        raise OperationRefused(str(error)) from error
    if not changed:
        raise WrongState("the ladder already has these settings")


def _description(change: LadderChange) -> str:
    named = change.named()
    words = []
    if "paused" in named:
        words.append("paused" if named.pop("paused") else "resumed")
    if "players" in named:
        words.append(f"players {','.join(map(str, named.pop('players')))}")
    return "; ".join([*words, *(f"{name} {value}" for name, value in named.items())])
