"""What came of a challenge, from what the store knows of it. Pure."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from statistics import fmean

from arena.replay import parse
from arena.store import ChallengeGame, KnownChallenge, MatchState, SeatResult


class ChallengeState(StrEnum):
    """How far a challenge is."""

    WAITING = "waiting"
    """None of its matches has begun."""
    RUNNING = "running"
    DONE = "done"
    """All its matches were played."""
    FAILED = "failed"
    """Nothing more will come of it, and not all its matches were played."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedGame:
    """A game of a challenge.

    Attributes:
        game: Id.
        ended: When.
        seats: In seat order.
    """

    game: str
    ended: datetime
    seats: tuple[SeatResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """How somebody did in all games of a challenge.

    Attributes:
        bot: Name.
        version: Number, from 1.
        games: That were played.
        wins: Games in which it was first, alone or shared.
        mean_place: 1 is best; null without a game.
        points: At the end of a game, on average; null without a game.
    """

    bot: str
    version: int
    games: int
    wins: int
    mean_place: float | None
    points: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeSummary:
    """A challenge, and what came of it.

    Attributes:
        id: Its own.
        bot: Name of the bot that challenges.
        version: Its number.
        created: When somebody asked for it.
        deals: Each is played once a seat, with everybody once on each.
        state: How far it is.
        entrants: The challenger first.
        games: Those that were played, in their order.
    """

    id: str
    bot: str
    version: int
    created: datetime
    deals: int
    state: ChallengeState
    entrants: tuple[Entrant, ...]
    games: tuple[PlayedGame, ...]


def summary(challenge: KnownChallenge) -> ChallengeSummary:
    """Sum up a challenge."""
    games = tuple(map(_game, challenge.games))
    played: dict[tuple[str, int], list[SeatResult]] = defaultdict(list)
    for game in games:
        for seat in game.seats:
            played[seat.bot, seat.version].append(seat)
    # Of matches that were struck nobody knows any more who sat where.
    known = dict.fromkeys(((challenge.bot, challenge.version), *challenge.seats, *played))
    return ChallengeSummary(
        id=challenge.id,
        bot=challenge.bot,
        version=challenge.version,
        created=challenge.created,
        deals=challenge.deals,
        state=_state(challenge.states, matches=len(known)),
        entrants=tuple(_entrant(bot, version, played[bot, version]) for bot, version in known),
        games=games,
    )


def _state(states: tuple[MatchState, ...], *, matches: int) -> ChallengeState:
    """Return how far a challenge is; it has as many matches as seats, unless some were struck."""
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
