"""Floods of the channel: each ends its own bot's seat, and nothing else.

The bots are plain processes, so that a flood is as fast as this machine allows.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.protocol.faults import Fault
from arena.protocol.match import Clock, MatchRecord, MatchSpec
from arena.rules import Card, Move, apply, asked, new_game, shuffled_deck, view
from tests.play.launcher import floods, programs
from tests.play.launcher.conftest import Hall

CLOCK = Clock(start_millis=30_000, move_millis=5_000, bank_millis=10_000)
QUICK = Clock(start_millis=15_000, move_millis=1_000, bank_millis=2_000)
PEAK_MIB = 200
FLOOD = 1
"""The seat that floods."""


class Peak:
    """The most memory that a referee of this process has had, in MiB."""

    mib = 0.0


@contextmanager
def watched() -> Iterator[Peak]:
    """Watch the referees that this process starts meanwhile."""
    peak, over = Peak(), threading.Event()

    def watch() -> None:
        while not over.wait(0.01):
            for status in map(_status, Path("/proc").glob("[0-9]*/cmdline")):
                if status.get("PPid") == str(os.getpid()):
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


def check_the_others(spec: MatchSpec, record: MatchRecord, seat: int) -> None:
    """See that every other seat played, without a fault, as it does against these very moves."""
    for game in record.games:
        state = new_game(spec.rules, shuffled_deck(spec.rules, bytes.fromhex(game.seed)))
        for step in game.steps:
            moves: list[Move | None] = [None] * spec.rules.players
            for who in asked(state):
                decision = step[who]
                assert decision is not None
                if who == seat:
                    moves[who] = Move(tuple(_CARDS[label] for label in decision.cards))
                else:
                    moves[who] = move = view(state, who).legal_moves()[-1]
                    assert decision.fault is None
                    assert decision.cards == tuple(card.label for card in move.cards)
            state = apply(state, moves)
        assert state.over


_CARDS = {card.label: card for card in Card}


def play(hall: Hall, program: str, clock: Clock = CLOCK, games: int = 2) -> MatchRecord:
    """Play a match with a flood between two good bots, and see that these and the referee are well."""
    programs_ = (programs.GOOD, program, programs.GOOD)
    spec = hall.spec(*programs_, games=games, clock=clock)
    with watched() as peak:
        record = hall.play(*programs_, games=games, clock=clock)
    check_the_others(spec, record, FLOOD)
    assert [record.seats[0].trouble, record.seats[2].trouble] == [None, None]
    assert 10 < peak.mib < PEAK_MIB
    return record


def faults(record: MatchRecord, game: int = 0) -> list[Fault]:
    """Return the faults of the seat that floods."""
    decisions = [step[FLOOD] for step in record.games[game].steps]
    return [decision.fault for decision in decisions if decision and decision.fault]


LIMITS = {
    "CONTINUATION": "a CONTINUATION frame (none is allowed)",
    "headers": "a HEADERS frame of 14,",
    "frame": "a DATA frame of 16,777,215 bytes (16,384 are allowed)",
    "WINDOW_UPDATE": "273 WINDOW_UPDATE frames (272 are allowed)",
    "PING": "265 PING frames (264 are allowed)",
    "SETTINGS": "265 SETTINGS frames (264 are allowed)",
    "PRIORITY": "65 PRIORITY frames (64 are allowed)",
    "empty DATA": "65 empty DATA frames (64 are allowed)",
    "resets": "33 RST_STREAM frames (32 are allowed)",
    "4 GiB": "a message of 4,294,967,295 bytes (16,384 are allowed)",
    "compressed": "a compressed message (none is allowed)",
}
LIMITS_BEFORE_HELLO = {
    **{name: LIMITS[name] for name in ("CONTINUATION", "headers", "resets")},
    "PING": "257 PING frames (256 are allowed)",
}


@pytest.mark.parametrize("name", LIMITS)
def test_what_the_channel_does_not_allow_is_a_crash_that_names_the_limit(
    process_hall: Hall, name: str
) -> None:
    """The seat is lost at its first decision; nobody else notices, and the referee stays small."""
    record = play(process_hall, floods.AFTER_HELLO[name])
    assert faults(record) == [Fault.CRASH]
    assert f"the channel's limits ended its stream: {LIMITS[name]}" in (record.seats[FLOOD].trouble or "")


@pytest.mark.parametrize(("name", "limit"), LIMITS_BEFORE_HELLO.items(), ids=LIMITS_BEFORE_HELLO)
def test_a_flood_instead_of_a_greeting_is_a_crash(process_hall: Hall, name: str, limit: str) -> None:
    """It does not take the time that there is for a greeting, and one game is played."""
    record = play(process_hall, floods.BEFORE_HELLO[name])
    assert faults(record) == [Fault.CRASH]
    assert f"the channel's limits ended its stream: {limit}" in (record.seats[FLOOD].trouble or "")
    assert len(record.games) == 1


@pytest.mark.parametrize("name", ["undecodable", "bad headers"])
def test_what_gRPC_can_not_read_is_a_crash(process_hall: Hall, name: str) -> None:  # noqa: N802 - its name
    """No matter which finds out, the guard or the library."""
    record = play(process_hall, floods.AFTER_HELLO[name])
    assert faults(record) == [Fault.CRASH]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("empty messages", "more than 18 messages for 1 request"),
        ("3,200 stray moves", " for 1 request"),
        ("stray moves", "more than "),
    ],
)
def test_messages_without_end_expel(process_hall: Hall, name: str, words: str) -> None:
    """It is the protocol that they break, so every fault of the seat is one of the protocol."""
    record = play(process_hall, floods.AFTER_HELLO[name])
    assert_protocol_faults(record)
    assert words in (record.seats[FLOOD].trouble or "")


def test_messages_without_end_by_the_library_break_the_protocol(process_hall: Hall) -> None:
    """It sends more slowly, so three faults may take the seat over before it is expelled."""
    assert_protocol_faults(play(process_hall, floods.MESSAGES_BY_THE_LIBRARY))


def assert_protocol_faults(record: MatchRecord) -> None:
    """See that the seat has faults, and that they are all of the protocol."""
    got = faults(record)
    assert got
    assert set(got) <= {Fault.PROTOCOL, Fault.EXPELLED}


def test_a_bot_that_never_reads_runs_out_of_time(process_hall: Hall) -> None:
    """What it is sent waits for it in a buffer of its own, and three times it does not answer."""
    record = play(process_hall, floods.NEVER_READS, clock=QUICK)
    assert faults(record) == [Fault.TIMEOUT] * 3


def test_a_thousand_connections_have_no_effect(process_hall: Hall) -> None:
    """The connection in play goes on; 64 were taken in all, and most of these closed at once."""
    record = play(process_hall, floods.MANY_CONNECTIONS)
    assert [faults(record, game) for game in range(2)] == [[], []]
    assert record.seats[FLOOD].trouble is None
    refused = int(record.seats[FLOOD].stderr.split("refused:")[1].split()[0])
    assert refused > 900
