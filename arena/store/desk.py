"""Submissions as the rest of the program sees them: one transaction a call.

A change that comes twice, or too late, changes nothing. Every method may raise DatabaseUnavailable; what was
to be written then is all there or not at all.
"""

from datetime import datetime

from arena.store import allowance, same_content, sets, submission_games, submissions
from arena.store.database import Database
from arena.store.matches import NewQualification
from arena.store.submitted import Allowance, KnownSubmission, NewSubmission, QualificationGame, Quota
from arena.submitting.stages import Cause


class Desk:
    """Where submissions are handed in, and followed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def check(self, new: NewSubmission, quota: Quota) -> None:
        """Make sure that a submission could be added now, before its file is sent.

        Raises:
            BotDisqualified: The bot may play no more.
            BotTaken: The name belongs to somebody else.
            QuotaReached: It would be too much.
            SameContent: The bot has this file already.
        """
        with self._database.read() as connection:
            allowance.check(connection, new, quota)

    def allowance(self, author: str, account: int | None, quota: Quota, now: datetime) -> Allowance:
        """Return what an author has sent, and may send; ``quota`` is the arena's own."""
        with self._database.read() as connection:
            return allowance.find(connection, author, account, quota, now)

    def add(self, new: NewSubmission, quota: Quota) -> KnownSubmission:
        """Write down that a file is here.

        Raises:
            BotDisqualified: The bot may play no more.
            BotTaken: The name belongs to somebody else.
            QuotaReached: It would be too much.
            SameContent: The bot has this file already.
        """
        with self._database.write() as connection:
            return submissions.add(connection, new, quota)

    def find(self, id_: str) -> KnownSubmission | None:
        """Return the submission of this id, or None where there is none."""
        with self._database.read() as connection:
            return submissions.find(connection, id_)

    def on_their_way(self) -> tuple[KnownSubmission, ...]:
        """Return what is not over, in the order of the queue."""
        with self._database.read() as connection:
            return submissions.on_their_way(connection)

    def newest(
        self,
        *,
        account: int | None = None,
        bot: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> tuple[KnownSubmission, ...]:
        """Return submissions, newest first.

        Args:
            account: Whose; None for everybody's.
            bot: Name; None for every bot.
            before: Only those with a smaller number; None starts with the newest.
            limit: How many at most.
        """
        with self._database.read() as connection:
            return submissions.newest(connection, account=account, bot=bot, before=before, limit=limit)

    def games(self, id_: str) -> tuple[QualificationGame, ...]:
        """Return the games of a submission in their order, those that are still to be played too."""
        with self._database.read() as connection:
            return submission_games.games(connection, id_)

    def replay(self, id_: str, game: str) -> str | None:
        """Return the replay of a game of a submission as JSON text, or None where it has none of that id."""
        with self._database.read() as connection:
            return submission_games.replay(connection, id_, game)

    def same_image(self, bot: str, source: str) -> str | None:
        """Return in words which version of a bot has this very image, or None where none has."""
        with self._database.read() as connection:
            return same_content.same_image(connection, bot, source)

    def inspected(self, id_: str, source: str, at: datetime) -> None:
        """Note the image that was made of a received file."""
        with self._database.write() as connection:
            submissions.inspected(connection, id_, source, at)

    def qualifying(self, id_: str, at: datetime) -> None:
        """Note that an inspected submission may play."""
        with self._database.write() as connection:
            submissions.qualifying(connection, id_, at)

    def add_game(self, new: NewQualification, *, played: int) -> bool:
        """Let a submission play a game; False where it has more than ``played`` that are done or open.

        Raises:
            ValueError: A version that isn't there.
        """
        with self._database.write() as connection:
            if submission_games.counted(connection, new.submission) != played:
                return False
            sets.add_qualification(connection, new)
            return True

    def wait(self, id_: str, why: str | None) -> None:
        """Note what the arena itself lacks to go on with a submission; None where it lacks nothing."""
        with self._database.write() as connection:
            submissions.wait(connection, id_, why)

    def activate(self, id_: str, at: datetime) -> int | None:
        """Make a qualifying submission the newest version of its bot; return that version's number.

        Raises:
            BotTaken: The name belongs to somebody else by now.
        """
        with self._database.write() as connection:
            return submissions.activate(connection, id_, at)

    def reject(self, id_: str, cause: Cause, at: datetime) -> None:
        """End a submission with a cause."""
        with self._database.write() as connection:
            submissions.reject(connection, id_, cause, at)
