"""Who plays whom: sets of matches from what is known of the bots. Pure; the caller brings the dice.

A set seats the same versions once on every seat, over the same deals. The
version that has waited longest gets the next table, so nobody waits for ever;
opponents near it in skill, as many above as below, are likely beside it.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

PLAYER_COUNTS = (2, 3, 4, 5)

DEALS = 6
"""Deals of a set, unless the ladder's operator sets another number."""

_NEAR = 25 / 6
"""Distance of means that counts as near: TrueSkill's β, where the better one wins three games of four."""

_FAR_WEIGHT = 0.05
"""The least weight of a distant opponent, so that no two parts of a ladder lose touch."""

_NEW_GAMES = 30
"""Games after which a version's rating is settled enough not to be hurried."""


class TooFewBots(ValueError):
    """A table can't be filled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A bot's version that may play.

    Attributes:
        version: Id.
        bot: Name.
        author: Name.
        house: Whether it is one of the arena's own, which may meet each other.
        mean: Of its overall rating.
        last_played: UTC; None without a rated game.
        games: Rated games, by number of players.
        queued: Games of matches that wait or run, by number of players.
    """

    version: int
    bot: str
    author: str
    house: bool
    mean: float
    last_played: datetime | None
    games: Mapping[int, int]
    queued: Mapping[int, int]

    @property
    def played(self) -> int:
        """Rated games."""
        return sum(self.games.values())


def next_players(candidates: Sequence[Candidate], counts: Sequence[int] = PLAYER_COUNTS) -> int:
    """Return the number of players for the next set: what the longest waiting version has played least.

    So every version comes to as many games at each number of players.

    Raises:
        TooFewBots: Not one of the tables can be filled.
    """
    possible = [players for players in counts if players <= _largest_table(candidates)]
    if not possible:
        raise TooFewBots(f"{len(candidates)} bots of different authors can't fill a table of {min(counts)}")
    waiting = min(candidates, key=_turn)
    return min(possible, key=lambda players: (_load(waiting, players), players))


def draw_set(candidates: Sequence[Candidate], players: int, rng: random.Random) -> tuple[int, ...]:
    """Return the versions of a set in the seat order of its first match.

    Raises:
        TooFewBots: There are not enough bots that may sit together.
    """
    table = [_longest_waiting(candidates, rng)] if candidates else []
    _fill(table, candidates, players, rng)
    return _seated(table, players, rng)


def round_of_sets(
    candidates: Sequence[Candidate], counts: Sequence[int], rng: random.Random
) -> tuple[tuple[int, ...], ...]:
    """Return sets in which every bot plays at least once at every number of players.

    Raises:
        TooFewBots: As :func:`draw_set`.
    """
    sets = []
    for players in counts:
        missing = list(candidates)
        while missing:
            table = [_longest_waiting(missing, rng)]
            _fill(table, missing, players, rng)
            _fill(table, candidates, players, rng)
            sets.append(_seated(table, players, rng))
            missing = [candidate for candidate in missing if candidate not in table]
    return tuple(sets)


def seatings(order: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return as many seatings as seats, each version one seat on from one to the next."""
    return tuple((*order[-shift:], *order[:-shift]) if shift else tuple(order) for shift in range(len(order)))


def deals(candidates: Sequence[Candidate], order: Sequence[int], usual: int) -> int:
    """Return how many deals a set has: one where somebody in it has no rated game, to be rated soon."""
    new = {candidate.version for candidate in candidates if candidate.played == 0}
    return usual if new.isdisjoint(order) else 1


def _turn(candidate: Candidate) -> tuple[int, datetime]:
    """Sort by who is next: nothing in the queue before much, never played before long ago."""
    return sum(candidate.queued.values()), candidate.last_played or datetime.min.replace(tzinfo=UTC)


def _longest_waiting(candidates: Sequence[Candidate], rng: random.Random) -> Candidate:
    """Return who is next; among equals the dice decide."""
    first = min(map(_turn, candidates))
    return rng.choice([candidate for candidate in candidates if _turn(candidate) == first])


def _fill(table: list[Candidate], pool: Sequence[Candidate], players: int, rng: random.Random) -> None:
    """Seat opponents of the first at the table until it is full, or the pool has none that may join."""
    while len(table) < players:
        free = [candidate for candidate in pool if _may_join(table, candidate)]
        if not free:
            return
        chosen = _balancing(table, free)
        weights = [_weight(table[0], candidate, players) for candidate in chosen]
        table += rng.choices(chosen, weights)


def _seated(table: list[Candidate], players: int, rng: random.Random) -> tuple[int, ...]:
    if len(table) < players:
        raise TooFewBots(
            f"a table of {players} needs as many bots, each author but the house once: found {len(table)}"
        )
    order = [candidate.version for candidate in table]
    rng.shuffle(order)
    return tuple(order)


def _may_join(table: Sequence[Candidate], candidate: Candidate) -> bool:
    """Whether neither the bot itself sits there, nor, the house excepted, another one of its author."""
    return all(
        candidate.bot != other.bot and (candidate.author != other.author or (candidate.house and other.house))
        for other in table
    )


def _balancing(table: Sequence[Candidate], free: list[Candidate]) -> list[Candidate]:
    """Return those of ``free`` on the side, better or worse than the first, where fewer sit; all if none."""
    mean = table[0].mean
    lean = sum((other.mean > mean) - (other.mean < mean) for other in table)
    fitting = [candidate for candidate in free if (candidate.mean - mean) * lean <= 0]
    return fitting or free


def _weight(first: Candidate, candidate: Candidate, players: int) -> float:
    """Return how much a candidate is wanted: near in skill, new, short of games of this size, not queued."""
    near = _FAR_WEIGHT + math.exp(-abs(candidate.mean - first.mean) / _NEAR)
    hurry = 2.0 if candidate.played < _NEW_GAMES else 1.0
    fair_share = (1 + sum(_load(candidate, count) for count in PLAYER_COUNTS)) / len(PLAYER_COUNTS)
    short = fair_share / (1 + _load(candidate, players))
    return near * hurry * short / (1 + sum(candidate.queued.values()))


def _load(candidate: Candidate, players: int) -> int:
    return candidate.games[players] + candidate.queued[players]


def _largest_table(candidates: Sequence[Candidate]) -> int:
    """Return how many may sit together: all of the house, and one a further author."""
    house = sum(candidate.house for candidate in candidates)
    return house + len({candidate.author for candidate in candidates if not candidate.house})
