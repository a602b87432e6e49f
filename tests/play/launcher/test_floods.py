"""Bots that flood their connection: each loses its seat, and nothing else is affected.

The bots are plain processes, so that a flood is as fast as this machine allows.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.protocol.faults import Fault
from arena.protocol.match import Clock, MatchRecord
from arena.rules import Rules
from tests.play.launcher import floods, programs
from tests.play.launcher.conftest import Hall, check_choices, faults
from tests.play.referee.lines import last

CLOCK = Clock(start_millis=30_000, move_millis=5_000, bank_millis=10_000)
PEAK_MIB = 200
MAX_PLAYERS = 5
FLOOD = 1
"""The first seat with a flooding bot."""


class Peak:
    """The peak memory of this process's referee, in MiB."""

    mib = 0.0


@contextmanager
def watched() -> Iterator[Peak]:
    """Measure the referee that this process starts inside the ``with`` block."""
    peak, over = Peak(), threading.Event()

    def watch() -> None:
        cmdline: Path | None = None
        while not over.wait(0.02):
            # Scanning all processes is slow: once the referee is found, only its status is read.
            for found in Path("/proc").glob("[0-9]*/cmdline") if cmdline is None else (cmdline,):
                status = _status(found)
                if status.get("PPid") == str(os.getpid()):
                    cmdline = found
                    peak.mib = max(peak.mib, int(status["VmHWM"].removesuffix(" kB")) / 1024)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()


def _status(cmdline: Path) -> dict[str, str]:
    try:
        if b"arena.play.referee" not in cmdline.read_bytes():
            return {}
        lines = cmdline.with_name("status").read_text().splitlines()
    except OSError:
        return {}
    status = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return status if "VmHWM" in status else {}


def play(hall: Hall, *floods_: str) -> MatchRecord:
    """Play a match with these floods after a good bot, and before another one if there is a seat left.

    Check that the good bots have no faults and that the referee's memory stays small.
    """
    programs_ = (programs.GOOD, *floods_, programs.GOOD)[:MAX_PLAYERS]
    with watched() as peak:
        record = hall.play(*programs_, games=2, clock=CLOCK)
    good = {*range(len(programs_))} - {*range(FLOOD, FLOOD + len(floods_))}
    for game in record.games:
        check_choices(Rules(players=len(programs_)), game, dict.fromkeys(good, last))
    assert not any(faults(record, seat) or record.seats[seat].trouble for seat in good)
    assert 10 < peak.mib < PEAK_MIB
    return record


LIMITS = {
    "CONTINUATION": "a CONTINUATION frame (not allowed)",
    "headers": "a HEADERS frame of 14,",
    "frame": "a DATA frame of 16,777,215 bytes (limit 16,384)",
    "WINDOW_UPDATE": "273 WINDOW_UPDATE frames (limit 272)",
    "PING": "265 PING frames (limit 264)",
    "SETTINGS": "265 SETTINGS frames (limit 264)",
    "PRIORITY": "65 PRIORITY frames (limit 64)",
    "empty DATA": "65 empty DATA frames (limit 64)",
    "resets": "33 RST_STREAM frames (limit 32)",
    "4 GiB": "a message of 4,294,967,295 bytes (limit 16,384)",
    "compressed": "a compressed message (not allowed)",
}
LIMITS_BEFORE_HELLO = {
    **{name: LIMITS[name] for name in ("CONTINUATION", "headers", "resets")},
    "PING": "257 PING frames (limit 256)",
}
FLOODS = {
    **{f"{name}, then": (floods.AFTER_HELLO[name], limit) for name, limit in LIMITS.items()},
    **{f"{name}, at once": (floods.BEFORE_HELLO[name], limit) for name, limit in LIMITS_BEFORE_HELLO.items()},
}
"""Bots, each with the limit that it exceeds. Those named "then" first greet and receive a request."""


# test_frames.py tests all limits without bots, and tests/sandbox/hostile some of them with bots.
@pytest.mark.soak
@pytest.mark.parametrize(
    "names", [tuple(sorted(FLOODS))[start : start + 4] for start in range(0, len(FLOODS), 4)], ids="; ".join
)
def test_exceeding_a_limit_of_the_channel_is_a_crash_that_names_it(
    process_hall: Hall, names: tuple[str, ...]
) -> None:
    """The bot loses its seat at its first decision. The other bots aren't affected."""
    record = play(process_hall, *(FLOODS[name][0] for name in names))
    for seat, name in enumerate(names, FLOOD):
        assert faults(record, seat, 0) == [Fault.CRASH]
        assert f"its stream was ended because it broke the channel's limits: {FLOODS[name][1]}" in (
            record.seats[seat].trouble or ""
        )


@pytest.mark.soak
def test_endless_messages_expel_a_bot(process_hall: Hall) -> None:
    """Endless messages break the protocol, not the channel's limits, so they are protocol faults.

    A bot that uses gRPC's library sends more slowly, so it may lose its seat by three faults before that.
    """
    words = {
        "empty messages": "more than 18 messages for 1 request",
        "3,200 stray moves": " for 1 request",
        "stray moves": "more than ",
    }
    sent = [floods.AFTER_HELLO[name] for name in words]
    record = play(process_hall, *sent, floods.MESSAGES_BY_THE_LIBRARY)
    for seat, text in enumerate(words.values(), FLOOD):
        assert_protocol_faults(record, seat)
        assert text in (record.seats[seat].trouble or "")
    assert_protocol_faults(record, FLOOD + len(words))


def assert_protocol_faults(record: MatchRecord, seat: int) -> None:
    """Check that the seat has faults, and that all are protocol faults or an expulsion."""
    got = faults(record, seat, 0)
    assert got
    assert set(got) <= {Fault.PROTOCOL, Fault.EXPELLED}
