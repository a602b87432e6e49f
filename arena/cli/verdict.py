"""What commands say of a submission: its stages on stderr while it is on its way, the verdict on stdout.

They work on its document (``arena/submitting/document.py``), so they are the same for a bot that was checked
at home and for one that was sent to an arena. A document may come from anywhere: nothing in it may move the
terminal's cursor, and what is missing in it is passed over.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.cli.console import say
from arena.speech import visible
from arena.submitting.qualification import GAMES
from arena.submitting.stages import Stage

_WIDTH: Final = 120
"""Enough for every column of a table: on a narrower terminal lines are long, and not cut."""

Document = Mapping[str, Any]

_STAGES: Final[Mapping[str, str]] = {
    Stage.RECEIVED: "received: it is made into an image",
    Stage.INSPECTED: "inspected: the engine loads it",
    Stage.QUALIFYING: f"qualifying: it plays {GAMES} games that are not rated",
}
_ORDINALS: Final = {1: "1st", 2: "2nd", 3: "3rd"}
_COLUMNS: Final = (
    ("game", "number"),
    ("players", "players"),
    ("seat", "seat"),
    ("place", "place"),
    ("decisions", "decisions"),
    ("median ms", "median_millis"),
    ("slowest ms", "slowest_millis"),
    ("late", "late"),
    ("notes", "notes"),
    ("stderr bytes", "stderr_bytes"),
)


class Telling:
    """Says what becomes of a submission, each thing once, with the seconds since the command began.

    Args:
        elapsed: These seconds.
    """

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._stage: str | None = None
        self._waiting: str | None = None
        self._games = 0

    def hear(self, submission: Document) -> None:
        """Say what is new in a document; its ``games`` may be missing."""
        stage = str(submission["stage"])
        if stage != self._stage:
            self._stage = stage
            self._say(_STAGES.get(stage, stage))
        waiting = submission.get("waiting")
        if waiting != self._waiting:
            self._waiting = waiting
            self._say(f"waits: {waiting}" if waiting else "goes on")
        done = [game for game in submission.get("games", ()) if game.get("figures")]
        for number, game in enumerate(done[self._games :], self._games + 1):
            self._say(_game(number, game))
        self._games = max(self._games, len(done))

    def _say(self, text: str) -> None:
        say(f"{self._elapsed():5.1f} s  {visible(text)}")


def print_verdict(submission: Document, taken: str) -> None:
    """Print what became of a submission that is over.

    Args:
        submission: Its document, with its ``games``.
        taken: What is said of one that is active.
    """
    console = Console(highlight=False, soft_wrap=True, width=_WIDTH)
    cause = submission.get("cause")
    if cause is None:
        console.print(Text(visible(taken), style="green"))
        if games := submission.get("games"):
            console.print(_table(games))
        return
    console.print(Text(visible(f"{submission['stage']}: {cause['text']}"), style="red"))
    for name, value in _rows(cause):
        console.print(Text(f"  {name:10} ").append(visible(value)))
    if stderr := str(cause.get("stderr", "")).rstrip():
        console.print(Text("  the end of what it printed on stderr:"))
        for line in stderr.split("\n"):
            console.print(Text(f"    {visible(line)}".rstrip()))


def _rows(cause: Document) -> Iterator[tuple[str, str]]:
    yield "stage", str(cause["stage"])
    yield "cause", str(cause["kind"])
    if cause.get("exit_code") is not None:
        yield "exit code", str(cause["exit_code"])
    if cause.get("out_of_memory"):
        yield "memory", "the kernel ended it, for it used more than it may"
    if request := cause.get("request"):
        where = f"game {request['game']} of {GAMES} ({request['players']} players, seat {request['seat']})"
        yield "asked last", f"{where}, round {request['round']}, turn {request['turn']}"
        yield "hand", ", ".join(map(str, request["hand"]))
    yield "try", str(cause["hint"])


def _game(number: int, game: Document) -> str:
    figures = game["figures"]
    words = [f"{game['players']} players, seat {game['seat']}", f"placed {_ordinal(figures['place'])}"]
    if figures.get("slowest_millis") is not None:
        words.append(f"slowest decision {_number(figures['slowest_millis'])} ms")
    if figures.get("late"):
        words.append(f"{figures['late']} too late")
    return f"game {number} of {GAMES}: {', '.join(words)}"


def _table(games: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="")
    for title, _ in _COLUMNS:
        table.add_column(title, justify="right", no_wrap=True)
    for number, game in enumerate(games, 1):
        row = {"number": number} | game | (game.get("figures") or {})
        table.add_row(*(Text(visible(_number(row.get(name)))) for _, name in _COLUMNS))
    return table


def _number(value: object) -> str:
    """Return a number for people: milliseconds to the tenth below ten, and none as a dash."""
    if isinstance(value, float):
        return f"{value:.1f}" if value < 10 else f"{value:.0f}"  # noqa: PLR2004 - what people read at a glance
    return "-" if value is None else str(value)


def _ordinal(place: int) -> str:
    return _ORDINALS.get(place, f"{place}th")
