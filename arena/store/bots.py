"""Bots and challenges as the rest of the program sees them: one transaction a call.

Every method may raise DatabaseUnavailable; what was to be written then is all there or not at all.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from functools import cache

from sqlalchemy import Connection

from arena.rating import Rate, update
from arena.store import audit, bot_states, card_counts, challenge_rows, disqualification, known_bots, versions
from arena.store.bot_models import BotState
from arena.store.challenge_rows import KnownChallenge, NewChallenge
from arena.store.database import Database
from arena.store.known_bots import KnownBot, KnownVersion
from arena.store.persons import NewAuditEntry
from arena.store.rebuild import Rebuilt


class Bots:
    """Which bots there are, which version of each plays, and who is off the ladder."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, name: str) -> KnownBot | None:
        """Return the bot of this name, or None where there is none."""
        with self._database.read() as connection:
            return known_bots.find(connection, name)

    def of_account(self, account: int) -> tuple[KnownBot, ...]:
        """Return the bots of an account, by name."""
        with self._database.read() as connection:
            return known_bots.of_account(connection, account)

    def listed(
        self,
        after: str | None = None,
        limit: int = 100,
        *,
        state: BotState | None = None,
        author: str | None = None,
    ) -> tuple[KnownBot, ...]:
        """Return bots by name, those that come after ``after``, at most so many.

        With ``state`` only those in it, with ``author`` only those of this author, in any case.
        """
        with self._database.read() as connection:
            return known_bots.listed(connection, after, limit, state=state, author=author)

    def versions(self, name: str, before: int | None = None, limit: int = 50) -> tuple[KnownVersion, ...]:
        """Return versions of a bot, newest first, with a smaller number than ``before``; none of no bot."""
        with self._database.read() as connection:
            return known_bots.versions(connection, name, before, limit)

    def version_id(self, name: str, number: int) -> int | None:
        """Return the id of a version of a bot that can be played, or None where there is none."""
        with self._database.read() as connection:
            return versions.playable(connection, name, number)

    def play_version(self, name: str, number: int, at: datetime, entry: NewAuditEntry | None = None) -> bool:
        """Let a version of a bot play from now on, which brings the bot back if it was off the ladder.

        Returns:
            False where it plays already: nothing changed, and nothing is written to the audit log.

        Raises:
            BotDisqualified: The bot may play no more.
            NoSuchBot: There is none of that name.
            NoSuchVersion: It has none of that number.
            VersionGone: Its image was removed.
            WrongState: It is a bot of the house.
        """
        with self._database.write() as connection:
            changed = bot_states.play_version(connection, name, number, at)
            audit.record(connection, entry if changed else None)
            return changed

    def come_back(self, name: str, at: datetime) -> bool:
        """Let a bot that was benched or retired play again; False where it plays already.

        Raises:
            BotDisqualified: It may play no more.
            NoSuchBot: There is none of that name.
            VersionGone: Its image was removed.
            WrongState: It is a bot of the house.
        """
        with self._database.write() as connection:
            return bot_states.come_back(connection, name, at)

    def retire(self, name: str, at: datetime, entry: NewAuditEntry | None = None) -> bool:
        """Take a bot off the ladder.

        Returns:
            False where it is retired already: nothing changed, and nothing is written to the audit log.

        Raises:
            BotDisqualified: An operator has done that already.
            NoSuchBot: There is none of that name.
            WrongState: It is a bot of the house.
        """
        with self._database.write() as connection:
            changed = bot_states.retire(connection, name, at)
            audit.record(connection, entry if changed else None)
            return changed

    def bench(self, name: str, why: str, at: datetime, entry: NewAuditEntry) -> None:
        """Let a bot sit out, for a reason that everybody may read.

        Raises:
            BotDisqualified: It plays no more at all.
            NoSuchBot: There is none of that name.
            WrongState: It is retired, or a bot of the house.
        """
        with self._database.write() as connection:
            bot_states.bench(connection, name, why, at)
            audit.record(connection, entry)

    def unbench(self, name: str, at: datetime, entry: NewAuditEntry) -> None:
        """Let a bot that was benched play again.

        Raises:
            BotDisqualified: It plays no more at all.
            NoSuchBot: There is none of that name.
            VersionGone: Its image was removed.
            WrongState: It is not benched, or a bot of the house.
        """
        with self._database.write() as connection:
            bot_states.unbench(connection, name, at)
            audit.record(connection, entry)

    def disqualify(self, name: str, why: str, at: datetime, entry: NewAuditEntry) -> Rebuilt:
        """Take a bot off the ladder for good; ratings and statistics are as if it had never played.

        That takes about two milliseconds a game that was ever rated; others wait for the last part of it
        alone.

        Raises:
            NoSuchBot: There is none of that name.
            WrongState: It is disqualified already, or a bot of the house.
        """

        def change(connection: Connection, rate: Rate) -> Rebuilt:
            return disqualification.disqualify(connection, name, why, at, rate)

        return self._rate_anew(name, change, entry, counts=False)

    def reinstate(self, name: str, at: datetime, entry: NewAuditEntry) -> Rebuilt:
        """Take a disqualification back, so that its games count again; this takes as long.

        Raises:
            NoSuchBot: There is none of that name.
            WrongState: It was not disqualified.
        """

        def change(connection: Connection, rate: Rate) -> Rebuilt:
            return disqualification.reinstate(connection, name, at, rate)

        return self._rate_anew(name, change, entry, counts=True)

    def note_gone(self, kept: Collection[str], at: datetime) -> int:
        """Note which versions of strangers have no image any more, and which have theirs again.

        ``kept`` are the sources that have one. Returns how many have lost it.
        """
        with self._database.write() as connection:
            return bot_states.note_gone(connection, kept, at)

    def _rate_anew(
        self, name: str, change: Callable[[Connection, Rate], Rebuilt], entry: NewAuditEntry, *, counts: bool
    ) -> Rebuilt:
        """Work out everything as it will be when a bot's games count or don't; then change it so at once."""
        rate = cache(update)
        with self._database.read() as connection:
            barred = disqualification.rehearse(connection, name, rate, counts=counts)
            counted = card_counts.fold(connection, barred)
        with self._database.write() as connection:
            rebuilt = change(connection, rate)
            card_counts.rebuild(connection, counted)
            audit.record(connection, entry)
            return rebuilt


class Challenges:
    """Matches that somebody asked for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, new: NewChallenge, *, most_a_day: int) -> None:
        """Write what somebody wants to be played.

        Raises:
            QuotaReached: It would be too much.
            ValueError: A version that isn't there.
        """
        with self._database.write() as connection:
            challenge_rows.add(connection, new, most_a_day=most_a_day)

    def find(self, id_: str) -> KnownChallenge | None:
        """Return the challenge of this id, or None where there is none."""
        with self._database.read() as connection:
            return challenge_rows.find(connection, id_)

    def newest(self, account: int, before: int | None = None, limit: int = 20) -> tuple[KnownChallenge, ...]:
        """Return the challenges of an account, newest first, with a smaller number than ``before``."""
        with self._database.read() as connection:
            return challenge_rows.newest(connection, account, before, limit)
