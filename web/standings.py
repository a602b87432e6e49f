"""A list of the ladder in memory: who stands where, kept up to date one bot at a time.

Pages ask for a few lines out of thousands, and of each for a rank and an interval, which depend on all the
others. Reading all of them each time would take a hundred times as long as what has changed since.
"""

from bisect import bisect_left, insort
from collections.abc import Mapping
from typing import Final

from arena.rating import DAYS, SHARE, Entry, Field, between, conservative, median, stood
from arena.store import BoardLine
from web.board import PROVISIONAL_DEVIATION, Row, Wanted
from web.text import clean_name

_SIGMAS: Final = 2
_MICROS: Final = 1000
_FEW: Final = 200
"""So many lines are sorted sooner than the list is gone through."""

_Key = tuple[bool, float, float, str, int]
"""Where a line stands: without a game last, then by score, then the surest first, then by name. Equal ratings
stand together. The id makes it unique."""


class Standings:
    """All lines of one list, best first."""

    def __init__(self) -> None:
        self._lines: dict[int, BoardLine] = {}
        self._keys: dict[int, _Key] = {}
        self._order: list[_Key] = []
        self._strangers: list[_Key] = []
        self._texts: dict[int, str] = {}
        self._names: dict[str, int] = {}
        self._field = Field({})
        self._intervals: dict[int, tuple[int, int]] = {}

    def __len__(self) -> int:
        """Return how many lines there are."""
        return len(self._lines)

    def update(self, lines: Mapping[int, BoardLine | None]) -> None:
        """Take over what has changed.

        Args:
            lines: By the bots' ids; None of one that is not on the list any more.
        """
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
                self._field.put(bot, line.entry.rating)
            else:
                self._field.drop(bot)

    def rows(self, wanted: Wanted, today: int) -> tuple[int, list[Row]]:
        """Return how many lines there are for what is wanted, and the part of them that is.

        Args:
            wanted: Which ones.
            today: The day, as :meth:`datetime.date.toordinal` counts.
        """
        found = self._order if wanted.house else self._strangers
        if wanted.search:
            found = self._matching(wanted.search.casefold(), found)
        shown = found[wanted.offset : wanted.offset + wanted.limit]
        return len(found), [self._row(key, today) for key in shown]

    def row(self, bot: str, today: int) -> Row | None:
        """Return the line of the bot of this name, or None where it is not on the list."""
        found = self._names.get(bot)
        return None if found is None else self._row(self._keys[found], today)

    def _fill(self, lines: Mapping[int, BoardLine]) -> None:
        for bot, line in lines.items():
            self._note(bot, line)
        self._order = sorted(self._keys.values())
        self._strangers = [key for key in self._order if not lines[key[-1]].house]
        self._field = Field({bot: line.entry.rating for bot, line in lines.items() if line.entry.games})

    def _put(self, bot: int, line: BoardLine) -> None:
        self._note(bot, line)
        for order in self._orders(line):
            insort(order, self._keys[bot])

    def _note(self, bot: int, line: BoardLine) -> None:
        entry = line.entry
        self._lines[bot] = line
        self._keys[bot] = (
            entry.games == 0,
            -conservative(entry.rating),
            entry.rating.deviation,
            line.bot,
            bot,
        )
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
        # Names are read as they lie in memory, which is twice as fast as in the order of the list.
        bots = {bot for bot, text in self._texts.items() if search in text}
        if len(bots) > _FEW:
            return [key for key in order if key[-1] in bots]
        found = sorted(self._keys[bot] for bot in bots)
        return found if order is self._order else [key for key in found if not self._lines[key[-1]].house]

    def _orders(self, line: BoardLine) -> tuple[list[_Key], ...]:
        """Return the orders in which a line stands."""
        return (self._order,) if line.house else (self._order, self._strangers)

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
            spread=_SIGMAS * entry.rating.deviation,
            score=conservative(entry.rating),
            provisional=entry.rating.deviation > PROVISIONAL_DEVIATION,
            change=_change(entry, today),
            games=entry.games,
            win_share=_share(entry.wins, entry),
            mean_place=_share(entry.place_sum, entry),
            fault_share=_share(entry.faulty, entry),
            median_millis=None if micros is None else micros / _MICROS,
            last_played=entry.last_played,
        )

    def _rank(self, key: _Key) -> int:
        """Return the rank of a line; equal scores share one."""
        return bisect_left(self._order, key[:2]) + 1

    def _interval(self, key: _Key) -> tuple[int, int] | tuple[None, None]:
        """Return between which ranks a bot stands, stretched to the rank it has where that lies outside.

        Ranks go by the careful score, so of little known bots they may be worse than any that is probable.
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
        """Return whether the better of this bot and a neighbour is so with less than ``SHARE``."""
        if key[0]:
            return False
        at = bisect_left(self._order, key)
        beside = self._order[max(0, at - 1) : at] + self._order[at + 1 : at + 2]
        own = self._lines[key[-1]].entry.rating
        others = [self._lines[other[-1]].entry.rating for other in beside if not other[0]]
        return any(max(between(own, other), between(other, own)) < SHARE for other in others)


def _change(entry: Entry, today: int) -> float | None:
    before = stood(entry.closings, today - DAYS)
    return None if before is None else conservative(entry.rating) - conservative(before)


def _share(count: int, entry: Entry) -> float | None:
    return count / entry.games if entry.games else None
