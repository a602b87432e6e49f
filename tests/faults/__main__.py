"""Run the fault suite (make faults), and print a table of its results.

Each scenario starts an arena of real processes, injects its fault several times while rated matches are
played, and lets the arena finish. Then all rows in the database are counted. The exit code is 1 if a scenario
fails. The same seed repeats bots and deals, and the moments of the faults as exactly as the host allows.
"""

import argparse
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

from tests.faults.catalog import SCENARIOS, Scenario
from tests.faults.processes import orphans_come_here
from tests.faults.tally import Tally, as_json, print_table


def main() -> int:
    """Play the scenarios, print the results, and return the exit code."""
    names = [scenario.name for scenario in SCENARIOS]
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description=__doc__,
        epilog="\n  ".join(("scenarios:", *names)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="SCENARIO", help="scenarios to run (default: all)")
    parser.add_argument(
        "--times", type=int, help="number of faults per scenario (default: the scenario's own)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=None,
        help="seed of bots, deals and the moments of faults (default: random)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="file to write all figures to")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}. Choose from {', '.join(names)}")
    wanted = [scenario for scenario in SCENARIOS if not options.names or scenario.name in options.names]
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    # SIGTERM must end the started processes too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    begun = time.monotonic()
    with orphans_come_here():
        tallies = [_play(scenario, options.times or scenario.times, seed) for scenario in wanted]
    about = {
        "seed": seed,
        "seconds": round(time.monotonic() - begun),
        "cores": len(os.sched_getaffinity(0)),
        "load": [round(value, 1) for value in os.getloadavg()],
    }
    words = ", ".join(f"{name} {value}" for name, value in about.items())
    print_table(tallies, f"Faults: {words}")
    if options.json is not None:
        options.json.write_text(as_json(tallies, about))
    return not all(tally.holds for tally in tallies)


def _play(scenario: Scenario, times: int, seed: int) -> Tally:
    """Play a scenario, and print whether it passed."""
    _say(f"{scenario.name}: {times} times, seed {seed}: {scenario.what}")
    tally = Tally(scenario.name)
    begun = time.monotonic()
    try:
        scenario.play(tally, random.Random(f"{seed} {scenario.name}"), times)  # noqa: S311 - to be repeated
    except Exception as error:  # noqa: BLE001 - the other scenarios are still played
        traceback.print_exc()
        tally.wrong.append(f"it was not played to the end: {error}")
    _say(f"    {'passed' if tally.holds else 'FAILED'}, {time.monotonic() - begun:.0f} s")
    for what in (*tally.notes, *tally.wrong):
        _say(f"    {what}")
    return tally


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - a command writes to its terminal


if __name__ == "__main__":
    sys.exit(main())
