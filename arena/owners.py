"""What owners do with their bots: choose the version that plays, take a bot off, let it play on request."""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from arena.admission import admit
from arena.match import Clock, Limits, RuntimeName
from arena.matchmaking import DEALS, PLAYER_COUNTS, seatings
from arena.rules import Rules
from arena.settings import Settings
from arena.store import (
    BotDisqualified,
    BotState,
    KnownBot,
    KnownChallenge,
    NewChallenge,
    NewSet,
    NoSuchBot,
    Store,
)
from arena.store.versions import disqualified

MOST_OPPONENTS: Final = max(PLAYER_COUNTS) - 1
MOST_DEALS: Final = DEALS
_ID_BYTES: Final = 8
_SEED_BYTES: Final = 16
_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)


class NotYours(Exception):
    """The bot belongs to somebody else."""


class ChallengeRefused(Exception):
    """A challenge can't be played. The text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedChallenge:
    """Unrated matches that an owner asks for.

    Attributes:
        bot: Name of the owner's bot.
        version: Number of its version; None for the one that plays.
        opponents: Each a bot's name, or a name, ``@`` and the number of a version.
        deals: Each is played once a seating, and there are as many seatings as seats.
    """

    bot: str
    version: int | None
    opponents: tuple[str, ...]
    deals: int


class Owners:
    """Acts for owners of bots; who is none is refused.

    Args:
        store: Where bots are.
        runtime: How bots are run here.
        challenges_a_day: How many an account may ask for within 24 hours.
        now: UTC.
        new_id: A short id that was never used.
        new_seed: 32 hexadecimal digits that nobody can guess.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what a match is made of, and when
        self,
        store: Store,
        runtime: RuntimeName,
        challenges_a_day: int,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        new_seed: Callable[[], str],
    ) -> None:
        self._store = store
        self._runtime = runtime
        self._challenges_a_day = challenges_a_day
        self._now = now
        self._new_id = new_id
        self._new_seed = new_seed

    def play_version(self, account: int, bot: str, number: int) -> KnownBot:
        """Let a version of a bot play from now on, which brings the bot back if it was off the ladder.

        Raises:
            BotDisqualified: The bot may play no more.
            NoSuchBot: There is none of that name.
            NoSuchVersion: It has none of that number.
            NotYours: It is somebody else's.
            VersionGone: The version's image was removed.
        """
        self.own(account, bot)
        self._store.bots.play_version(bot, number, self._now())
        return self.own(account, bot)

    def come_back(self, account: int, bot: str) -> KnownBot:
        """Let a bot that was benched or retired play again.

        Raises:
            BotDisqualified: It may play no more.
            NoSuchBot: There is none of that name.
            NotYours: It is somebody else's.
            VersionGone: The image of its version was removed.
        """
        self.own(account, bot)
        self._store.bots.come_back(bot, self._now())
        return self.own(account, bot)

    def retire(self, account: int, bot: str) -> KnownBot:
        """Take a bot off the ladder; its games stay.

        Raises:
            BotDisqualified: An operator has done that already.
            NoSuchBot: There is none of that name.
            NotYours: It is somebody else's.
        """
        self.own(account, bot)
        self._store.bots.retire(bot, self._now())
        return self.own(account, bot)

    def own(self, account: int, bot: str) -> KnownBot:
        """Return a bot of an account.

        Raises:
            NoSuchBot: There is none of that name.
            NotYours: It is somebody else's.
        """
        known = self._store.bots.find(bot)
        if known is None:
            raise NoSuchBot(f"there is no bot called {bot}")
        if known.account != account:
            raise NotYours(f"{bot} belongs to {known.author}")
        return known

    def challenge(self, account: int, wanted: WantedChallenge) -> KnownChallenge:
        """Let unrated matches be played: as many as there are seats, with everybody once on each.

        Raises:
            BotDisqualified: The bot may play no more.
            ChallengeRefused: It can't be played.
            NoSuchBot: There is none of that name.
            NotYours: The challenging bot is somebody else's.
            QuotaReached: It would be too much.
            StrangersRefused: Bots of strangers can't play here.
        """
        known = self.own(account, wanted.bot)
        if known.state is BotState.DISQUALIFIED:
            raise BotDisqualified(disqualified(known.name, known.reason))
        hosts = self._store.reads.hosts()
        admit(hosts[0].report if hosts else None, hosts[0].accepted if hosts else ())
        if not 1 <= len(wanted.opponents) <= MOST_OPPONENTS:
            raise ChallengeRefused(f"name 1 to {MOST_OPPONENTS} opponents, not {len(wanted.opponents)}")
        if not 1 <= wanted.deals <= MOST_DEALS:
            raise ChallengeRefused(f"a challenge has 1 to {MOST_DEALS} deals, not {wanted.deals}")
        own = self._version(wanted.bot, known.playing if wanted.version is None else wanted.version)
        order = (own, *(self._opponent(account, name) for name in wanted.opponents))
        if len(set(order)) < len(order):
            raise ChallengeRefused("a version can sit at a table once: name each opponent once")
        new = NewSet(
            id=self._new_id(),
            rules=Rules(players=len(order)),
            seeds=tuple(self._new_seed() for _ in range(wanted.deals)),
            seatings=seatings(order),
            clock=Clock(),
            limits=Limits(),
            runtime=self._runtime,
            created=self._now(),
        )
        challenge = NewChallenge(id=new.id, account=account, version=own, set=new)
        self._store.challenges.add(challenge, most_a_day=self._challenges_a_day)
        made = self._store.challenges.find(new.id)
        if made is None:
            raise ValueError(f"the challenge {new.id} was written and is not there")
        return made

    def _opponent(self, account: int, name: str) -> int:
        """Return the id of a version of a bot that may be challenged: one on the board, or one's own."""
        bot, at, number = name.partition("@")
        known = self._store.bots.find(bot)
        if known is None:
            raise ChallengeRefused(f"there is no bot called {bot}")
        if known.account != account and known.state not in {BotState.ACTIVE, BotState.BENCHED}:
            raise ChallengeRefused(f"{bot} is {known.state} and plays no more")
        if at and not _NUMBER.fullmatch(number):
            raise ChallengeRefused(f"{name}: after @ comes the number of a version, such as {bot}@1")
        return self._version(bot, int(number) if at else known.playing)

    def _version(self, bot: str, number: int) -> int:
        found = self._store.bots.version_id(bot, number)
        if found is None:
            raise ChallengeRefused(
                f"{bot}@{number} can't play: there is no such version, or its image was removed, "
                "or the bot was disqualified"
            )
        return found


def open_owners(settings: Settings, store: Store) -> Owners:
    """Return what acts for owners; ids and seeds come from this machine's source of chance."""
    return Owners(
        store,
        settings.sandbox,
        settings.challenges_a_day,
        now=lambda: datetime.now(UTC),
        new_id=lambda: secrets.token_hex(_ID_BYTES),
        new_seed=lambda: secrets.token_hex(_SEED_BYTES),
    )
