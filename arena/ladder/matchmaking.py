"""Draws tables for matches. Does no I/O; the caller provides the random number generator.

A table is drawn for a new version or, if there is none, for the version with the fewest queued games. The
opponents are drawn from those that have waited longest, so that no version waits much longer than the others.
Opponents come from a wide range of ratings while ratings are uncertain, and from a narrower range once the
ratings have settled. About as many opponents are rated above the table's first version as below it.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from arena.rules import PLAYER_COUNTS, ROUNDS, Rules

DEALS = 12
"""Default number of deals in a match."""

_MAX_DECISION_SECONDS = 20
"""Maximum total decision time of a match, estimated from the bots' most recent games. A slow table gets fewer
deals: starting a match is cheap in comparison, so more deals would only keep other bots waiting."""

_MICROS = 1_000_000

_DISTANCE_SCALE = 3
"""Distance at which an opponent's weight falls to 1/e, in standard deviations of the difference between two
skills. This distance spans nearly the whole ladder if one of the versions is new, and a few rating points
once both have settled."""

_FAR_WEIGHT = 0.05
"""Minimum weight of distant opponents, which keeps all parts of a ladder connected."""

_NEWCOMER_GAMES = 50
"""A version with fewer rated games than this plays again as soon as its current match is over."""

_POOL_SHARE = 0.35
"""An opponent is drawn from this fraction of the possible opponents: those that have waited longest."""

_MIN_POOL = 8
"""Minimum number of possible opponents to draw from."""


class TooFewBots(ValueError):
    """A table can't be filled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A version of a bot that may be drawn for a table."""

    version: int  # id
    bot: str
    author: str
    house: bool  # whether it is a house bot; house bots may meet each other
    mean: float  # `mean` and `deviation` are those of the overall rating
    deviation: float
    last_played: datetime | None  # UTC; None before the first rated game
    games: Mapping[int, int]  # rated games, by number of players
    queued: Mapping[int, int]  # games in waiting and running matches, by number of players

    @property
    def played(self) -> int:
        """Number of rated games."""
        return sum(self.games.values())


def possible_players(candidates: Sequence[Candidate], counts: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of players for which there are enough bots. Raises TooFewBots."""
    largest = _largest_table(candidates)
    possible = tuple(players for players in counts if players <= largest)
    if not possible:
        raise TooFewBots(
            f"not enough bots for a table of {min(counts)}: apart from house bots, each author may have only "
            f"one bot at a table, so at most {largest} of the {len(candidates)} bots can play together. Add "
            "bots by other authors"
        )
    return possible


def draw_table(candidates: Sequence[Candidate], counts: Sequence[int], rng: random.Random) -> tuple[int, ...]:
    """Return the versions for the next match, in random order.

    The number of players is the one in ``counts`` with which the longest-waiting version has the fewest
    games, including queued ones, so that every version plays about equally often with each number. Raises
    TooFewBots if too few bots may share a table.
    """
    possible = possible_players(candidates, counts)
    first = _longest_waiting(candidates, rng)
    players = min(possible, key=lambda players: (_games_and_queued(first, players), players))
    table = [first]
    _add_opponents(table, candidates, players, rng)
    return _shuffled(table, players, rng)


def round_of_tables(
    candidates: Sequence[Candidate], counts: Sequence[int], rng: random.Random
) -> tuple[tuple[int, ...], ...]:
    """Return tables at which every bot plays at least once with every number of players.

    Raises TooFewBots for the same reasons as :func:`draw_table`.
    """
    tables = []
    for players in counts:
        missing = list(candidates)
        while missing:
            table = [_longest_waiting(missing, rng)]
            _add_opponents(table, missing, players, rng)
            _add_opponents(table, candidates, players, rng)
            tables.append(_shuffled(table, players, rng))
            missing = [candidate for candidate in missing if candidate not in table]
    return tuple(tables)


def draw_seatings(players: int, games: int, rng: random.Random) -> tuple[tuple[int, ...], ...]:
    """Return a random seating for each game, as indices into the match's bots."""
    return tuple(tuple(rng.sample(range(players), players)) for _ in range(games))


def rotations(order: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return one order per seat, each shifted by one seat from the previous one."""
    return tuple((*order[-shift:], *order[:-shift]) if shift else tuple(order) for shift in range(len(order)))


def has_newcomer(candidates: Sequence[Candidate], table: Sequence[int]) -> bool:
    """Return True if a version at the table has no rated games yet."""
    return any(candidate.played == 0 and candidate.version in table for candidate in candidates)


def deal_count(table: Sequence[int], default: int, micros: Mapping[int, int]) -> int:
    """Return the number of deals for a match: ``default``, or fewer at a slow table.

    ``micros`` maps each version that has played to its mean decision time in microseconds.
    """
    decisions = ROUNDS * Rules(players=len(table)).turns
    game = decisions * sum(micros.get(version, 0) for version in table) / _MICROS
    return default if default * game <= _MAX_DECISION_SECONDS else max(1, int(_MAX_DECISION_SECONDS / game))


def _priority(candidate: Candidate) -> tuple[int, int, datetime]:
    """Return the sort key that decides which version plays next.

    New versions without queued games come first, by ascending number of games. The others follow by
    ascending number of queued games, then by time since the last game, longest first.
    """
    queued = sum(candidate.queued.values())
    games = _NEWCOMER_GAMES if queued else min(candidate.played, _NEWCOMER_GAMES)
    return games, queued, candidate.last_played or datetime.min.replace(tzinfo=UTC)


def _longest_waiting(candidates: Sequence[Candidate], rng: random.Random) -> Candidate:
    """Return the candidate that plays next; ties are broken at random."""
    first = min(map(_priority, candidates))
    return rng.choice([candidate for candidate in candidates if _priority(candidate) == first])


def _add_opponents(
    table: list[Candidate], pool: Sequence[Candidate], players: int, rng: random.Random
) -> None:
    """Add opponents for the table's first bot until the table is full or no bot in the pool may join."""
    by_priority = sorted(pool, key=_priority)
    while len(table) < players:
        free = [candidate for candidate in by_priority if _may_join(table, candidate)]
        if not free:
            return
        chosen = _balancing_opponents(table, free[: max(_MIN_POOL, math.ceil(_POOL_SHARE * len(free)))])
        weights = [_weight(table[0], candidate, players) for candidate in chosen]
        table += rng.choices(chosen, weights)


def _shuffled(table: list[Candidate], players: int, rng: random.Random) -> tuple[int, ...]:
    if len(table) < players:
        raise TooFewBots(
            f"not enough bots for a table of {players}: apart from house bots, each author may have only one "
            f"bot at a table, so at most {len(table)} can play together. Add bots by other authors"
        )
    order = [candidate.version for candidate in table]
    rng.shuffle(order)
    return tuple(order)


def _may_join(table: Sequence[Candidate], candidate: Candidate) -> bool:
    """Return True unless the table has this bot or another bot by its author. House bots may meet."""
    return all(
        candidate.bot != other.bot and (candidate.author != other.author or (candidate.house and other.house))
        for other in table
    )


def _balancing_opponents(table: Sequence[Candidate], free: list[Candidate]) -> list[Candidate]:
    """Return the free bots that would balance the ratings around the table's first bot.

    If more of the seated bots are rated above it than below, returns the free bots that are not rated above
    it, and vice versa. Returns all free bots if both sides are equal or no free bot would help.
    """
    mean = table[0].mean
    lean = sum((other.mean > mean) - (other.mean < mean) for other in table)
    balancing = [candidate for candidate in free if (candidate.mean - mean) * lean <= 0]
    return balancing or free


def _weight(first: Candidate, candidate: Candidate, players: int) -> float:
    """Return a candidate's weight when an opponent is drawn for ``first``.

    The weight is higher if the candidate is close in skill, has played relatively few games with this number
    of players, or has few queued games.
    """
    distance = abs(candidate.mean - first.mean) / math.hypot(candidate.deviation, first.deviation)
    near = _FAR_WEIGHT + math.exp(-distance / _DISTANCE_SCALE)
    fair_share = (1 + sum(_games_and_queued(candidate, count) for count in PLAYER_COUNTS)) / len(
        PLAYER_COUNTS
    )
    deficit = fair_share / (1 + _games_and_queued(candidate, players))
    return near * deficit / (1 + sum(candidate.queued.values()))


def _games_and_queued(candidate: Candidate, players: int) -> int:
    return candidate.games[players] + candidate.queued[players]


def _largest_table(candidates: Sequence[Candidate]) -> int:
    """Return how many bots may share a table: all house bots, and one per other author."""
    house = sum(candidate.house for candidate in candidates)
    return house + len({candidate.author for candidate in candidates if not candidate.house})
