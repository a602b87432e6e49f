"""Takes in bots of strangers: from a file to a version on the ladder."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from arena.admission import admit
from arena.imagekeeper import ImageKeeper
from arena.intake.image import BotImage
from arena.intake.intake import Intake
from arena.names import WrongName, check_name
from arena.services import HOUSE
from arena.store import BotTaken, NewVersion, Store


class Engine(Protocol):
    """What will run the bots."""

    def check_source(self, source: str) -> None:
        """Make sure that an image can be run, and load it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What became of a file.

    Attributes:
        bot: Its name.
        version: The number of its newest version.
        image: That version's.
        new: Whether the version is new; not where the newest one had this very image.
    """

    bot: str
    version: int
    image: BotImage
    new: bool


class Submissions:
    """Bots of strangers.

    Args:
        store: Keeps their versions.
        intake: Makes their images.
        keeper: Knows how much room there is for these.
        engine: Runs them.
        accepted: Names of controls whose absence the operator accepts.
        now: UTC.
    """

    def __init__(  # noqa: PLR0913 - what a submission goes through
        self,
        *,
        store: Store,
        intake: Intake,
        keeper: ImageKeeper,
        engine: Engine,
        accepted: Collection[str],
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._intake = intake
        self._keeper = keeper
        self._engine = engine
        self._accepted = accepted
        self._now = now

    def submit(self, bot: str, author: str, file: Path) -> Submitted:
        """Enter a file as the newest version of a bot, which is made where there is none of that name.

        Where this raises, or is killed, no version is entered; what has been kept by then is pruned later.

        Raises:
            BotTaken: The name belongs to a bot of somebody else.
            IntakeTrouble: The arena can't take it now.
            LaunchRefused: The engine can't run it.
            Rejected: The file can't be taken.
            RuntimeTrouble: The engine does not answer, or did not load it.
            StoreError: The database can't be used.
            StrangersRefused: A control is not held here that the operator has not accepted as missing.
            WrongName: The bot's name or the author's can't be used.
        """
        check_name(bot, "bot")
        check_name(author, "author")
        if author == HOUSE:
            raise WrongName(f"{author} is the author of the arena's own bots: choose another")
        hosts = self._store.reads.hosts()
        admit(hosts[0].report if hosts else None, self._accepted)
        before = self._store.bots.find(bot)
        if before is not None and (before.author, before.house) != (author, False):
            raise BotTaken(f"the name {bot} belongs to a bot of {before.author}: choose another")
        image = self._intake.take(file, self._keeper.room())
        self._keeper.note_gone()
        self._engine.check_source(image.id)
        self._store.writes.add_version(
            NewVersion(bot=bot, author=author, house=False, source=image.id, created=self._now())
        )
        after = self._store.bots.find(bot)
        number = 1 if after is None else after.playing
        return Submitted(bot=bot, version=number, image=image, new=before is None or before.playing != number)
