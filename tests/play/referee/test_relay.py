"""The relay measures when bytes reach the bot: delays of the referee don't count against the bot."""

import asyncio
import itertools
import os
import platform
import select
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

from arena.play.referee.clock import RefereeClock
from arena.play.referee.frames import PREFACE, Breach, SendBudget
from arena.play.referee.relay import SO_PASSRIGHTS, Relay, listen
from tests.folders import short_folder
from tests.patience import WAIT_SECONDS, wait_until
from tests.play.referee.lines import waits_in_splice
from tests.play.referee.wire import DATA, GOAWAY, PING, SETTINGS, frame

knows_splice = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the test knows the number of splice only on x86_64"
)

FILLING = frame(DATA, bytes(16384), call=1)
REQUEST = frame(DATA, b"request", call=1)
OTHERS = frame(GOAWAY, bytes(8)) + frame(PING, bytes(8)) + frame(DATA, call=1)


class Watcher:
    """A watcher of a relay in which nothing goes wrong."""

    def breached(self, breach: Breach) -> None:
        """Fail."""
        raise breach

    def failed(self, error: Exception) -> None:
        """Fail."""
        raise error


class BreachWatcher(Watcher):
    """A watcher of a relay whose bot exceeds its limits."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def breached(self, breach: Breach) -> None:
        """Note the reason."""
        self.reasons.append(breach.why)


@pytest.mark.parametrize("reads", [True, False], ids=["reads", "lets bytes wait"])
def test_only_the_referees_own_delay_is_excused(*, reads: bool) -> None:
    """The referee's delay of a request is excused, unless the bot has stopped reading.

    Otherwise such a bot could think at no cost: its request would wait in the relay and look late.
    """
    with short_folder() as folder:
        told, seconds = asyncio.run(_told_after_a_pause(folder, reads=reads))
    assert (told >= seconds) is reads  # equal if the clock has stopped for a pause in between


async def _told_after_a_pause(folder: Path, *, reads: bool) -> tuple[float, float]:
    """Send a bot more than it can hold, and then a request.

    Returns the time at which bytes of the request went to the bot, and the time at which it was made.
    """
    now = RefereeClock(time.monotonic, lambda: 0.0)
    async with _connected(folder, now) as (relay, bot, writer):
        sent = await _fill(writer, relay)  # the bot hasn't read anything so far
        if reads:
            await _read(bot, sent)
        relay.expect_message()
        made = now()
        # A bot can make the server send other frames at a time of its choice.
        writer.write(OTHERS)
        await _read(bot, len(OTHERS) + (0 if reads else sent))
        assert relay.sent_at < made
        writer.write(REQUEST)
        await _read(bot, len(REQUEST))
        told = relay.sent_at
    return told, made


@asynccontextmanager
async def _connected(
    folder: Path, now: RefereeClock, watcher: Watcher | None = None
) -> AsyncIterator[tuple[Relay, socket.socket, asyncio.StreamWriter]]:
    """Yield a relay, the socket of a bot that is connected through it, and the server's end."""
    served: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()
    server = await asyncio.start_unix_server(
        lambda _, writer: served.put_nowait(writer), folder / "inner.sock"
    )
    watcher = watcher or Watcher()
    relay = Relay(listen(folder / "bot.sock"), folder / "inner.sock", SendBudget(), watcher, now)
    relay.open()
    with socket.socket(socket.AF_UNIX) as bot:
        bot.setblocking(False)  # noqa: FBT003 - the function's own signature
        loop = asyncio.get_running_loop()
        await loop.sock_connect(bot, str(folder / "bot.sock"))
        await loop.sock_sendall(bot, PREFACE + frame(SETTINGS))
        writer = await asyncio.wait_for(served.get(), WAIT_SECONDS)
        yield relay, bot, writer
    writer.close()
    relay.close_connections()
    server.close()


async def _fill(writer: asyncio.StreamWriter, relay: Relay) -> int:
    """Send until bytes for the bot wait in the relay; return the number of bytes."""
    sent = 0
    while not relay._blocked:  # noqa: SLF001 - nothing else shows it
        writer.write(FILLING)
        sent += len(FILLING)
        await asyncio.sleep(0)
    return sent


async def _read(bot: socket.socket, size: int) -> None:
    loop = asyncio.get_running_loop()
    while size:
        piece = await asyncio.wait_for(loop.sock_recv(bot, size), WAIT_SECONDS)
        assert piece
        size -= len(piece)


def test_a_bot_that_still_writes_at_the_end_reads_everything() -> None:
    """After the server has closed its side, the bot can write without an error until it closes its own."""
    with short_folder() as folder:
        asyncio.run(_written_after_the_end(folder))


async def _written_after_the_end(folder: Path) -> None:
    loop = asyncio.get_running_loop()
    async with _connected(folder, RefereeClock(time.monotonic, lambda: 0.0)) as (relay, bot, writer):
        writer.write(REQUEST)
        writer.close()
        await _read(bot, len(REQUEST))
        assert await asyncio.wait_for(loop.sock_recv(bot, 1), WAIT_SECONDS) == b""
        for _ in range(3):
            await loop.sock_sendall(bot, frame(PING, bytes(8)))
        closed = asyncio.create_task(relay.wait_closed())
        assert not (await asyncio.wait([closed], timeout=0))[0]
        bot.close()
        await asyncio.wait_for(closed, WAIT_SECONDS)


@knows_splice
def test_a_file_that_is_slow_to_close_delays_only_its_sender() -> None:
    """A bot passes an end of a pipe whose lock it holds. The last close waits for that lock."""
    with short_folder() as folder:
        asyncio.run(_carried_while_a_close_waits(folder))


async def _carried_while_a_close_waits(folder: Path) -> None:
    served: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()
    server = await asyncio.start_unix_server(
        lambda _, writer: served.put_nowait(writer), folder / "inner.sock"
    )
    now = RefereeClock(time.monotonic, lambda: 0.0)
    relays = [_accepting_files(folder, name, now) for name in ("slow", "other")]
    with (
        socket.socket(socket.AF_UNIX) as slow,
        socket.socket(socket.AF_UNIX) as other,
        _locked_pipe() as (end, unlock),
    ):
        slow.connect(str(folder / "slow"))
        other.connect(str(folder / "other"))
        socket.send_fds(slow, [PREFACE], [end])
        os.close(end)
        await asyncio.to_thread(wait_until, lambda: relays[0].received_at > 0, "the file")
        other.send(PREFACE)
        writer = await asyncio.wait_for(served.get(), WAIT_SECONDS)
        relays[0].close_connections()
        await asyncio.to_thread(unlock)
        relays[1].close_connections()
        await relays[1].wait_closed()
        assert slow.recv(1) == b""
        assert served.empty()
    writer.close()
    server.close()


def _accepting_files(folder: Path, name: str, now: RefereeClock) -> Relay:
    """Return an open relay whose socket accepts files, as all sockets do before Linux 6.16."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    listening.bind(str(folder / name))
    listening.listen()
    relay = Relay(listening, folder / "inner.sock", SendBudget(), Watcher(), now)
    relay.open()
    return relay


@contextmanager
def _locked_pipe() -> Iterator[tuple[int, Callable[[], None]]]:
    """Yield one end of a pipe, whose last close waits for a lock, and a function that releases the lock."""
    (empty, fill), (end, locked) = socket.socketpair(), os.pipe()
    # Holds the pipe's lock until a byte arrives.
    holder = threading.Thread(target=os.splice, args=(empty.fileno(), locked, 1), daemon=True)
    holder.start()
    wait_until(lambda: waits_in_splice(holder), "the pipe's lock")

    def unlock() -> None:
        assert holder.is_alive()
        fill.send(b"x")
        holder.join()

    with empty, fill:
        yield end, unlock
    os.close(locked)


@knows_splice
def test_what_arrives_while_a_close_waits_is_late() -> None:
    """A bot gains no time by sending a part of an answer while the relay closes a file that it has passed."""
    with short_folder() as folder:
        asyncio.run(_second_part_while_a_close_waits(folder))


async def _second_part_while_a_close_waits(folder: Path) -> None:
    served: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    server = await asyncio.start_unix_server(
        lambda *streams: served.put_nowait(streams), folder / "inner.sock"
    )
    now = RefereeClock(time.monotonic, lambda: 0.0)
    relay = _accepting_files(folder, "bot", now)
    with socket.socket(socket.AF_UNIX) as bot, _locked_pipe() as (end, unlock):
        bot.connect(str(folder / "bot"))
        socket.send_fds(bot, [PREFACE[:1]], [end])
        os.close(end)
        await asyncio.to_thread(wait_until, lambda: relay.received_at > 0, "the file")
        first = relay.received_at
        bot.send(PREFACE[1:])
        await asyncio.to_thread(unlock)
        reader, writer = await asyncio.wait_for(served.get(), WAIT_SECONDS)
        assert await reader.readexactly(len(PREFACE)) == PREFACE
        assert relay.received_at > first
        relay.close_connections()
        await relay.wait_closed()
    writer.close()
    server.close()


def test_a_bot_that_makes_reads_slow_gains_no_time() -> None:
    """Reading each byte wakes thousands of epolls: the clock stops meanwhile, until the limit is reached."""
    with short_folder() as folder:
        reasons, held_up, in_thread = asyncio.run(_read_slowly(folder))
    assert "processor time" in reasons[0]
    assert in_thread or held_up > 0.3


async def _read_slowly(folder: Path) -> tuple[list[str], float, bool]:
    """Send bytes until the relay reads no more.

    Returns the reasons, for how many seconds the clock didn't run, and whether another thread read them.
    """
    watcher = BreachWatcher()
    clock = RefereeClock(time.monotonic, lambda: 0.0)
    async with _connected(folder, clock, watcher) as (relay, bot, _):
        with ExitStack() as stack:
            copies = [stack.enter_context(bot.dup()) for _ in range(200)]
            epolls = [stack.enter_context(select.epoll()) for _ in range(200)]
            for epoll, copy in itertools.product(epolls, copies):
                epoll.register(copy, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
            pings, sent = frame(PING, bytes(8)) * 250, 0
            async with asyncio.timeout(WAIT_SECONDS):
                while not watcher.reasons:
                    with suppress(BlockingIOError):
                        sent += bot.send(pings[sent : sent + 1])
                    await asyncio.sleep(0)
    return watcher.reasons, clock.held_up, relay.can_receive_files


def test_packets_are_read_one_at_a_time() -> None:
    """A read takes no more than one packet, or a page of it. Each packet wakes what waits for the sender."""
    with short_folder() as folder:
        assert asyncio.run(_packets(folder)) == [1, 1, 3000, 1, b""]


async def _packets(folder: Path) -> list[object]:
    async with _connected(folder, RefereeClock(time.monotonic, lambda: 0.0)) as (relay, _, _):
        sender, receiver = socket.socketpair()
        with receiver:
            with sender:
                for size in (1, 1, 3000, 1):
                    sender.send(bytes(size))
            return [*(len(relay.receive(receiver)) for _ in range(4)), relay.receive(receiver)]


def test_bots_can_not_pass_open_files() -> None:
    """A bot can't pass open files, before its connection is accepted or after. On other sockets it could."""
    with short_folder() as folder, socket.socket(socket.AF_UNIX) as usual:
        usual.bind(f"{folder}/usual.sock")
        usual.listen()
        assert _passed(usual)
        with listen(folder / "bot.sock") as listening:
            try:
                listening.getsockopt(socket.SOL_SOCKET, SO_PASSRIGHTS)
            except OSError:
                pytest.skip("Linux before 6.16 can't refuse open files")
            assert not _passed(listening)


def _passed(listening: socket.socket) -> bool:
    """Try to pass an open file before and after the connection is accepted."""
    listening.setblocking(True)  # noqa: FBT003 - the function's own signature
    with socket.socket(socket.AF_UNIX) as bot:
        bot.connect(listening.getsockname())
        early = _passes(bot)
        accepted, _ = listening.accept()
        with accepted:
            assert _passes(bot) is early
    return early


def _passes(bot: socket.socket) -> bool:
    try:
        return socket.send_fds(bot, [b"x"], [bot.fileno()]) == 1
    except PermissionError:
        return False
