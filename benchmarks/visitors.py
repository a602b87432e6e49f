"""``python -m benchmarks.visitors``: do people who watch slow the ladder down?

Starts an arena whose bots run as plain processes, which makes games cheap and so the visitors' share large,
and its site. In every other half minute, visitors open the front page, the leaderboard and a running game in
turn, and ask for news of the game as the viewer's script does. Prints, for each pair of half minutes, the
games played and the arena's CPU time per game with visitors relative to without. The site's own CPU time
isn't part of it and is printed per visitor. Exits with 1 if the median CPU time misses the goal.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import httpx2

from arena.db.store import Store, open_store
from benchmarks.served import cpu_of_tree
from benchmarks.submission import await_that, running, site

GOAL: Final = 1.03
"""Maximum CPU time of the arena per game with visitors, relative to without."""
_VISITORS: Final = 20
_SECONDS: Final = 30.0
_WARM_UP_SECONDS: Final = 30.0
_ASKS: Final = 5
"""Requests for news of a game before a visitor goes to another page."""
_ASK_SECONDS: Final = 4.0
"""Seconds between two requests for news, as in web/static/polling.js."""


class Window(NamedTuple):
    """What happened in half a minute."""

    games: int
    arena: float  # CPU seconds of the arena's processes
    site: float  # CPU seconds of the site


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.visitors", description="Measure the ladder.")
    parser.add_argument("--pairs", type=int, default=8, help="how many pairs of half minutes to measure")
    pairs: int = parser.parse_args().pairs
    speeds, costs, visits = [], [], []
    with _arena() as (store, address, arena, web):
        time.sleep(_WARM_UP_SECONDS)
        for number in range(pairs):
            windows = {}
            for visited in (True, False) if number % 2 else (False, True):
                with _visitors(address if visited else None):
                    windows[visited] = _window(store, arena, web)
            alone, watched = windows[False], windows[True]
            speeds.append(watched.games / alone.games)
            costs.append((watched.arena / watched.games) / (alone.arena / alone.games))
            visits.append((watched.site - alone.site) / _VISITORS / _SECONDS)
            print(
                f"{alone.games} games without visitors, {watched.games} with {_VISITORS}: {speeds[-1]:.3f}x; "
                f"the arena's CPU per game {costs[-1]:.3f}x; "
                f"the site's CPU per visitor {1000 * visits[-1]:.1f} ms/s",
                flush=True,
            )
    cost = statistics.median(costs)
    print(
        f"median: games {statistics.median(speeds):.3f}x, CPU per game {cost:.3f}x, "
        f"site {1000 * statistics.median(visits):.1f} ms/s per visitor"
    )
    print(f"goal {GOAL}x: {'met' if cost <= GOAL else 'MISSED'}")
    return 0 if cost <= GOAL else 1


@contextmanager
def _arena() -> Iterator[tuple[Store, str, int, int]]:
    """Yield a store, the site's address, the ids of the arena's first process and the site's."""
    folder = Path(tempfile.mkdtemp(prefix="kaiten-v-"))
    environment = {
        **os.environ,
        "ARENA_DATA_DIR": str(folder / "data"),
        "ARENA_RUN_DIR": str(folder / "run"),
        "ARENA_SANDBOX": "process",
        "ARENA_LOG_LEVEL": "error",
        "ARENA_ANALYSIS_PLAYOUTS": "0",  # they take whatever time is left
    }
    file = folder / "data" / "arena.sqlite3"
    try:
        with running(environment, "-m", "arena", "coordinator") as arena:
            await_that(file.exists, "a database")
            with closing(open_store(f"sqlite:///{file}")) as store:
                await_that(lambda: store.activity.totals().games > 0, "a game between house bots")
                with site(environment) as (web, address):
                    yield store, address, arena.pid, web.pid
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _window(store: Store, arena: int, web: int) -> Window:
    games, cpu, served = store.activity.totals().games, cpu_of_tree(arena), cpu_of_tree(web)
    time.sleep(_SECONDS)
    window = Window(
        store.activity.totals().games - games, cpu_of_tree(arena) - cpu, cpu_of_tree(web) - served
    )
    if not window.games:
        sys.exit("no game ended in half a minute: other work keeps this host too busy to measure")
    return window


@contextmanager
def _visitors(address: str | None) -> Iterator[None]:
    """Let visitors use the site; none without an address."""
    over = threading.Event()
    threads = [
        threading.Thread(target=_visit, args=(address, over, number))
        for number in range(_VISITORS)
        if address
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _visit(address: str, over: threading.Event, number: int) -> None:
    """Go from page to page until it is over. Visitors come one after the other."""
    over.wait(number * _ASK_SECONDS / _VISITORS)
    with httpx2.Client(base_url=address, follow_redirects=True, timeout=60) as browser:
        while not over.is_set():
            for page in ("/", "/leaderboard"):
                browser.get(page)
                over.wait(_ASK_SECONDS)
            game = str(browser.get("/tv").url)
            browser.get(game.partition("?")[0].partition("#")[0].rsplit("/", 2)[0] + "/frames.json")
            for _ in range(_ASKS):
                if not over.wait(_ASK_SECONDS):
                    browser.head(game)


if __name__ == "__main__":
    sys.exit(main())
