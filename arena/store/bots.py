"""Bots and challenges as the rest of the program sees them: one transaction a call.

Every method may raise DatabaseUnavailable; what was to be written then is all there or not at all.
"""

from collections.abc import Collection
from datetime import datetime

from arena.store import audit, bot_states, challenge_rows, known_bots, versions
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

    def listed(self, after: str | None = None, limit: int = 100) -> tuple[KnownBot, ...]:
        """Return bots by name, those that come after ``after``, at most so many."""
        with self._database.read() as connection:
            return known_bots.listed(connection, after, limit)

    def versions(self, name: str, before: int | None = None, limit: int = 50) -> tuple[KnownVersion, ...]:
        """Return versions of a bot, newest first, with a smaller number than ``before``; none of no bot."""
        with self._database.read() as connection:
            return known_bots.versions(connection, name, before, limit)

    def version_id(self, name: str, number: int) -> int | None:
        """Return the id of a version of a bot that can be played, or None where there is none."""
        with self._database.read() as connection:
            return versions.playable(connection, name, number)

    def play_version(self, name: str, number: int, at: datetime) -> None:
        """Let a version of a bot play from now on, which brings the bot back if it was off the ladder.

        Raises:
            BotDisqualified: The bot may play no more.
            NoSuchBot: There is none of that name.
            NoSuchVersion: It has none of that number.
            VersionGone: Its image was removed.
        """
        with self._database.write() as connection:
            bot_states.play_version(connection, name, number, at)

    def come_back(self, name: str, at: datetime, entry: NewAuditEntry | None = None) -> None:
        """Let a bot that was benched or retired play again.

        Raises:
            BotDisqualified: It may play no more.
            NoSuchBot: There is none of that name.
            VersionGone: Its image was removed.
        """
        with self._database.write() as connection:
            bot_states.come_back(connection, name, at)
            audit.record(connection, entry)

    def retire(self, name: str, at: datetime, entry: NewAuditEntry | None = None) -> None:
        """Take a bot off the ladder, at its owner's wish.

        Raises:
            BotDisqualified: An operator has done that already.
            NoSuchBot: There is none of that name.
        """
        with self._database.write() as connection:
            bot_states.retire(connection, name, at)
            audit.record(connection, entry)

    def bench(self, name: str, why: str, at: datetime, entry: NewAuditEntry) -> None:
        """Let a bot sit out, for a reason that everybody may read.

        Raises:
            BotDisqualified: It plays no more at all.
            NoSuchBot: There is none of that name.
        """
        with self._database.write() as connection:
            bot_states.bench(connection, name, why, at)
            audit.record(connection, entry)

    def disqualify(self, name: str, why: str, at: datetime, entry: NewAuditEntry) -> Rebuilt:
        """Take a bot off the ladder for good, and rate everybody anew as if it had never played.

        Raises:
            NoSuchBot: There is none of that name.
            ValueError: It is the house's.
        """
        with self._database.write() as connection:
            rebuilt = bot_states.disqualify(connection, name, why, at)
            audit.record(connection, entry)
            return rebuilt

    def reinstate(self, name: str, at: datetime, entry: NewAuditEntry) -> Rebuilt:
        """Take a disqualification back, and rate everybody anew with its games.

        Raises:
            NoSuchBot: There is none of that name.
            ValueError: It was not disqualified.
        """
        with self._database.write() as connection:
            rebuilt = bot_states.reinstate(connection, name, at)
            audit.record(connection, entry)
            return rebuilt

    def note_gone(self, kept: Collection[str], at: datetime) -> int:
        """Note which versions of strangers have no image any more; ``kept`` are the sources that have."""
        with self._database.write() as connection:
            return bot_states.note_gone(connection, kept, at)


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
