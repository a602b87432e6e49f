"""The referee as a process that drops its privileges."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from arena.platform.cpu_time import CpuFiles
from arena.play.referee.spec import Finished, FromReferee, Listening, RefereeSpec, RoundsOver, Started
from tests.patience import PATIENT_CLOCK, WAIT_SECONDS
from tests.play.referee.lines import BOT, referee_spec

# An audit hook sees every file that Python opens and every module that it imports.
REFEREE = """
import sys
from arena.play.referee import __main__ as process

confine = process._confine

def confined(spec):
    confine(spec)
    sys.addaudithook(lambda event, what: event in ("open", "import") and print(what, file=sys.stderr))

process._confine = confined
process.main()
"""


@contextmanager
def referee_of(*command: str) -> Iterator[tuple["subprocess.Popen[bytes]", RefereeSpec]]:
    """Start a referee with this command; yield it once it is listening."""
    with (
        referee_spec(PATIENT_CLOCK) as spec,
        subprocess.Popen(  # noqa: S603 - our own referee
            [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as referee,
    ):
        assert referee.stdout is not None
        say(referee, msgspec.json.encode(spec))
        assert msgspec.json.decode(referee.stdout.readline(), type=FromReferee) == Listening()
        yield referee, spec


def say(referee: "subprocess.Popen[bytes]", line: bytes) -> None:
    """Write a line to a referee."""
    assert referee.stdin is not None
    referee.stdin.write(line + b"\n")
    referee.stdin.flush()


def test_nothing_is_imported_or_opened_once_privileges_are_gone() -> None:
    """The referee's user may not have access to the files, so a complete match must work without them."""
    with referee_of("-c", REFEREE) as (referee, spec):
        bots = [
            subprocess.Popen(  # noqa: S603 - our own bot
                [sys.executable, "-c", BOT, "last", "1"],
                env={**os.environ, "ARENA_REFEREE": f"unix://{socket}"},
            )
            for socket in spec.sockets
        ]
        for seat in range(2):
            say(referee, msgspec.json.encode(Started(seat, CpuFiles(threads="/nowhere/task"))))
        assert referee.stdout is not None
        said = (msgspec.json.decode(line, type=FromReferee) for line in referee.stdout)
        # On a busy host the referee reports rounds before the match is over.
        finished = next(message for message in said if not isinstance(message, RoundsOver))
        assert [bot.wait(WAIT_SECONDS) for bot in bots] == [0, 0]
        assert isinstance(finished, Finished)
        assert [seat.lost for seat in finished.seats] == [None, None]
        assert referee.stderr is not None
        assert referee.stderr.read().decode() == ""


def test_a_line_that_can_not_be_read_ends_the_match() -> None:
    """The referee exits at an unreadable line, since it couldn't learn which bots were started."""
    with referee_of("-m", "arena.play.referee") as (referee, _):
        say(referee, b"{}")
        assert referee.stdout is not None
        assert referee.stdout.read() == b""
        assert referee.wait(WAIT_SECONDS) == 1
