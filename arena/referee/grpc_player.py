"""A bot that dials in over gRPC on a unix socket of its own."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError
from grpc.aio import EOF

from arena.match import Fault
from arena.referee.allowance import Allowance, Breach
from arena.referee.door import Door
from arena.referee.encoding import Encoder
from arena.referee.events import Ask, Event
from arena.referee.frames import MAX_FRAME_BYTES, MAX_HEADERS_BYTES, MAX_MESSAGE_BYTES
from arena.referee.player import Answer, Hello, Listener, Lost
from arena.wire.convert import move_from_wire
from arena.wire.v1 import referee_pb2 as pb

PROTOCOL: Final = 1
MAX_NOTE_BYTES: Final = 256
MAX_SDK_BYTES: Final = 64
_CLOSE_SECONDS: Final = 1.0
_LEAVE_SECONDS: Final = 0.5

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_concurrent_streams", 2),
    ("grpc.max_metadata_size", MAX_HEADERS_BYTES),
    # Without this one, metadata above the size is refused only now and then; and a client that never
    # acknowledges the settings gets past both. What holds every client is the guard's limit of HEADERS.
    ("grpc.absolute_max_metadata_size", MAX_HEADERS_BYTES),
    # Bit 0 is "no compression": a small message can't become a large one.
    ("grpc.compression_enabled_algorithms_bitset", 1),
    # The library would allow longer frames where a line is fast, and the guard would not.
    ("grpc.http2.max_frame_size", MAX_FRAME_BYTES),
    ("grpc.http2.bdp_probe", 0),
    # The guard counts pings. The library would take a third one in five minutes for an attack.
    ("grpc.http2.max_ping_strikes", 0),
)

_GONE: Final = "the bot ended, closed its stream, or broke the rules of gRPC"
_SERVICE: Final = pb.DESCRIPTOR.services_by_name["Referee"]


class GrpcPlayer:
    """The server of one seat, behind its door.

    Args:
        listening: The socket that the bot dials, from :func:`arena.referee.door.listen`.
        inner: Where to serve; no bot can reach it.
        encoder: Makes messages of events; shared by the seats of a match.
    """

    def __init__(self, listening: socket.socket, inner: Path, encoder: Encoder) -> None:
        self._inner = inner
        self._encoder = encoder
        self.allowance = Allowance()
        self._door = Door(listening, inner, self.allowance, self)
        # Here and not where it serves, because the library imports something for it.
        play: grpc.RpcMethodHandler[bytes, pb.RefereeMessage] = grpc.stream_stream_rpc_method_handler(
            self._play, response_serializer=pb.RefereeMessage.SerializeToString
        )
        self._handlers = grpc.method_handlers_generic_handler(
            _SERVICE.full_name, {_SERVICE.methods[0].name: play}
        )
        self._server: grpc.aio.Server | None = None
        self._seat = 0
        self._listener: Listener | None = None
        self._taken = False
        self._greeted = False
        self._outgoing: list[pb.RefereeMessage] = []
        self._wake = asyncio.Event()
        self._closing = False

    async def open(self, seat: int, listener: Listener) -> None:
        """Serve, and open the door."""
        self._seat, self._listener = seat, listener
        self._server = grpc.aio.server(options=_OPTIONS)
        self._server.add_generic_rpc_handlers((self._handlers,))
        self._server.add_insecure_port(f"unix:{self._inner}")
        await self._server.start()
        await self._door.open()

    def send(self, events: Sequence[Event]) -> None:
        """Queue one message with these events."""
        self.allowance.grant(sum([type(event) is Ask for event in events]))
        self._outgoing.append(self._encoder.message(events))
        self._wake.set()

    async def close(self) -> None:
        """Send what is queued, end the stream and stop serving."""
        self._closing = True
        self._wake.set()
        self._door.close()
        if self._server is not None:
            await self._server.stop(_CLOSE_SECONDS)
        with suppress(TimeoutError):
            async with asyncio.timeout(_LEAVE_SECONDS):
                await self._door.empty()
        self._door.shut()

    def breached(self, breach: Breach) -> None:
        """Give the seat up: its bot went beyond what it may send."""
        self._lose(breach.fault, breach.why)

    def failed(self, error: Exception) -> None:
        """Pass on that the arena's own part did not work, where a seat still needs it."""
        # At the end of a match there is no server any more, and a bot may have dialled in just before.
        if self._listener is not None and not self._closing:
            self._listener.failed(error)

    async def _play(
        self,
        _: object,  # reading and writing through the context is grpc.aio's other form of a handler
        context: grpc.aio.ServicerContext[bytes, pb.RefereeMessage],
    ) -> None:
        """Serve the seat's one stream."""
        if self._taken:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "this seat has a stream already")
        self._taken = True
        reader = asyncio.create_task(self._read(context))
        try:
            await self._write(context)
        except (asyncio.CancelledError, grpc.RpcError, grpc.aio.UsageError):
            # The library cancels this call when the other side has gone.
            self._lose(Fault.CRASH, _GONE)
            raise
        finally:
            reader.cancel()

    async def _write(self, context: grpc.aio.ServicerContext[bytes, pb.RefereeMessage]) -> None:
        while not self._closing or self._outgoing:
            await self._wake.wait()
            self._wake.clear()
            outgoing, self._outgoing = self._outgoing, []
            for message in outgoing:
                await context.write(message)

    async def _read(self, context: grpc.aio.ServicerContext[bytes, pb.RefereeMessage]) -> None:
        try:
            data: Any = await context.read()
            while data is not EOF and self._hear(data):
                data = await context.read()
        except (grpc.RpcError, grpc.aio.InternalError, grpc.aio.UsageError):
            # To the library every way to go is the same.
            data = EOF
        if data is EOF:
            self._lose(Fault.CRASH, _GONE)

    def _hear(self, data: bytes) -> bool:
        """Pass a message on, and tell whether to listen on."""
        if self._listener is None or self._closing:
            return False
        try:
            message = pb.BotMessage.FromString(data)
        except DecodeError:
            self._lose(Fault.CRASH, "a message that can't be decoded")
            return False
        if not self._greeted:
            return self._greet(self._listener, message)
        try:
            self.allowance.moves(len(message.moves))
        except Breach as breach:
            self.breached(breach)
            return False
        broken = "a second Hello" if message.HasField("hello") else None
        answers = [_answer(move, broken) for move in message.moves]
        if broken and not answers:
            answers = [Answer(-1, 0, 0, None, broken=broken)]
        self._listener.answered(self._seat, answers)
        return True

    def _greet(self, listener: Listener, message: pb.BotMessage) -> bool:
        refusal = _greeting_refused(message)
        if refusal is not None:
            self._lose(Fault.EXPELLED, refusal)
            return False
        self._greeted = True
        hello = message.hello
        listener.greeted(self._seat, Hello(max(1, hello.games_at_once), hello.sdk))
        return True

    def _lose(self, fault: Fault, why: str) -> None:
        """Give the seat up and hear nothing more of its bot."""
        if self._listener is not None and not self._closing:
            self._closing = True
            self._outgoing.clear()
            self._wake.set()
            self._listener.lost(self._seat, Lost(fault, why))
            self._door.shut()


def _greeting_refused(message: pb.BotMessage) -> str | None:
    if not message.HasField("hello"):
        return "the first message holds no Hello"
    if message.hello.protocol != PROTOCOL:
        return f"the bot speaks protocol {message.hello.protocol}, this arena {PROTOCOL}"
    if len(message.hello.sdk.encode()) > MAX_SDK_BYTES:
        return f"Hello.sdk has more than {MAX_SDK_BYTES} bytes"
    if message.moves:
        return "the first message holds moves, but nothing has been asked"
    return None


def _answer(message: pb.Move, broken: str | None) -> Answer:
    if len(message.note.encode()) > MAX_NOTE_BYTES:
        broken, note = f"a note of more than {MAX_NOTE_BYTES} bytes", ""
    else:
        note = message.note
    try:
        move = move_from_wire(message)
    except ValueError as error:
        move, broken = None, str(error)
    return Answer(message.game, message.round, message.turn, move, note, broken)
