"""The results of a scenario, as a row of figures."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from tests.faults.installation import Again, Installation

_WIDTH: Final = 160
_COUNTED: Final = {
    "scenario": "scenario",
    "times": "faults",
    "matches": "matches",
    "games": "games",
    "lost": "games\nlost",
    "doubled": "games\ntwice",
    "blamed": "bots\nblamed",
    "aside": "wrong\nquarantines",
    "differing": "ratings\ncorrected",
    "left": "left\nbehind",
}
"""Headings of the figures that are counted."""

_TIMED: Final = {"claimed": "claimed\nagain, s", "unhindered": "without\nCPU waits, s"}
"""Headings of the times, of which the median and the maximum are shown."""


@dataclass(slots=True)
class Tally:
    """The figures of a scenario."""

    scenario: str
    times: int = 0  # number of injected faults
    matches: int = 0  # queued matches
    games: int = 0  # games in the database at the end
    lost: int = 0  # missing games, and gaps in their numbers
    doubled: int = 0  # games that are stored or rated more than once
    blamed: int = 0  # faults, take-overs and benched bots; all bots are honest
    aside: int = 0  # matches that were wrongly quarantined, or should have been but weren't
    differing: int = 0  # ratings and statistics that a rebuild corrected
    left: int = 0  # processes, containers, sockets and folders left at the end
    again: list[Again] = field(default_factory=list)  # times from a fault to the next claim
    # Maximum of these times in seconds, without waits for a processor; None for no limit.
    max_seconds: float | None = None
    notes: list[str] = field(default_factory=list)  # other figures
    wrong: list[str] = field(default_factory=list)  # descriptions of other failures

    def close(self, *arenas: Installation, aside: frozenset[str] = frozenset()) -> None:
        """Count the rows after all matches have been played. The matches ``aside`` should be quarantined."""
        books = arenas[0].ledger.books(aside)
        ratings, cards = arenas[0].rebuild()
        self.matches += books.matches
        self.games += books.games
        self.lost += books.lost
        self.doubled += books.doubled
        self.blamed += books.blamed
        self.aside += books.aside
        self.differing += ratings.differing + cards
        for arena in arenas:
            left = arena.leftovers()
            self.left += len(left)
            self.wrong += [f"left: {what}" for what in left]

    @property
    def holds(self) -> bool:
        """True if the arena kept all its promises."""
        bad = self.lost + self.doubled + self.blamed + self.aside + self.differing + self.left
        late = self.max_seconds is not None and any(
            each.seconds - each.waited > self.max_seconds for each in self.again
        )
        return not bad and not late and not self.wrong and self.times > 0

    def figures(self) -> dict[str, Any]:
        """Return the figures by name."""
        claimed = [each.seconds for each in self.again]
        unhindered = [each.seconds - each.waited for each in self.again]
        return {
            **{name: getattr(self, name) for name in _COUNTED},
            "claimed_median": _round(median, claimed),
            "claimed_most": _round(max, claimed),
            "unhindered_median": _round(median, unhindered),
            "unhindered_most": _round(max, unhindered),
            "measured": len(self.again),
            "limit": self.max_seconds,
            "holds": self.holds,
            "notes": self.notes,
            "wrong": self.wrong,
        }


def print_table(tallies: Sequence[Tally], title: str) -> None:
    """Print a row per scenario. Times are median/maximum."""
    table = Table(title=title, box=SIMPLE)
    for name in (*_COUNTED.values(), *_TIMED.values(), "limit, s", "passed"):
        table.add_column(name, justify="left" if name == "scenario" else "right", no_wrap=True)
    for tally in tallies:
        figures = tally.figures()
        table.add_row(
            *(str(figures[name]) for name in _COUNTED),
            *(_pair(figures, name) for name in _TIMED),
            "" if tally.max_seconds is None else f"{tally.max_seconds:g}",
            "yes" if tally.holds else "NO",
        )
    Console(width=_WIDTH).print(table)


def _pair(figures: dict[str, Any], name: str) -> str:
    return f"{figures[f'{name}_median']}/{figures[f'{name}_most']}" if figures["measured"] else ""


def _round(what: Callable[[list[float]], float], values: list[float]) -> float | None:
    return round(what(values), 2) if values else None


def as_json(tallies: Sequence[Tally], about: dict[str, Any]) -> str:
    """Return all figures, with a description of the run."""
    return json.dumps({**about, "scenarios": [tally.figures() for tally in tallies]}, indent=1) + "\n"
