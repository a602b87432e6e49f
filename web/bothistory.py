"""What a bot's page tells of the past: opponents, what it takes, how it failed."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from arena.cardstats import CardHabit, Tally, count_game, habits, merged
from arena.match import Fault
from arena.rating import Rating, expected
from arena.recorded import played_again
from arena.rules import State
from arena.store import RecordedGame, Store

OPPONENTS_A_PAGE: Final = 20
RECENT: Final = 30
"""So many of its last games tell what a bot takes, and how long it thinks."""

FAULTY: Final = 50
"""So many of its last games with a fault are counted."""

SHOWN_FAULTY: Final = 10
"""So many of these are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpponentLine:
    """Another bot, and how the games with it ended.

    Attributes:
        bot: Its name.
        version: Number of the version of it that plays, or would.
        games: Together.
        ahead: In so many of them the first bot finished ahead.
        behind: In so many it finished behind.
        tied: In so many they shared a place.
        share: Of the games without a tie those in which it finished ahead; None where all were ties.
        expected: How probable the ratings of the versions that play make it that it finishes ahead.
    """

    bot: str
    version: int
    games: int
    ahead: int
    behind: int
    tied: int
    share: float | None
    expected: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A decision of a game.

    Attributes:
        round: From 1.
        turn: In its round, from 1.
        fault: Why the stand-in played; None where the bot did.
        millis: From request to answer; None where no answer came.
    """

    round: int
    turn: int
    fault: Fault | None
    millis: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyGame:
    """A game in which a bot had a fault.

    Attributes:
        game: Its id.
        number: In the order of rating.
        ended: UTC.
        version: Of the bot.
        faults: Each of them.
        taken_over: Whether the stand-in played to the end.
    """

    game: str
    number: int
    ended: datetime
    version: int
    faults: tuple[Moment, ...]
    taken_over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """How a bot failed.

    Attributes:
        games: So many of its last games with a fault were looked at.
        kinds: Each kind of fault with how often it was there, most first.
        last: The last of these games, newest first.
    """

    games: int
    kinds: tuple[tuple[str, int], ...]
    last: tuple[FaultyGame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What a bot did in its last games.

    Attributes:
        games: How many were looked at.
        cards: What it takes.
        slowest: The decision that took longest; None where there is none with a time.
        slowest_game: Id of the game of that.
        slowest_number: Its number.
    """

    games: int
    cards: tuple[CardHabit, ...]
    slowest: Moment | None
    slowest_game: str
    slowest_number: int


def read_opponents_of(
    store: Store, bot: str, rating: Rating, offset: int, limit: int
) -> tuple[OpponentLine, ...]:
    """Read whom a bot met, most games first.

    Args:
        store: Where it is.
        bot: Its name.
        rating: Of its version that plays, in all games.
        offset: How many to leave out.
        limit: How many at most.
    """
    return tuple(
        OpponentLine(
            bot=each.bot,
            version=each.version,
            games=each.games,
            ahead=each.ahead,
            behind=each.behind,
            tied=each.tied,
            share=each.ahead / (each.ahead + each.behind) if each.games > each.tied else None,
            expected=expected(rating, each.rating),
        )
        for each in store.histories.opponents(bot, offset, limit)
    )


def read_habits(store: Store, bot: str) -> Habits:
    """Read what a bot did in its last games."""
    games = store.histories.records(bot, RECENT)
    states = [played_again(game.rules, game.record).states for game in games]
    own = merged(map(_count, games, states))
    timed = [
        (moment, game)
        for game, its in zip(games, states, strict=True)
        for moment in _moments(game, its)
        if moment.millis is not None
    ]
    slowest, game = max(timed, key=lambda each: each[0].millis or 0, default=(None, None))
    return Habits(
        games=len(games),
        cards=habits(own, store.reads.cards().tally),
        slowest=slowest,
        slowest_game=game.game if game else "",
        slowest_number=game.number if game else 0,
    )


def read_failures(store: Store, bot: str) -> Failures:
    """Read how a bot failed lately."""
    games = store.histories.records(bot, FAULTY, faulty=True)
    kinds = Counter(
        decision.fault.value
        for game in games
        for step in game.record.steps
        if (decision := step[game.seat]) is not None and decision.fault is not None
    )
    return Failures(
        games=len(games),
        kinds=tuple(sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))),
        last=tuple(map(_faulty, games[:SHOWN_FAULTY])),
    )


def _count(game: RecordedGame, states: Sequence[State]) -> Tally:
    others = [seat != game.seat or taken for seat, taken in enumerate(game.taken_over)]
    return count_game(states, game.record.steps, game.places, others)


def _moments(game: RecordedGame, states: Sequence[State]) -> Iterable[Moment]:
    for before, step in zip(states, game.record.steps, strict=False):
        decision = step[game.seat]
        if decision is not None:
            yield Moment(round=before.round, turn=before.turn, fault=decision.fault, millis=decision.millis)


def _faulty(game: RecordedGame) -> FaultyGame:
    states = played_again(game.rules, game.record).states
    return FaultyGame(
        game=game.game,
        number=game.number,
        ended=game.ended,
        version=game.version,
        faults=tuple(moment for moment in _moments(game, states) if moment.fault is not None),
        taken_over=game.taken_over[game.seat],
    )
