"""A bot that dials in over gRPC on a unix socket of its own."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import grpc
from grpc.aio import EOF

from arena.match import Fault
from arena.referee.encoding import Encoder
from arena.referee.events import Event
from arena.referee.player import Answer, Hello, Listener, Lost
from arena.wire.convert import move_from_wire
from arena.wire.v1 import referee_pb2 as pb
from arena.wire.v1 import referee_pb2_grpc as pb_grpc

PROTOCOL: Final = 1
MAX_MESSAGE_BYTES: Final = 16 * 1024
MAX_NOTE_BYTES: Final = 256
MAX_SDK_BYTES: Final = 64
_MAX_METADATA_BYTES: Final = 4 * 1024
_CLOSE_SECONDS: Final = 1.0

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_concurrent_streams", 2),
    ("grpc.max_metadata_size", _MAX_METADATA_BYTES),
    # Without this one, metadata above the size is refused only now and then.
    ("grpc.absolute_max_metadata_size", _MAX_METADATA_BYTES),
    ("grpc.max_allowed_incoming_connections", 4),
    # Bit 0 is "no compression": a small message can't become a large one.
    ("grpc.compression_enabled_algorithms_bitset", 1),
)


class GrpcPlayer(pb_grpc.RefereeServicer):
    """The server of one seat.

    Args:
        socket: Where to listen; the folder exists.
        encoder: Makes messages of events; shared by the seats of a match.
    """

    def __init__(self, socket: Path, encoder: Encoder) -> None:
        self._socket = socket
        self._encoder = encoder
        self._server: grpc.aio.Server | None = None
        self._seat = 0
        self._listener: Listener | None = None
        self._taken = False
        self._greeted = False
        self._outgoing: list[pb.RefereeMessage] = []
        self._wake = asyncio.Event()
        self._closing = False

    async def open(self, seat: int, listener: Listener) -> None:
        """Bind the socket and serve."""
        self._seat, self._listener = seat, listener
        self._server = grpc.aio.server(options=_OPTIONS)
        pb_grpc.add_RefereeServicer_to_server(self, self._server)
        self._server.add_insecure_port(f"unix:{self._socket}")
        await self._server.start()

    def send(self, events: Sequence[Event]) -> None:
        """Queue one message with these events."""
        self._outgoing.append(self._encoder.message(events))
        self._wake.set()

    async def close(self) -> None:
        """Send what is queued, end the stream and stop serving."""
        self._closing = True
        self._wake.set()
        if self._server is not None:
            await self._server.stop(_CLOSE_SECONDS)

    async def Play(  # type: ignore[override] # noqa: N802 - the name in proto/; a coroutine that reads and writes through the context is grpc.aio's other form of a handler
        self,
        request_iterator: object,  # noqa: ARG002 - read through the context
        context: grpc.aio.ServicerContext[pb.BotMessage, pb.RefereeMessage],
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
            self._lose(Fault.CRASH, "the bot closed its stream, or ended")
            raise
        finally:
            reader.cancel()

    async def _write(self, context: grpc.aio.ServicerContext[pb.BotMessage, pb.RefereeMessage]) -> None:
        while not self._closing or self._outgoing:
            await self._wake.wait()
            self._wake.clear()
            outgoing, self._outgoing = self._outgoing, []
            for message in outgoing:
                await context.write(message)

    async def _read(self, context: grpc.aio.ServicerContext[pb.BotMessage, pb.RefereeMessage]) -> None:
        try:
            message: Any = await context.read()
            while message is not EOF and self._hear(message):
                message = await context.read()
        except (grpc.RpcError, grpc.aio.InternalError, grpc.aio.UsageError):
            # Undecodable, too large, or gone: to the library it is all one.
            message = EOF
        if message is EOF:
            self._lose(Fault.CRASH, "the bot ended its stream, or the channel's limits did")
        self._closing = True
        self._wake.set()

    def _hear(self, message: pb.BotMessage) -> bool:
        """Pass a message on, and tell whether to listen on."""
        if self._listener is None:
            return False
        if self._greeted:
            broken = "a second Hello" if message.HasField("hello") else None
            answers = [_answer(move, broken) for move in message.moves]
            if broken and not answers:
                answers = [Answer(-1, 0, 0, None, broken=broken)]
            self._listener.answered(self._seat, answers)
            return True
        refusal = _greeting_refused(message)
        if refusal is not None:
            self._lose(Fault.EXPELLED, refusal)
            return False
        self._greeted = True
        hello = message.hello
        self._listener.greeted(self._seat, Hello(max(1, hello.games_at_once), hello.sdk))
        return True

    def _lose(self, fault: Fault, why: str) -> None:
        if self._listener is not None and not self._closing:
            self._closing = True
            self._listener.lost(self._seat, Lost(fault, why))


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
