"""A bot's opponents, habits and failures, for its page."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena.db.analyses import CostlyDecision
from arena.db.histories import RecordedGame
from arena.db.store import Store
from arena.ladder.card_counts import Tally, count_game, merged
from arena.ladder.card_table import CardHabit, habits
from arena.ladder.rating import expected
from arena.ladder.rating_events import OVERALL, Entry
from arena.protocol.faults import Fault
from arena.protocol.match import played_again
from arena.rules import State

OPPONENTS_PER_PAGE: Final = 20
RECENT: Final = 30
"""Number of a bot's latest games to read for its habits: the cards that it takes, and its slowest
decision."""

FAULTY: Final = 50
"""Number of a bot's latest games with a fault to read."""

SHOWN_FAULTY: Final = 10
"""Number of games with a fault to list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpponentLine:
    """An opponent of the requested bot, and how their games ended.

    Attributes:
        bot: The opponent's name.
        version: Number of the opponent's active version.
        games: Number of games that both played.
        ahead: Number of games in which the requested bot finished ahead of the opponent.
        behind: Number of games in which it finished behind.
        tied: Number of games in which they shared a place.
        share: Share of games, excluding ties, in which the requested bot finished ahead; None if all were
            ties.
        expected: Probability that the requested bot finishes ahead, computed from the ratings of the active
            versions, for the requested number of players; by default, averaged over the ladder's table sizes.
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
class TimedDecision:
    """A decision in a game, with its time."""

    round: int  # from 1
    turn: int  # within the round, from 1
    fault: Fault | None  # why the stand-in played; None if the bot played
    millis: float | None  # from request to answer; None if there was no answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """A bot's faults."""

    games: int  # number of recent faulty games that were read
    kinds: tuple[tuple[Fault, int], ...]  # faults by kind, most frequent first
    # The latest of these games, newest first, each with the bot's faults in it.
    last: tuple[tuple[RecordedGame, tuple[TimedDecision, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """A bot's habits in its latest games."""

    games: int  # number of games read
    cards: tuple[CardHabit, ...]
    slowest: TimedDecision | None  # None if no decision was timed
    slowest_game: RecordedGame | None


def read_opponents(  # noqa: PLR0913, PLR0917 - a page of this list depends on all of these
    store: Store, bot: str, results: Mapping[int, Entry], players: int | None, offset: int, limit: int
) -> tuple[OpponentLine, ...]:
    """Read a bot's opponents, those with the most games first.

    ``results`` are those of the bot's active version, by number of players. Expected results are for games
    with ``players`` players, and are computed from the ratings in these games. If ``players`` is None, they
    are computed from the ratings in all games, and averaged over the ladder's table sizes.
    """
    rating = results[players or OVERALL].rating
    tables = (players,) if players else store.ladder.settings().players
    return tuple(
        OpponentLine(
            bot=each.bot,
            version=each.version,
            games=each.games,
            ahead=each.ahead,
            behind=each.behind,
            tied=each.tied,
            share=each.ahead / (each.ahead + each.behind) if each.games > each.tied else None,
            expected=expected(rating, each.rating, tables),
        )
        for each in store.histories.opponents(bot, offset, limit, players or OVERALL)
    )


def read_habits(store: Store, bot: str) -> Habits:
    """Read a bot's habits in its latest games."""
    games = store.histories.records(bot, RECENT)
    states = [played_again(game.rules, game.record).states for game in games]
    own = merged(map(_tally_cards, games, states))
    timed = [
        (moment, game)
        for game, game_states in zip(games, states, strict=True)
        for moment in _timed_decisions(game, game_states)
        if moment.millis is not None
    ]
    slowest, game = max(timed, key=lambda each: each[0].millis or 0, default=(None, None))
    return Habits(
        games=len(games),
        cards=habits(own, store.cards.find()),
        slowest=slowest,
        slowest_game=game,
    )


def read_failures(store: Store, bot: str) -> Failures:
    """Read a bot's recent faults."""
    games = store.histories.records(bot, FAULTY, faulty=True)
    kinds = Counter(
        decision.fault
        for game in games
        for step in game.record.steps
        if (decision := step[game.seat]) is not None and decision.fault is not None
    )
    return Failures(
        games=len(games),
        kinds=tuple(sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))),
        last=tuple((game, _faults(game)) for game in games[:SHOWN_FAULTY]),
    )


def _tally_cards(game: RecordedGame, states: Sequence[State]) -> Tally:
    others = [seat != game.seat or taken for seat, taken in enumerate(game.taken_over)]
    return count_game(states, game.record.steps, game.places, others)


def _timed_decisions(game: RecordedGame, states: Sequence[State]) -> Iterable[TimedDecision]:
    for before, step in zip(states, game.record.steps, strict=False):
        decision = step[game.seat]
        if decision is not None:
            yield TimedDecision(
                round=before.round, turn=before.turn, fault=decision.fault, millis=decision.millis
            )


def _faults(game: RecordedGame) -> tuple[TimedDecision, ...]:
    states = played_again(game.rules, game.record).states
    return tuple(moment for moment in _timed_decisions(game, states) if moment.fault is not None)


SHOWN_MISTAKES: Final = 10
_SHOWN_KINDS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistakes:
    """A version's costly decisions, and what they have in common.

    ``rounds`` are pairs of a round and the number of costly decisions in it. ``missed`` and ``taken`` are
    pairs of a kind of card and a count, largest first: how often the card was only in the best move
    (``missed``), or only in the move played (``taken``).
    """

    costliest: tuple[CostlyDecision, ...]
    count: int
    rounds: tuple[tuple[int, int], ...]
    missed: tuple[tuple[str, int], ...]
    taken: tuple[tuple[str, int], ...]


def read_mistakes(store: Store, bot: str, version: int) -> Mistakes:
    """Read a version's costly decisions."""
    found = store.analyses.costly(bot, version)
    missed: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for each in found:
        missed.update(set(each.best) - set(each.played))
        taken.update(set(each.played) - set(each.best))
    return Mistakes(
        costliest=found[:SHOWN_MISTAKES],
        count=len(found),
        rounds=tuple(sorted(Counter(each.round for each in found).items())),
        missed=tuple(missed.most_common(_SHOWN_KINDS)),
        taken=tuple(taken.most_common(_SHOWN_KINDS)),
    )
