"""Measure whether pages are as fast after a million games as after a hundred: ``python -m benchmarks.pages``.

Creates two stores (:mod:`benchmarks.crowd`) unless they are specified, and serves each with a single-process
site. While matches are recorded in both, the benchmark requests all public pages and lists from the two sites
in turn, so that other load on the host affects both. Exits with 1 if a goal is missed.
"""

import argparse
import http.client
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median, quantiles
from typing import Final
from urllib.parse import urlsplit

from rich import box
from rich.console import Console
from rich.table import Table

from arena.db.store import open_store
from benchmarks.crowd import Crowd, fill, is_watched, play_for_real
from benchmarks.processes import run_site
from benchmarks.report import describe_machine
from benchmarks.served import cpu_of_an_answer, plainest

SMALL: Final = Crowd(bots=100, games=100)
LARGE: Final = Crowd(bots=10_000, games=1_000_000)

RATIO: Final = 2.0
"""Maximum ratio of a page's time on the large store to that on the small one."""
P99_SECONDS: Final = 0.05
"""Maximum 99th percentile of the leaderboard's times on the large store, while games are recorded."""
SERVED: Final = 0.85
"""Minimum speed of serving leaderboards, relative to minimal responses, while games are recorded."""
BYTES: Final = 100_000
"""Maximum size of a page in bytes, without images."""

_BOARD: Final = "/leaderboard"
_AT_ONCE: Final = 10
"""Number of requests for a page to one store before switching to the other."""
_EVERY_SECONDS: Final = 0.5
"""Seconds between two recorded matches."""
_PERCENT: Final = 100
_RESPONSES: Final = 3000
_TIMES: Final = 3


@dataclass(slots=True)
class Site:
    """A store with its site."""

    process: int  # ID of the serving process
    url: str
    paths: dict[str, str]  # paths of pages, by name
    _connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        address = urlsplit(self.url)
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port)

    def ask(self, path: str) -> tuple[float, int]:
        """Request a page; return the time in seconds and the size in bytes."""
        begin = time.perf_counter()
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - begin
        if answer.status != http.client.OK:
            sys.exit(f"{self.url}{path} returned {answer.status}: {body[:200].decode(errors='replace')}")
        return took, len(body)


@dataclass(slots=True)
class Timed:
    """A page's times in seconds on one store."""

    seconds: list[float] = field(default_factory=list)
    size: int = 0

    @property
    def middle(self) -> float:
        """The median time."""
        return median(self.seconds)

    @property
    def p99(self) -> float:
        """The 99th percentile."""
        return quantiles(self.seconds, n=_PERCENT)[-1]


def main() -> int:
    """Measure and print."""
    arguments = _parser().parse_args()
    with ExitStack() as stack:
        folders = [
            given or made(stack, crowd)
            for given, crowd in ((arguments.small, SMALL), (arguments.large, LARGE))
        ]
        sites = [stack.enter_context(served(folder)) for folder in folders]
        machine = describe_machine("none")
        _measure(sites, 1)  # the first read is not measured
        for folder in folders:
            stack.enter_context(recording(folder))
        timed = _measure(sites, arguments.requests)
        served = _measure_served(sites[-1])
    return _report(machine, timed, served)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pages",
        description="Measure whether pages are as fast after a million games as after a hundred.",
    )
    parser.add_argument(
        "--requests", type=int, default=200, help="requests per page and arena (default: %(default)s)"
    )
    parser.add_argument(
        "--small",
        type=Path,
        metavar="FOLDER",
        help="small arena, made by benchmarks.crowd (default: make one)",
    )
    parser.add_argument(
        "--large",
        type=Path,
        metavar="FOLDER",
        help="large arena, made by benchmarks.crowd (default: make one, which takes minutes)",
    )
    return parser


def made(stack: ExitStack, crowd: Crowd) -> Path:
    """Return the folder of a new store. Closing the stack removes it."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kaiten-pages-")))
    fill(folder / "arena.sqlite3", crowd)
    return folder


@contextmanager
def served(folder: Path) -> Iterator[Site]:
    """Start a site, and yield it with its pages."""
    with run_site(os.environ | {"ARENA_DATA_DIR": str(folder)}) as (process, address):
        yield Site(process, address, paths(folder))


def paths(folder: Path) -> dict[str, str]:
    """Return the kinds of public pages and lists, each with the path of one example."""
    with closing(open_store(f"sqlite:///{folder / 'arena.sqlite3'}")) as store:
        newest = store.games.newest(limit=1)[0]
        board = store.ratings.standings()
    first = max((line for line in board if is_watched(line.bot)), key=lambda line: line.entry.games).bot
    watched = [line.bot for line in board if is_watched(line.bot)]
    game, bot = f"/games/{newest.game}", f"/bots/{first}"
    old = newest.number // 2 + 1
    return {
        "front page": "/",
        "leaderboard": _BOARD,
        "leaderboard, 3 players": f"{_BOARD}?players=3",
        "leaderboard, page 2": f"{_BOARD}?page=2",
        "leaderboard, without house bots": f"{_BOARD}?house=without",
        "leaderboard, search for an author": f"{_BOARD}?search={board[len(board) // 2].author}",
        "leaderboard as CSV": f"{_BOARD}.csv?limit=50",
        "badge": f"{bot}/badge.svg",
        "leaderboard, head to head": "/leaderboard/versus",
        "leaderboard, calibration": "/leaderboard/calibration",
        "games": "/games",
        "games, older": f"/games?before={old}",
        "closest games": "/games?order=closest",
        "game": game,
        "a turn of a game": f"{game}/2/3",
        "a game's frames": f"{game}/frames.json",
        "replay": f"{game}/replay.json",
        "bot": bot,
        "games of a bot with faults": f"{bot}?fault=yes",
        "first picks of a bot": f"{bot}/picks",
        "bots compared": f"/compare?bots={','.join(sorted(watched)[:4])}",
        "author": f"/authors/{board[0].author}",
        "cards": "/cards",
        "cards as CSV": "/cards.csv",
        "a card": "/cards/wasabi",
        "data": "/data",
        "start": "/start",
        "status": "/status",
        "documentation": "/docs",
        "API: leaderboard": "/api/v1/leaderboard?limit=50",
        "API: games": "/api/v1/games",
        "API: games, older": f"/api/v1/games?before={old}",
        "API: games of a bot": f"/api/v1/games?bot={first}",
        "API: game": f"/api/v1{game}",
        "API: bots": "/api/v1/bots",
        "API: bot": f"/api/v1{bot}",
        "API: versions": f"/api/v1{bot}/versions",
        "API: ratings of a bot": f"/api/v1{bot}/ratings",
        "API: opponents of a bot": f"/api/v1{bot}/opponents",
        "API: cards": "/api/v1/cards",
        "API: status": "/api/v1/status",
    }


@contextmanager
def recording(folder: Path) -> Iterator[None]:
    """Record matches in a store from another process, until stopped."""
    stop = multiprocessing.Event()
    process = multiprocessing.Process(target=_write, args=(folder, stop))
    process.start()
    try:
        yield
    finally:
        stop.set()
        process.join()


def _write(folder: Path, stop: Event) -> None:
    dice = random.Random()  # noqa: S311 - different games each time
    with closing(open_store(f"sqlite:///{folder / 'arena.sqlite3'}")) as store:
        bots = store.activity.totals().bots
        while not stop.wait(_EVERY_SECONDS):
            play_for_real(store, dice, bots, 2, datetime.now(UTC))


def _measure(sites: Sequence[Site], requests: int) -> dict[str, list[Timed]]:
    """Request every page of every site ``requests`` times; return the times by page, one entry per site."""
    timed = {name: [Timed() for _ in sites] for name in sites[0].paths}
    for begun in range(0, requests, _AT_ONCE):
        for name, of_sites in timed.items():
            _show_progress(f"{begun} of {requests}: {name}")
            for site, times in zip(sites, of_sites, strict=True):
                for _ in range(min(_AT_ONCE, requests - begun)):
                    took, times.size = site.ask(site.paths[name])
                    times.seconds.append(took)
    return timed


def _measure_served(site: Site) -> tuple[float, float]:
    """Return the processor times of the leaderboard and of a minimal response, in seconds."""
    _show_progress("the leaderboard and a minimal response")
    with plainest() as (process, url):
        time.sleep(1)  # until the site serves requests: earlier connections would wait
        pairs = [
            (
                cpu_of_an_answer(site.process, site.url, _BOARD, _RESPONSES),
                cpu_of_an_answer(process, url, "/", _RESPONSES),
            )
            for _ in range(_TIMES)
        ]
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[_TIMES // 2]


def _report(machine: dict[str, str], timed: dict[str, list[Timed]], served: tuple[float, float]) -> int:
    """Print a table; return 1 if a goal was missed."""
    console = Console(highlight=False)
    console.width = max(console.width, 110)
    console.print("  ".join(f"{name}: {value}" for name, value in machine.items()), soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("ms")
    for heading in ("bytes", "small p50", "p99", "large p50", "p99", "large / small"):
        table.add_column(heading, justify="right")
    for name, (small, large) in timed.items():
        numbers = (1000 * each for each in (small.middle, small.p99, large.middle, large.p99))
        ratio = large.middle / small.middle
        table.add_row(name, f"{large.size:,}", *(f"{number:.1f}" for number in numbers), f"{ratio:.2f}x")
    console.print(table)
    board, plain = served
    console.print(
        f"CPU per response while games are recorded: {1e6 * board:.0f} µs for the leaderboard, "
        f"{1e6 * plain:.0f} µs for a minimal response, so leaderboards are served at "
        f"{plain / board:.2f}x the rate",
        soft_wrap=True,
    )
    missed = list(_missed_goals(timed))
    if plain < SERVED * board:
        missed.append(f"leaderboards are served at less than {SERVED}x the rate of minimal responses")
    for text in missed:
        console.print(f"missed: {text}")
    return 1 if missed else 0


def _missed_goals(timed: dict[str, list[Timed]]) -> Iterator[str]:
    for name, (small, large) in timed.items():
        if large.middle > RATIO * small.middle:
            yield f"{name} takes more than {RATIO:.0f} times as long on the large store"
        if name.startswith("leaderboard") and large.p99 >= P99_SECONDS:
            yield f"1% of the requests for {name} take {1000 * P99_SECONDS:.0f} ms or longer"
        if large.size >= BYTES and not name.startswith("API"):
            yield f"{name} is {large.size:,} bytes long (limit {BYTES:,})"


def _show_progress(what: str) -> None:
    """Show the current measurement on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{what}")
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
