"""Measure the processor time that a visitor takes from the ladder: ``python -m benchmarks.visitors``.

Starts an arena and its site. Visitors open the front page, the leaderboard and a game in progress in turn,
and poll the game for updates as the viewer's script does. The arena itself does no additional work for
visitors, so their only cost to the ladder is the time of the site's process.
"""

import argparse
import os
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

import httpx2

from benchmarks.processes import run_arena, run_site
from benchmarks.served import cpu_of

_VISITORS: Final = 20
_ASKS: Final = 5
"""Requests for updates of a game before a visitor goes to another page."""
_ASK_SECONDS: Final = 4.0
"""Seconds between two requests for updates, as in web/static/polling.js."""
_WARM_SECONDS: Final = 4 * _ASK_SECONDS
"""Time to open every page once, because a process compiles each template at its first use."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.visitors",
        description="Measure the processor time that a visitor takes from the ladder.",
    )
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="length of each measurement (default: %(default)s)"
    )
    seconds: float = parser.parse_args().seconds
    with (
        run_arena(ARENA_SANDBOX="process", ARENA_LOG_LEVEL="error") as arena,
        run_site(arena.environment) as (process, address),
    ):
        with _visitors(address):
            time.sleep(_WARM_SECONDS)
        quiet = _share(process, seconds)
        with _visitors(address):
            visited = _share(process, seconds)
    each = (visited - quiet) / _VISITORS
    print(f"the site without visitors: {1000 * quiet:.1f} ms of CPU per second")
    print(f"with {_VISITORS} visitors: {1000 * visited:.1f} ms, so {1000 * each:.1f} ms per visitor")
    print(
        f"{_VISITORS} visitors take {100 * _VISITORS * each / (os.cpu_count() or 1):.1f} % of the processors"
    )


def _share(process: int, seconds: float) -> float:
    """Return the CPU seconds that a process uses per second."""
    before, begin = cpu_of(process), time.monotonic()
    time.sleep(seconds)
    return (cpu_of(process) - before) / (time.monotonic() - begin)


@contextmanager
def _visitors(address: str) -> Iterator[None]:
    """Simulate visitors within the context; then raise the first error that any of them had."""
    over = threading.Event()
    with ThreadPoolExecutor(_VISITORS) as pool:
        visits = [pool.submit(_visit, address, over, number) for number in range(_VISITORS)]
        try:
            yield
        finally:
            over.set()
    for visit in visits:
        visit.result()


def _visit(address: str, over: threading.Event, number: int) -> None:
    """Open pages until the event is set. Visitors start one after another."""
    over.wait(number * _ASK_SECONDS / _VISITORS)
    home = httpx2.HTTPTransport(local_address=f"127.0.4.{1 + number}")
    with httpx2.Client(base_url=address, follow_redirects=True, timeout=60, transport=home) as browser:
        while not over.is_set():
            for page in ("/", "/leaderboard"):
                browser.get(page).raise_for_status()
                over.wait(_ASK_SECONDS)
            game = browser.get("/tv").raise_for_status()
            if frames := re.search(r'data-frames="([^"]+)"', game.text):
                browser.get(frames[1])
            etag = game.headers.get("ETag", "")
            for _ in range(_ASKS):
                if over.wait(_ASK_SECONDS):
                    break
                news = browser.get(game.url, headers={"If-None-Match": etag}, follow_redirects=False)
                if news.is_redirect:  # the game is over
                    break
                etag = news.headers.get("ETag", etag)


if __name__ == "__main__":
    main()
