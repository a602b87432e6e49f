"""Run all measurements several times and print the medians: ``python -m benchmarks``."""

import argparse
import sys
from pathlib import Path
from typing import Final

from arena.platform.settings import WrongSettings, read_settings
from arena.sandbox.runtime import RuntimeFailure
from benchmarks.hall import open_hall
from benchmarks.report import as_json, describe_machine, print_report, summarise
from benchmarks.run import repetition

_REPETITIONS: Final = 3


def main() -> None:
    """Measure and print. Bots run in the sandbox that the setting ``ARENA_SANDBOX`` selects."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure the arena several times, and print the medians."
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="file to write all figures to")
    file: Path | None = parser.parse_args().json
    try:
        with open_hall(read_settings().sandbox) as hall:
            machine = describe_machine(hall.runtime.describe)
            measured = [
                repetition(hall, lambda what, number=number: _tell(f"{number} of {_REPETITIONS}: {what}"))  # type: ignore[misc]
                for number in range(1, _REPETITIONS + 1)
            ]
    except (RuntimeFailure, WrongSettings) as error:
        sys.exit(f"benchmarks: {error}")
    summaries = tuple(summarise(measured))
    print_report(machine, summaries)
    if file is not None:
        file.write_text(as_json(machine, summaries))


def _tell(what: str) -> None:
    """Show the current measurement on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{what}")
        sys.stderr.flush()


if __name__ == "__main__":
    main()
