"""The public replay of a game, ``sushigo-replay/1``: write it, read it, check it.

    line = encode(build(game=..., seed=..., state=state, seats=..., places=...))
    difference = verify(parse(line))    # None where the rules agree with all of it
    steps = course(parse(line))         # what lay where in each turn

docs/replay.md describes the format.
"""

from arena.replay.build import build
from arena.replay.course import Step, course, course_so_far
from arena.replay.disclosed import (
    DISCLOSED_FORMAT,
    DisclosedGame,
    LiveSeat,
    disclose,
    encode_disclosed,
    parse_disclosed,
)
from arena.replay.document import FORMAT, InvalidReplay, PublicReplay, Seat, encode, is_json, parse
from arena.replay.verify import Difference, verify

__all__ = [
    "DISCLOSED_FORMAT",
    "FORMAT",
    "Difference",
    "DisclosedGame",
    "InvalidReplay",
    "LiveSeat",
    "PublicReplay",
    "Seat",
    "Step",
    "build",
    "course",
    "course_so_far",
    "disclose",
    "encode",
    "encode_disclosed",
    "is_json",
    "parse",
    "parse_disclosed",
    "verify",
]
