"""A leaderboard's rows with ranks and intervals, updated one bot at a time.

The site and the command line show the same rows. A row's rank and interval depend on all other
rows, but are computed only for the few rows that a request needs.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final

from arena.ladder.rank_intervals import SHARE, Field, between
from arena.ladder.rating import DAYS, median, rating_on
from arena.ladder.rating_events import Entry
from arena.ladder.skills import with_model_error
from arena.platform.text import clean_name
from arena.protocol.leaderboard import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardLine:
    """A bot's data for a leaderboard."""

    bot: str  # name
    version: int  # number of the active version; the first is 1
    author: str  # name
    house: bool  # whether it is a house bot
    benched: bool  # whether it is benched
    entry: Entry  # the active version's entry in this list

    @property
    def order(self) -> tuple[bool, float, float, str]:
        """Sort key: highest score first, then smallest deviation, then name; bots without games come last.

        Bots share a rank if the first two parts of their keys are equal.
        """
        rating = self.entry.rating
        return self.entry.games == 0, -rating.score, rating.deviation, self.bot


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(BoardLine):
    """A leaderboard line with its rank."""

    rank: int  # from 1; lines with equal scores share a rank


def standings(lines: Iterable[BoardLine]) -> tuple[Standing, ...]:
    """Return lines with their ranks, best first."""
    ordered = sorted(lines, key=lambda line: line.order)
    ranks = [line.order[:2] for line in ordered]
    return tuple(
        Standing(
            rank=bisect_left(ranks, line.order[:2]) + 1,
            **{field.name: getattr(line, field.name) for field in fields(line)},
        )
        for line in ordered
    )


class BoardOrder(StrEnum):
    """The order of a leaderboard's lines, by a field of :class:`Row`; lines without a value come last."""

    SCORE = "score"
    BOT = "bot"
    MEAN = "mean"
    CHANGE = "change"
    GAMES = "games"
    WIN_SHARE = "win_share"
    MEAN_PLACE = "mean_place"
    FAULT_SHARE = "fault_share"
    MEDIAN_MILLIS = "median_millis"
    LAST_PLAYED = "last_played"

    @property
    def ascends(self) -> bool:
        """True if the smallest value comes first, unless the order is reversed."""
        return self in {BoardOrder.BOT, BoardOrder.MEAN_PLACE, BoardOrder.MEDIAN_MILLIS}


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardQuery:
    """Which part of a leaderboard to read."""

    players: int | None = None  # 2 to 5, or None for all games
    house: bool = True  # whether to include house bots
    search: str = ""  # part of the name of a bot or author, ignoring case; empty for all
    order: BoardOrder = BoardOrder.SCORE
    reverse: bool = False  # whether to reverse the order; lines without a value still come last
    offset: int = 0  # number of lines to skip
    limit: int  # maximum number of lines


_MICROS: Final = 1000
_MAX_TO_SORT: Final = 200
"""Maximum number of matching lines for which sorting is faster than filtering the sorted list."""

_Key = tuple[bool, float, float, str, int]
"""A line's place in the order. The bot's id at the end makes it unique."""


class Standings:
    """All lines of one list, best first."""

    def __init__(self) -> None:
        self._lines: dict[int, BoardLine] = {}
        self._keys: dict[int, _Key] = {}
        self._order: list[_Key] = []
        self._without_house: list[_Key] = []
        self._texts: dict[int, str] = {}
        self._names: dict[str, int] = {}
        self._field = Field({})
        self._intervals: dict[int, tuple[int, int]] = {}

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self._lines)

    def update(self, lines: Mapping[int, BoardLine | None]) -> None:
        """Apply changed lines, by bot id; None removes a bot."""
        if not lines:
            return
        self._intervals.clear()
        if not self._lines:
            self._fill({bot: line for bot, line in lines.items() if line is not None})
            return
        for bot, line in lines.items():
            self._drop(bot)
            if line is not None:
                self._put(bot, line)
            if line is not None and line.entry.games:
                self._field.put(bot, with_model_error(line.entry.skill))
            else:
                self._field.drop(bot)

    def rows(self, query: BoardQuery, today: int) -> tuple[int, list[Row]]:
        """Return the number of lines that match, and the requested ones.

        ``today`` is a date's ordinal (:meth:`datetime.date.toordinal`).
        """
        found = self._order if query.house else self._without_house
        if query.search:
            found = self._matching(query.search.casefold(), found)
        if query.reverse or query.order is not BoardOrder.SCORE:
            found = self._sorted(found, query, today)
        shown = found[query.offset : query.offset + query.limit]
        return len(found), [self._row(key, today) for key in shown]

    @property
    def names(self) -> list[str]:
        """The bots' names, best first."""
        return [self._lines[key[-1]].bot for key in self._order]

    def row(self, bot: str, today: int) -> Row | None:
        """Return a bot's row, or None if it is not on the list."""
        found = self._names.get(bot)
        return None if found is None else self._row(self._keys[found], today)

    def _fill(self, lines: Mapping[int, BoardLine]) -> None:
        for bot, line in lines.items():
            self._index(bot, line)
        self._order = sorted(self._keys.values())
        self._without_house = [key for key in self._order if not lines[key[-1]].house]
        self._field = Field(
            {bot: with_model_error(line.entry.skill) for bot, line in lines.items() if line.entry.games}
        )

    def _put(self, bot: int, line: BoardLine) -> None:
        self._index(bot, line)
        for order in self._orders(line):
            insort(order, self._keys[bot])

    def _index(self, bot: int, line: BoardLine) -> None:
        self._lines[bot] = line
        self._keys[bot] = (*line.order, bot)
        self._texts[bot] = f"{clean_name(line.bot)}\n{clean_name(line.author)}".casefold()
        self._names[line.bot] = bot

    def _drop(self, bot: int) -> None:
        if bot not in self._lines:
            return
        line, key = self._lines.pop(bot), self._keys.pop(bot)
        for order in self._orders(line):
            del order[bisect_left(order, key)]
        del self._names[line.bot], self._texts[bot]

    def _matching(self, search: str, order: list[_Key]) -> list[_Key]:
        # Reading names in memory order is twice as fast as reading them in list order.
        bots = {bot for bot, text in self._texts.items() if search in text}
        if len(bots) > _MAX_TO_SORT:
            return [key for key in order if key[-1] in bots]
        found = sorted(self._keys[bot] for bot in bots)
        return found if order is self._order else [key for key in found if not self._lines[key[-1]].house]

    def _sorted(self, keys: list[_Key], query: BoardQuery, today: int) -> list[_Key]:
        """Return lines in another order; those with equal values stay in order of score."""
        value = _VALUES[query.order]
        values = {key: value(self._lines[key[-1]], today) for key in keys}
        known = [key for key in keys if values[key] is not None]
        known.sort(key=values.__getitem__, reverse=query.order.ascends == query.reverse)
        return known + [key for key in keys if values[key] is None]

    def _orders(self, line: BoardLine) -> tuple[list[_Key], ...]:
        """Return the sorted lists that contain a line."""
        return (self._order,) if line.house else (self._order, self._without_house)

    def _row(self, key: _Key, today: int) -> Row:
        bot = key[-1]
        line = self._lines[bot]
        entry = line.entry
        best, worst = self._interval(key)
        micros = median(entry.times)
        return Row(
            rank=self._rank(key),
            rank_best=best,
            rank_worst=worst,
            tied=self._is_tied(key),
            bot=clean_name(line.bot),
            version=line.version,
            author=clean_name(line.author),
            house=line.house,
            benched=line.benched,
            mean=entry.rating.mean,
            deviation=entry.rating.deviation,
            spread=entry.rating.spread,
            score=entry.rating.score,
            provisional=entry.rating.provisional,
            change=_change(entry, today),
            games=entry.games,
            win_share=entry.win_share,
            mean_place=entry.mean_place,
            fault_share=entry.fault_share,
            median_millis=None if micros is None else micros / _MICROS,
            last_played=entry.last_played,
        )

    def _rank(self, key: _Key) -> int:
        """Return the rank of a line; lines with equal scores share a rank."""
        return bisect_left(self._order, key[:2]) + 1

    def _interval(self, key: _Key) -> tuple[int, int] | tuple[None, None]:
        """Return the interval of a bot's rank, extended to include its actual rank.

        Ranks follow the conservative score, so a new bot's rank may be worse than every probable rank.
        """
        unplayed, bot = key[0], key[-1]
        if unplayed:
            return None, None
        if bot not in self._intervals:
            self._intervals[bot] = self._field.interval(bot)
        best, worst = self._intervals[bot]
        rank = self._rank(key)
        return min(best, rank), max(worst, rank)

    def _is_tied(self, key: _Key) -> bool:
        """Return True if a neighbour is neither better nor worse with a probability of at least ``SHARE``."""
        if key[0]:
            return False
        at = bisect_left(self._order, key)
        neighbours = self._order[max(0, at - 1) : at] + self._order[at + 1 : at + 2]
        own = with_model_error(self._lines[key[-1]].entry.skill)
        others = [with_model_error(self._lines[it[-1]].entry.skill) for it in neighbours if not it[0]]
        return any(max(between(own, other), between(other, own)) < SHARE for other in others)


def _change(entry: Entry, today: int) -> float | None:
    before = rating_on(entry.closings, today - DAYS)
    return None if before is None else entry.rating.score - before.score


_VALUES: Final[Mapping[BoardOrder, Callable[[BoardLine, int], Any]]] = {
    BoardOrder.SCORE: lambda line, _: line.entry.rating.score if line.entry.games else None,
    BoardOrder.BOT: lambda line, _: clean_name(line.bot).casefold(),
    BoardOrder.MEAN: lambda line, _: line.entry.rating.mean if line.entry.games else None,
    BoardOrder.CHANGE: lambda line, today: _change(line.entry, today),
    BoardOrder.GAMES: lambda line, _: line.entry.games,
    BoardOrder.WIN_SHARE: lambda line, _: line.entry.win_share,
    BoardOrder.MEAN_PLACE: lambda line, _: line.entry.mean_place,
    BoardOrder.FAULT_SHARE: lambda line, _: line.entry.fault_share,
    BoardOrder.MEDIAN_MILLIS: lambda line, _: median(line.entry.times),
    BoardOrder.LAST_PLAYED: lambda line, _: line.entry.last_played,
}
"""For each order, the value by which a line is sorted on a given day; None if the line has no value."""
