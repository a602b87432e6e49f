"""Statistics of cards: what is taken, when, and how the games of those who take it end. Pure.

    tally = merged(count_game(states, steps, places, taken_over) for … in games)
    table = table_of(tally, players=3)

A tally is made of whole numbers that add up, so it is the same in whatever order games are counted. Only
decisions that were a bot's own are counted: no moves of the stand-in, no last cards of a round, which are
played by themselves, and nothing of a seat that was taken over. Games with a dummy are left out as a whole,
since there one seat places cards for another.
"""

from arena.cardstats.counts import (
    ALL_TURNS,
    WIN,
    Count,
    Games,
    Key,
    Tally,
    count_game,
    merged,
    nothing,
)
from arena.cardstats.earned import POINT, earned
from arena.cardstats.habits import CardHabit, habits
from arena.cardstats.intervals import Estimate, WinRate, difference, win_rate
from arena.cardstats.table import FEW, CardLine, CardTable, Figures, table_of

__all__ = [
    "ALL_TURNS",
    "FEW",
    "POINT",
    "WIN",
    "CardHabit",
    "CardLine",
    "CardTable",
    "Count",
    "Estimate",
    "Figures",
    "Games",
    "Key",
    "Tally",
    "WinRate",
    "count_game",
    "difference",
    "earned",
    "habits",
    "merged",
    "nothing",
    "table_of",
    "win_rate",
]
