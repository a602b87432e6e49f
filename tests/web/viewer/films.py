"""Games for the viewer's tests."""

from functools import cache
from pathlib import Path

from arena.play.replay.document import encode
from arena.protocol.faults import Fault
from arena.rules import Rules
from tests.play.replay.games import faulty
from tests.soak import many
from web.viewer.film import Film, film

GOLDEN = sorted((Path(__file__).parents[2] / "golden").glob("*.jsonl"))
SOME = GOLDEN[:: many(3, 1)]
"""Golden games: all of them in the soak run, every third otherwise."""


@cache
def golden(file: Path) -> Film:
    """Return the first game in a file of golden games."""
    return film(file.read_text().splitlines()[0])


@cache
def troubled() -> Film:
    """Return a game of three players in which seat 1 has three faults, and seat 0 crashes later."""
    faults = {(0, 1): Fault.TIMEOUT, (2, 1): Fault.ILLEGAL, (5, 1): Fault.TIMEOUT, (7, 0): Fault.CRASH}
    return film(encode(faulty(Rules(players=3), faults)).decode())
