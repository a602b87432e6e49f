"""A simulated ladder: the arena's matchmaking and ratings for bots whose true strengths are known."""

import random
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from arena.ladder.matchmaking import (
    Candidate,
    draw_seatings,
    draw_table,
    has_newcomer,
)
from arena.ladder.rating import Rating, initial, update
from arena.ladder.skills import PRIOR, update_skills
from arena.rules import PLAYER_COUNTS

Play = Callable[[Sequence[int], random.Random], tuple[int, ...]]
"""Plays a game of bots, given by seat; returns their places."""

_OPEN: Final = 4
"""Number of open matches. In an arena, too, the ladder draws several matches at a time."""

_START: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SimulatedGame:
    """A rated game: bots and places, by seat."""

    bots: tuple[int, ...]
    places: tuple[int, ...]


@dataclass(slots=True)
class _Standing:
    rating: Rating
    skill: Rating
    games: Counter[int] = field(default_factory=Counter)
    queued: Counter[int] = field(default_factory=Counter)
    last_played: datetime | None = None
    last_match: int | None = None


class SimulatedLadder:
    """A ladder on which matches are drawn, played and rated. All bots have different authors.

    ``games`` are in the order in which they were rated; ``waits`` are the numbers of matches from
    one match of a bot to its next.
    """

    def __init__(self, bots: Collection[int], play: Play, usual_deals: int, dice: random.Random) -> None:
        self._play = play
        self._deals = usual_deals
        self._dice = dice
        self._standings = {bot: _Standing(initial(), PRIOR) for bot in bots}
        self._queue: deque[tuple[tuple[int, ...], int]] = deque()
        self._played = 0
        self.games: list[SimulatedGame] = []
        self.waits: list[int] = []

    @property
    def ratings(self) -> dict[int, Rating]:
        """TrueSkill ratings from all games, by bot."""
        return {bot: standing.rating for bot, standing in self._standings.items()}

    @property
    def skills(self) -> dict[int, Rating]:
        """Skills for rank intervals, by bot."""
        return {bot: standing.skill for bot, standing in self._standings.items()}

    def games_of(self, bot: int) -> int:
        """Return how many rated games a bot has."""
        return self._standings[bot].games.total()

    def enter(self, bot: int) -> None:
        """Add a new bot."""
        self._standings[bot] = _Standing(initial(), PRIOR)

    def run(self, matches: int) -> None:
        """Play this number of matches."""
        for _ in range(matches):
            while len(self._queue) < _OPEN:
                self._draw()
            self._play_match(*self._queue.popleft())

    def _draw(self) -> None:
        candidates = list(self._candidates())
        table = draw_table(candidates, PLAYER_COUNTS, self._dice)
        count = 1 if has_newcomer(candidates, table) else self._deals
        for bot in table:
            self._standings[bot].queued[len(table)] += count
        self._queue.append((table, count))

    def _candidates(self) -> Iterator[Candidate]:
        for bot, standing in self._standings.items():
            yield Candidate(
                version=bot,
                bot=str(bot),
                author=str(bot),
                house=False,
                mean=standing.rating.mean,
                deviation=standing.rating.deviation,
                last_played=standing.last_played,
                games={players: standing.games[players] for players in PLAYER_COUNTS},
                queued={players: standing.queued[players] for players in PLAYER_COUNTS},
            )

    def _play_match(self, table: tuple[int, ...], count: int) -> None:
        self._played += 1
        for seating in draw_seatings(len(table), count, self._dice):
            bots = tuple(table[index] for index in seating)
            places = self._play(bots, self._dice)
            standings = [self._standings[bot] for bot in bots]
            ratings = update([standing.rating for standing in standings], places)
            skills = update_skills([standing.skill for standing in standings], places)
            for standing, rating, skill in zip(standings, ratings, skills, strict=True):
                standing.rating, standing.skill = rating, skill
            self.games.append(SimulatedGame(bots, places))
        for bot in table:
            standing = self._standings[bot]
            standing.queued[len(table)] -= count
            standing.games[len(table)] += count
            standing.last_played = _START + timedelta(minutes=self._played)
            if standing.last_match is not None:
                self.waits.append(self._played - standing.last_match)
            standing.last_match = self._played
