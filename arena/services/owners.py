"""Owners' actions on their bots, versions, submissions and challenges."""

import re
import secrets
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean
from typing import Final

from arena.db.bots import KnownBot
from arena.db.challenges import ChallengeGame, KnownChallenge, NewChallenge
from arena.db.errors import BotDisqualified, NoSuchBot
from arena.db.matches import NewMatch
from arena.db.store import Store
from arena.ladder.matchmaking import rotations
from arena.platform.settings import Settings
from arena.play.replay.document import parse
from arena.protocol.challenges import ChallengeState, ChallengeSummary, Entrant, PlayedGame
from arena.protocol.games import SeatResult
from arena.protocol.match import RuntimeName
from arena.protocol.states import BotState, MatchState
from arena.rules import PLAYER_COUNTS, Rules

MAX_OPPONENTS: Final = max(PLAYER_COUNTS) - 1
MAX_DEALS: Final = 6
_ID_BYTES: Final = 8
_SEED_BYTES: Final = 16
_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)


class NotYours(Exception):
    """The bot belongs to another account."""


class ChallengeRefused(Exception):
    """A challenge can't be played; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedChallenge:
    """Unrated matches that an owner requests."""

    bot: str
    version: int | None  # number; None for the active version
    opponents: tuple[str, ...]  # each `NAME` or `NAME@VERSION`
    deals: int  # number per match; the challenge has as many matches as seats


@dataclass(frozen=True, slots=True)
class Owners:
    """Changes bots for their owners.

    Each method that takes a bot's name raises NoSuchBot or, for another account's bot, NotYours.
    """

    store: Store
    runtime: RuntimeName
    challenges_a_day: int  # default number of challenges that an account may request within 24 hours
    now: Callable[[], datetime]  # UTC
    new_id: Callable[[], str]  # a short unique id
    new_seed: Callable[[], str]  # 32 unpredictable hexadecimal digits

    def play_version(self, account: int, bot: str, number: int) -> KnownBot:
        """Activate a version, and reactivate the bot if it was off the ladder.

        Raises BotDisqualified, NoSuchVersion or VersionGone.
        """
        self.own(account, bot)
        self.store.bot_states.play_version(bot, number, self.now())
        return self.own(account, bot)

    def reactivate(self, account: int, bot: str) -> KnownBot:
        """Reactivate a benched or retired bot. Raises BotDisqualified or VersionGone."""
        self.own(account, bot)
        self.store.bot_states.reactivate(bot, self.now())
        return self.own(account, bot)

    def retire(self, account: int, bot: str) -> KnownBot:
        """Take a bot off the ladder, but keep its games. Raises BotDisqualified."""
        self.own(account, bot)
        self.store.bot_states.retire(bot, self.now())
        return self.own(account, bot)

    def open_to_people(self, account: int, bot: str, *, is_open: bool) -> KnownBot:
        """Open a bot to games against people, or close it. Raises BotDisqualified."""
        self.own(account, bot)
        self.store.bot_states.open_to_people(bot, is_open=is_open)
        return self.own(account, bot)

    def cancel(self, submission: str) -> bool:
        """Cancel the submission with this id. Return False if it has already ended."""
        return self.store.submissions.withdraw(submission, self.now())

    def own(self, account: int, bot: str) -> KnownBot:
        """Return a bot that belongs to an account."""
        known = self.store.bots.find(bot)
        if known is None:
            raise NoSuchBot(f"there is no bot called {bot}")
        if known.account != account:
            raise NotYours(f"{bot} belongs to {known.author}")
        return known

    def challenge(self, account: int, request: RequestedChallenge) -> KnownChallenge:
        """Queue as many unrated matches as there are seats, so that each bot plays one match in each seat.

        Raises BotDisqualified, QuotaReached, UntrustedBotsRefused, or ChallengeRefused if the challenge can't
        be played.
        """
        known = self.own(account, request.bot)
        if known.state is BotState.DISQUALIFIED:
            raise BotDisqualified(known.name, known.reason)
        self.store.activity.check_admission()
        if not 1 <= len(request.opponents) <= MAX_OPPONENTS:
            raise ChallengeRefused(f"{len(request.opponents)} opponents given: choose 1 to {MAX_OPPONENTS}")
        if not 1 <= request.deals <= MAX_DEALS:
            raise ChallengeRefused(f"{request.deals} deals given: choose 1 to {MAX_DEALS}")
        own = self._version(request.bot, known.version if request.version is None else request.version)
        order = (own, *(self._opponent(account, name) for name in request.opponents))
        if len(set(order)) < len(order):
            raise ChallengeRefused("a version can have only one seat at a table: list each version only once")
        id_, created = self.new_id(), self.now()
        settings = self.store.ladder.settings()
        seeds = tuple(self.new_seed() for _ in range(request.deals))
        matches = tuple(
            NewMatch(
                id=f"{id_}-{index}",
                rules=Rules(players=len(order)),
                bots=bots,
                seeds=seeds,
                clock=settings.clock,
                limits=settings.limits,
                runtime=self.runtime,
                created=created,
            )
            for index, bots in enumerate(rotations(order))
        )
        new = NewChallenge(id=id_, account=account, version=own, matches=matches)
        return self.store.challenges.add(new, max_a_day=self.challenges_a_day)

    def _opponent(self, account: int, name: str) -> int:
        """Return the version id of an opponent, which must be on the leaderboard or belong to the account."""
        typed, at, number = name.partition("@")
        known = self.store.bots.find_in_any_case(typed)
        if known is None:
            raise ChallengeRefused(f"there is no bot called {typed}")
        bot = known.name
        if known.account != account and known.state not in {BotState.ACTIVE, BotState.BENCHED}:
            raise ChallengeRefused(f"{bot} is {known.state} and no longer plays: choose another opponent")
        if at and not _NUMBER.fullmatch(number):
            raise ChallengeRefused(f"{name} is invalid: give a version number after @, such as {bot}@1")
        return self._version(bot, int(number) if at else known.version)

    def _version(self, bot: str, number: int) -> int:
        found = self.store.bots.version_id(bot, number)
        if found is None:
            raise ChallengeRefused(
                f"{bot}@{number} can't play: the version does not exist, its image was removed, or the bot "
                "was disqualified. Choose another version"
            )
        return found


def challenge_summary(challenge: KnownChallenge) -> ChallengeSummary:
    """Summarise a challenge."""
    games = tuple(map(_game, challenge.games))
    played: dict[tuple[str, int], list[SeatResult]] = defaultdict(list)
    for game in games:
        for seat in game.seats:
            played[seat.bot, seat.version].append(seat)
    # The seats of deleted matches are unknown.
    known = dict.fromkeys(((challenge.bot, challenge.version), *challenge.seats, *played))
    return ChallengeSummary(
        id=challenge.id,
        bot=challenge.bot,
        version=challenge.version,
        created=challenge.created,
        deals=challenge.deals,
        state=_challenge_state(challenge.states, matches=len(known)),
        entrants=tuple(_entrant(bot, version, played[bot, version]) for bot, version in known),
        games=games,
    )


def _challenge_state(states: tuple[MatchState, ...], *, matches: int) -> ChallengeState:
    """Return the challenge's state. A challenge has as many matches as seats, unless some were deleted."""
    if states and set(states) == {MatchState.WAITING}:
        return ChallengeState.WAITING
    if not {MatchState.WAITING, MatchState.RUNNING}.isdisjoint(states):
        return ChallengeState.RUNNING
    return ChallengeState.DONE if states.count(MatchState.DONE) == matches else ChallengeState.FAILED


def _game(game: ChallengeGame) -> PlayedGame:
    replay = parse(game.replay)
    players = zip(replay.seats, replay.totals[: len(replay.seats)], replay.places, strict=True)
    return PlayedGame(
        game=game.game,
        ended=game.ended,
        seats=tuple(
            SeatResult(bot=seat.bot, version=seat.version, points=points, place=place)
            for seat, points, place in players
        ),
    )


def _entrant(bot: str, version: int, seats: list[SeatResult]) -> Entrant:
    return Entrant(
        bot=bot,
        version=version,
        games=len(seats),
        wins=sum(seat.place == 1 for seat in seats),
        mean_place=fmean(seat.place for seat in seats) if seats else None,
        points=fmean(seat.points for seat in seats) if seats else None,
    )


def open_owners(settings: Settings, store: Store) -> Owners:
    """Return the arena's owner actions; ids and seeds come from the system's random number generator."""
    return Owners(
        store,
        settings.sandbox,
        settings.challenges_a_day,
        now=lambda: datetime.now(UTC),
        new_id=lambda: secrets.token_hex(_ID_BYTES),
        new_seed=lambda: secrets.token_hex(_SEED_BYTES),
    )
