"""Measure how soon Chromium paints each page while games are recorded: ``python -m benchmarks.paint``.

Creates a store (:mod:`benchmarks.crowd`), serves it with a single-process site, and records 240 games per
minute in it. Opens every public page at the size of a phone and of a desktop, each time in a new browser
profile, so that nothing is cached. The times are the browser's own, from the start of the navigation to the
first contentful paint. Exits with 1 if a page misses the goal.
"""

import argparse
import sys
from contextlib import ExitStack
from statistics import median
from typing import Final
from urllib.request import urlopen

from playwright.sync_api import Browser
from rich.console import Console
from rich.table import Table

from benchmarks.crowd import Crowd
from benchmarks.pages import made, recording, served
from benchmarks.report import describe_machine
from tests.browser.chromium import find_chromium
from tests.browser.visits import Windows, chromium

SECONDS: Final = 1.0
"""Maximum median time to a page's first contentful paint."""
CROWD: Final = Crowd(bots=100, games=84)
"""The store's first bots and games. These games are actually played, so each can be watched."""
_SIZES: Final = ("phone", "desktop")
Times = dict[str, dict[str, list[float]]]
"""Seconds to the first paint, by page and size."""
_FIRST_PAINT: Final = """() => new Promise(resolve => new PerformanceObserver((list, observer) => {
  const [entry] = list.getEntriesByName("first-contentful-paint");
  if (entry) { observer.disconnect(); resolve(entry.startTime / 1000); }
}).observe({type: "paint", buffered: true}))"""


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paint",
        description="Measure how soon Chromium paints each page while games are recorded.",
    )
    parser.add_argument(
        "--times", type=int, default=10, help="visits per page and size (default: %(default)s)"
    )
    options = parser.parse_args()
    program = find_chromium()
    if program is None:
        parser.error("Chromium is not installed. On Debian: apt-get install chromium-headless-shell")
    with ExitStack() as stack:
        folder = made(stack, CROWD)
        site = stack.enter_context(served(folder))
        browser = stack.enter_context(chromium(program))
        machine = describe_machine("none")
        pages = {name: path for name, path in site.paths.items() if _is_html(site.url + path)}
        _open_all(browser, site.url, pages, 1)  # the first visit is not measured
        stack.enter_context(recording(folder))
        timed = _open_all(browser, site.url, pages, options.times)
    return _report(machine, timed)


def _is_html(address: str) -> bool:
    with urlopen(address) as answer:  # noqa: S310 - our own site
        return bool(answer.headers.get_content_type() == "text/html")


def _open_all(browser: Browser, url: str, pages: dict[str, str], times: int) -> Times:
    """Open each page this many times at each size."""
    timed: Times = {name: {size: [] for size in _SIZES} for name in pages}
    for _ in range(times):
        for name, path in pages.items():
            for size in _SIZES:
                windows = Windows(browser)
                visit = windows.open(url, size, "light")
                visit.open(path)
                timed[name][size].append(float(visit.page.evaluate(_FIRST_PAINT)))
                windows.close()
    return timed


def _report(machine: dict[str, str], timed: Times) -> int:
    """Print a table; return 1 if a page missed the goal."""
    console = Console(highlight=False)
    console.print("  ".join(f"{name}: {value}" for name, value in machine.items()), soft_wrap=True)
    table = Table("ms to first paint")
    for size in _SIZES:
        table.add_column(f"{size} median", justify="right")
        table.add_column("slowest", justify="right")
    for name, sizes in timed.items():
        table.add_row(
            name, *(f"{1000 * value:.0f}" for each in sizes.values() for value in (median(each), max(each)))
        )
    console.print(table)
    missed = [name for name, sizes in timed.items() if any(median(each) > SECONDS for each in sizes.values())]
    for name in missed:
        console.print(f"missed: {name} takes longer than {SECONDS:g} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
