"""A rated league of the bots in a folder, with the ladder's matchmaking and ratings.

The first line of its log file describes the league. Every other line is a new version or a game. Ratings
are computed from the log, so a league can be resumed.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from arena.ladder.matchmaking import Candidate, draw_seatings, draw_table
from arena.ladder.rating_events import OVERALL, Entry, GamePlayed, Key, VersionStarted, apply
from arena.ladder.standings import BoardLine, BoardQuery, Standings
from arena.local.bots import LocalBot, digest_of
from arena.local.games import LocalGame, LocalResult
from arena.local.resultsfile import ResultsFile, WrongResults
from arena.local.tally import local_game
from arena.platform.names import HOUSE
from arena.play.replay.document import Variant
from arena.protocol.leaderboard import Leaderboard
from arena.rules import PLAYER_COUNTS

_BEGIN: Final = datetime(2000, 1, 1, tzinfo=UTC)
_MICROS: Final = 1000


_DEALS: Final = 6
"""Deals per match. Fewer than the ladder's, because leagues are short and bots should play equally often."""


class LeagueRules(msgspec.Struct, frozen=True, kw_only=True):
    """A league's rules: the first line of its file."""

    format: str = "kaiten-league/1"
    tables: tuple[Variant, ...]
    seed: int


class LeagueEntrant(msgspec.Struct, frozen=True, tag="bot"):
    """A bot that enters the league, or continues with changed code."""

    name: str
    digest: str


class LeagueGame(msgspec.Struct, frozen=True, tag="game"):
    """A game. Each field has one entry per seat. ``versions`` are indexes of :class:`LeagueEntrant` lines."""

    versions: tuple[int, ...]
    places: tuple[int, ...]
    faulty: tuple[bool, ...]
    micros: tuple[int | None, ...]


Line = LeagueEntrant | LeagueGame


class HeadToHead(NamedTuple):
    """One bot's games against another: in how many it finished ahead, behind or in the same place."""

    games: int
    ahead: int
    behind: int
    tied: int


class League:
    """The state of a league. Games refer to bots by their index in ``bots``."""

    def __init__(self, rules: LeagueRules, bots: Sequence[LocalBot]) -> None:
        self._rules = rules
        self._bots = bots
        self._entries: dict[Key, Entry] = {}
        self._versions: list[LeagueEntrant] = []
        self._ahead: Counter[tuple[int, int]] = Counter()
        self._tied: Counter[tuple[int, int]] = Counter()
        self._queued: Counter[tuple[int, int]] = Counter()
        self.games = 0

    def replay(self, lines: Sequence[Line]) -> None:
        """Apply a log.

        Raises KeyError if a game refers to an unknown version, or ValueError if a game is invalid.
        """
        for line in lines:
            self._add(line)

    def enter_missing(self) -> tuple[LeagueEntrant, ...]:
        """Enter the bots whose current code is not yet in the league, and return their entries."""
        entrants = [LeagueEntrant(bot.name, digest_of(bot)) for bot in self._bots]
        current = [self._versions[version] for version in self._current()]
        new = tuple(entrant for entrant in entrants if entrant not in current)
        for entrant in new:
            self._add(entrant)
        return new

    def plan(self, count: int, dice: random.Random) -> Iterator[LocalGame]:
        """Yield games as the ladder would draw them, using the results known when each match is drawn."""
        number, base = 0, self.games
        current = self._current()
        while number < count:
            candidates = [self._candidate(version) for version in current]
            sizes = sorted({table.players for table in self._rules.tables})
            table = draw_table(candidates, sizes, dice)
            players = len(table)
            rules = dice.choice([each for each in self._rules.tables if each.players == players]).as_rules
            deals = min(_DEALS, count - number)
            for version in table:
                self._queued[version, players] += deals
            for seating in draw_seatings(players, deals, dice):
                bots = tuple(current.index(table[place]) for place in seating)
                deal = base + number
                name = f"league-{self._rules.seed}-{deal}"
                yield local_game(rules, self._rules.seed, deal, bots, number, name)
                number += 1

    def played(self, result: LocalResult) -> LeagueGame:
        """Add the result of a game from :meth:`plan`, and return its line for the log."""
        current = self._current()
        versions = tuple(current[bot] for bot in result.game.bots)
        for version in versions:
            self._queued[version, len(versions)] -= 1
        medians = [seat.median_millis for seat in result.seats]
        game = LeagueGame(
            versions,
            tuple(seat.place for seat in result.seats),
            tuple(bool(seat.faults) for seat in result.seats),
            tuple(None if millis is None else round(millis * _MICROS) for millis in medians),
        )
        self._add(game)
        return game

    def board(self) -> Leaderboard:
        """Return the current bots, best first, as on the ladder's leaderboard.

        A league records no dates, so ``change`` and ``last_played`` are None. ``author`` is ``local`` or
        ``house``.
        """
        standings = Standings()
        standings.update({version: self._line(version, bot) for version, bot in self._current_bots()})
        _, rows = standings.rows(BoardQuery(limit=len(standings)), _BEGIN.toordinal())
        return Leaderboard(players=None, rows=tuple(rows), next=None)

    def meeting(self, bot: str, other: str) -> HeadToHead:
        """Return how the games between the current versions of two bots ended."""
        names = {self._versions[version].name: version for version in self._current()}
        one, two = names[bot], names[other]
        ahead, behind, tied = self._ahead[one, two], self._ahead[two, one], self._tied[one, two]
        return HeadToHead(ahead + behind + tied, ahead, behind, tied)

    def _add(self, line: Line) -> None:
        if isinstance(line, LeagueEntrant):
            previous = self._latest_number(line.name)
            event = VersionStarted(version=len(self._versions), previous=previous)
            self._versions.append(line)
            self._entries |= apply(self._entries, event)
            return
        ended = _BEGIN + timedelta(seconds=self.games)
        self._entries |= apply(
            self._entries,
            GamePlayed(
                versions=line.versions, places=line.places, faulty=line.faulty, times=line.micros, ended=ended
            ),
        )
        self.games += 1
        for version, place in zip(line.versions, line.places, strict=True):
            for other, theirs in zip(line.versions, line.places, strict=True):
                if other != version:
                    self._ahead[version, other] += place < theirs
                    self._tied[version, other] += place == theirs

    def _latest_number(self, name: str) -> int | None:
        return max((number for number, each in enumerate(self._versions) if each.name == name), default=None)

    def _current(self) -> list[int]:
        """Return the numbers of the current versions, in the order of the bots."""
        return [version for version, _ in self._current_bots()]

    def _current_bots(self) -> list[tuple[int, LocalBot]]:
        numbers = [(self._latest_number(bot.name), bot) for bot in self._bots]
        return [(number, bot) for number, bot in numbers if number is not None]

    def _candidate(self, version: int) -> Candidate:
        entry = self._entries[version, OVERALL]
        return Candidate(
            version=version,
            bot=self._versions[version].name,
            author=self._versions[version].name,
            house=False,
            mean=entry.rating.mean,
            deviation=entry.rating.deviation,
            last_played=entry.last_played,
            games={players: self._entries[version, players].games for players in PLAYER_COUNTS},
            queued={players: self._queued[version, players] for players in PLAYER_COUNTS},
        )

    def _line(self, version: int, bot: LocalBot) -> BoardLine:
        return BoardLine(
            bot=bot.name,
            version=sum(each.name == bot.name for each in self._versions),
            author=bot.author,
            house=bot.author == HOUSE,
            benched=False,
            entry=replace(self._entries[version, OVERALL], last_played=None),
        )


def read_league(
    file: ResultsFile, requested: LeagueRules, *, any_seed: bool
) -> tuple[LeagueRules, tuple[Line, ...]]:
    """Read a league file: its rules and its other lines.

    If the file is empty, return ``requested`` and no lines. Raises OSError, or WrongResults if the
    file contains something else.
    """
    known, log = file.read(requested, Line, "league file")
    if known.tables != requested.tables or not (any_seed or known.seed == requested.seed):
        raise WrongResults(
            f"{file.path} contains a league with different --players or --seed: "
            "use --results to specify another file"
        )
    return known, log
