"""A local table: the referee waits at an address for one program. Bots in this process take the other seats.

There is no time limit, so a debugger may stop the program anywhere.
"""

import asyncio
import errno
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.platform.cpu_time import OwnRunDelay
from arena.play.referee.clock import RefereeClock
from arena.play.referee.conductor import Conductor
from arena.play.referee.frames import MAX_CONNECTIONS
from arena.play.referee.grpc_player import Encoder, GrpcPlayer
from arena.play.referee.match import RefereedMatch
from arena.play.referee.player import (
    DecisionRequested,
    Event,
    Hello,
    Listener,
    Lost,
    PlayerAnswer,
    SeatPlayer,
)
from arena.play.referee.relay import listen
from arena.protocol.faults import Fault
from arena.protocol.match import Clock
from arena.rules import Rules
from arena.sdk.bot import Bot, Chooser, as_move, new_chooser

_DAY_MILLIS: Final = 24 * 60 * 60 * 1000
_UNTIMED: Final = Clock(start_millis=_DAY_MILLIS, move_millis=_DAY_MILLIS, bank_millis=0)
_PORTS: Final = range(1, 65_536)

ProgramMessage = Hello | Lost | Sequence[PlayerAnswer]
"""A message from the program, or its disconnection."""


class WrongAddress(ValueError):
    """The referee can't listen on this address. The message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalTable:
    """The games to referee, and their players."""

    rules: Rules
    seeds: tuple[str, ...]  # one per game, 32 hexadecimal digits
    seat: int  # the program's seat
    others: tuple[Bot, ...]  # bots in the other seats, in order


class LocalAddress:
    """The address that a program connects to: ``unix:PATH``, or ``tcp:PORT`` on this machine only.

    Raises WrongAddress if it is neither, or the referee can't listen on it.
    """

    def __init__(self, text: str) -> None:
        kind, _, place = text.partition(":")
        self._path = Path(place).absolute() if kind == "unix" and place else None
        try:
            if self._path is not None:
                _remove_unused(self._path)
                self.socket = listen(self._path)
                self.target = f"unix://{self._path}"
            elif kind == "tcp" and place.isdecimal() and int(place) in _PORTS:
                self.socket = socket.create_server(("127.0.0.1", int(place)), backlog=MAX_CONNECTIONS)
                self.socket.setblocking(False)  # noqa: FBT003 - the library's signature
                self.target = f"127.0.0.1:{place}"
            else:
                raise WrongAddress(f"{text} is not an address: give unix:PATH or tcp:PORT")
        except OSError as error:
            raise WrongAddress(f"can't listen on {text}: {error.strerror or error}") from error

    def close(self) -> None:
        """Stop listening."""
        self.socket.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def _remove_unused(path: Path) -> None:
    """Remove a socket that a killed process left behind. Raises OSError."""
    # A datagram socket can't connect to a process that is listening, so it doesn't disturb one.
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        if probe.connect_ex(str(path)) == errno.ECONNREFUSED and path.is_socket():
            path.unlink()


async def referee(
    table: LocalTable,
    address: LocalAddress,
    waits: Callable[[], object],
    on_sent: Callable[[Sequence[Event]], object],
    on_received: Callable[[ProgramMessage], object],
) -> None:
    """Wait for a program, and play the games with it.

    ``waits`` is called as soon as Ctrl-C can stop the referee cleanly. ``on_sent`` receives the events sent
    to the program, and ``on_received`` receives the program's messages, both in order. Raises Interrupted.
    """
    waits()
    folder = Path(tempfile.mkdtemp(prefix="kaiten-r-"))  # short: a socket's path is limited to 107 bytes
    encoder = Encoder()
    now = RefereeClock(time.monotonic, OwnRunDelay())
    program = _Program(address.socket, folder / "inner", encoder, now)
    program.on_sent, program.on_received = on_sent, on_received
    players: list[SeatPlayer] = [_CalledPlayer(bot) for bot in table.others]
    players.insert(table.seat, program)
    match = RefereedMatch(table.rules, table.seeds, _UNTIMED)
    conductor = Conductor(match, players, start_seconds=_DAY_MILLIS / 1000, now=now)
    try:
        await conductor.open()
        await conductor.run()
    except BaseException:
        await program.close("the referee was stopped")
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Interrupted(Exception):
    """SIGINT, SIGTERM or SIGHUP interrupted a bot."""


class _Program(GrpcPlayer):
    """A program whose events and messages are reported."""

    on_sent: Callable[[Sequence[Event]], object]
    on_received: Callable[[ProgramMessage], object]

    async def open(self, seat: int, listener: Listener) -> None:
        """Start the server. The listener and ``on_received`` both receive the program's messages."""
        await super().open(seat, _ReportingListener(listener, self.on_received))

    def send(self, events: Sequence[Event]) -> None:
        self.on_sent(events)
        super().send(events)


class _ReportingListener:
    """A listener that also passes its messages to ``on_received``."""

    def __init__(self, listener: Listener, on_received: Callable[[ProgramMessage], object]) -> None:
        self._listener = listener
        self._on_received = on_received
        self.failed = listener.failed

    def greeted(self, seat: int, hello: Hello) -> None:
        self._on_received(hello)
        self._listener.greeted(seat, hello)

    def answered(self, seat: int, answers: Sequence[PlayerAnswer], lag: float = 0.0) -> None:
        self._on_received(answers)
        self._listener.answered(seat, answers, lag)

    def lost(self, seat: int, lost: Lost) -> None:
        self._on_received(lost)
        self._listener.lost(seat, lost)


class _CalledPlayer:
    """A player whose bot runs in this process. If the bot is a class, each game gets a new instance."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._choosers: dict[int, Chooser] = {}
        self._seat = 0
        self._listener: Listener | None = None

    async def open(self, seat: int, listener: Listener) -> None:
        """Send Hello as soon as the loop is running."""
        self._seat, self._listener = seat, listener
        asyncio.get_running_loop().call_soon(listener.greeted, seat, Hello(1, "in-process"))

    def send(self, events: Sequence[Event]) -> None:
        """Schedule the answers, so that they come after this call has returned."""
        for event in events:
            if isinstance(event, DecisionRequested):
                asyncio.get_running_loop().call_soon(self._answer, event)

    def dismiss(self, lost: Lost) -> None:
        """Do nothing: there is no connection to close."""

    async def close(self, void: str | None = None) -> None:
        """Do nothing: there is no connection to close."""

    def _answer(self, ask: DecisionRequested) -> None:
        if self._listener is None:
            return
        seen = ask.view
        try:
            with redirect_stdout(sys.stderr):  # the bot's output must not mix with the conversation
                if ask.game not in self._choosers:
                    self._choosers[ask.game] = new_chooser(self._bot)
                move = as_move(self._choosers[ask.game].choose(seen), seen)
        except KeyboardInterrupt:
            # The interruption must not end the loop from here, because gRPC's server couldn't be closed then.
            self._listener.failed(Interrupted())
            return
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the bot's code raises
            self._listener.lost(self._seat, Lost(Fault.CRASH, f"{type(error).__name__}: {error}"))
            return
        self._listener.answered(self._seat, [PlayerAnswer(ask.game, seen.round, seen.turn, move)])
