"""A bot that connects over gRPC on its own Unix socket."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError
from grpc.aio import EOF

from arena.play.referee.clock import RefereeClock
from arena.play.referee.frames import (
    MAX_FRAME_BYTES,
    MAX_HEADERS_BYTES,
    MAX_MESSAGE_BYTES,
    Breach,
    SendBudget,
)
from arena.play.referee.player import (
    DecisionRequested,
    Event,
    FaultNoticed,
    GameEnded,
    GameStarted,
    Hello,
    Listener,
    Lost,
    MatchEnded,
    PlayerAnswer,
    RoundScored,
    TurnRevealed,
    Welcome,
)
from arena.play.referee.relay import Relay
from arena.protocol.faults import Fault
from arena.wire.convert import (
    fill_turn_request,
    game_end,
    game_start,
    move_from_wire,
    position_to_wire,
    round_result,
    turn_result,
)
from arena.wire.v1 import referee_pb2 as pb

PROTOCOL: Final = 1
MAX_NOTE_BYTES: Final = 256
_LIMITS: Final = {
    "protocol": PROTOCOL,
    "max_message_bytes": MAX_MESSAGE_BYTES,
    "max_note_bytes": MAX_NOTE_BYTES,
}

_FAULTS: Final = {
    Fault.TIMEOUT: pb.FAULT_KIND_TIMEOUT,
    Fault.ILLEGAL: pb.FAULT_KIND_ILLEGAL,
    Fault.PROTOCOL: pb.FAULT_KIND_PROTOCOL,
}


class Encoder:
    """Encodes messages for all seats of a match. Parts that several messages share are encoded only once."""

    def __init__(self) -> None:
        # The latest position and turn of every game, for all its seats. An older position or turn would be
        # encoded again.
        self._positions: dict[int, tuple[object, pb.Position]] = {}
        self._shared: dict[int, tuple[Event, pb.Event]] = {}

    def message(self, events: Sequence[Event]) -> pb.RefereeMessage:
        """Return one message with these events, in this order."""
        message = pb.RefereeMessage()
        for event in events:
            if isinstance(event, DecisionRequested):
                request = message.events.add().turn_request
                position = self._position(event)
                fill_turn_request(
                    request,
                    event.game,
                    event.view,
                    position,
                    bank_millis=int(event.bank * 1000),
                    nonce=event.nonce,
                )
            elif isinstance(event, TurnRevealed):
                message.events.append(self._turn_event(event))
            else:
                message.events.append(self._other_event(event))
        return message

    def _turn_event(self, event: TurnRevealed) -> pb.Event:
        known = self._shared.get(event.game)
        if known is None or known[0] is not event:
            known = (event, pb.Event(turn_result=turn_result(event.game, event.turn, event.stand_ins)))
            self._shared[event.game] = known
        return known[1]

    def _position(self, ask: DecisionRequested) -> pb.Position:
        # All views of a turn share one `tables` object. Every turn has a new one.
        known = self._positions.get(ask.game)
        if known is None or known[0] is not ask.view.tables:
            known = (ask.view.tables, position_to_wire(ask.view))
            self._positions[ask.game] = known
        return known[1]

    def _other_event(self, event: Event) -> pb.Event:
        match event:
            case Welcome():
                return pb.Event(welcome=pb.Welcome(**_LIMITS, **event._asdict()))
            case GameStarted(game, seat, rules, clock):
                return pb.Event(
                    game_start=game_start(
                        game, seat, rules, move_millis=clock.move_millis, bank_millis=clock.bank_millis
                    )
                )
            case RoundScored(game, round_number, scores):
                return pb.Event(round_result=round_result(game, round_number, scores))
            case GameEnded(game, result, places):
                return pb.Event(game_end=game_end(game, result, places))
            case FaultNoticed():
                return pb.Event(notice=pb.Notice(**{**event._asdict(), "fault": _FAULTS[event.fault]}))
            case MatchEnded(games):
                return pb.Event(match_end=pb.MatchEnd(games=games))
            case _:
                raise TypeError(f"no message for {event!r}")


MAX_SDK_BYTES: Final = 64
_CLOSE_SECONDS: Final = 1.0
_STATUS_SECONDS: Final = 0.5

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_concurrent_streams", 2),
    ("grpc.max_metadata_size", MAX_HEADERS_BYTES),
    # Without this option, metadata that is too large is only sometimes refused. A client that never
    # acknowledges the settings evades both options; only the guard's limit on HEADERS stops every client.
    ("grpc.absolute_max_metadata_size", MAX_HEADERS_BYTES),
    # Bit 0 allows only uncompressed messages, so that a small message can't expand to a large one.
    ("grpc.compression_enabled_algorithms_bitset", 1),
    # Otherwise, on a fast connection, the library allows longer frames than the guard does.
    ("grpc.http2.max_frame_size", MAX_FRAME_BYTES),
    ("grpc.http2.bdp_probe", 0),
    # The guard counts pings. The library would treat a third one in five minutes as an attack.
    ("grpc.http2.max_ping_strikes", 0),
)

_DISCONNECTED: Final = "the bot exited, closed its stream, or violated the gRPC protocol"
_CONNECTION_ERRORS: Final = (grpc.RpcError, grpc.aio.InternalError, grpc.aio.UsageError)
"""Exceptions that the library raises for a lost connection; which one depends on the timing."""

_VOIDED: Final = grpc.StatusCode.ABORTED
_INVALID: Final = grpc.StatusCode.INVALID_ARGUMENT
_LIMIT_EXCEEDED: Final = grpc.StatusCode.RESOURCE_EXHAUSTED
_TIMED_OUT: Final = grpc.StatusCode.DEADLINE_EXCEEDED
_SERVICE: Final = pb.DESCRIPTOR.services_by_name["Referee"]


class GrpcPlayer:
    """The server for one seat, behind the seat's relay.

    The bot connects to ``listening``; ``inner`` is the server's socket, which no bot can reach. All seats in
    a match share an encoder.
    """

    def __init__(self, listening: socket.socket, inner: Path, encoder: Encoder, now: RefereeClock) -> None:
        self._inner = inner
        self._encoder = encoder
        self._now = now
        self._queued_at = 0.0
        self.budget = SendBudget()
        self._relay = Relay(listening, inner, self.budget, self, now)
        # Created here, before privileges are dropped, because creating it makes the library import modules.
        play: grpc.RpcMethodHandler[bytes, pb.RefereeMessage] = grpc.stream_stream_rpc_method_handler(
            self._play, response_serializer=pb.RefereeMessage.SerializeToString
        )
        self._handlers = grpc.method_handlers_generic_handler(
            _SERVICE.full_name, {_SERVICE.methods[0].name: play}
        )
        self._server: grpc.aio.Server | None = None
        self._seat = 0
        self._listener: Listener | None = None
        self._has_stream = False
        self._greeted = False
        self._outgoing: list[tuple[float, pb.RefereeMessage]] = []
        self._status: tuple[grpc.StatusCode, str] | None = None
        self._pending = asyncio.Event()
        self._closing = False

    async def open(self, seat: int, listener: Listener) -> None:
        """Start the server, then the relay."""
        self._seat, self._listener = seat, listener
        self._server = grpc.aio.server(options=_OPTIONS)
        self._server.add_generic_rpc_handlers((self._handlers,))
        self._server.add_insecure_port(f"unix:{self._inner}")
        await asyncio.shield(self._server.start())  # a cancelled start leaves a server that can't be stopped
        self._relay.open()

    def send(self, events: Sequence[Event]) -> None:
        """Queue one message with these events."""
        self.budget.grant(sum([type(event) is DecisionRequested for event in events]))
        self._queued_at = self._now()
        self._outgoing.append((self._queued_at, self._encoder.message(events)))
        self._relay.expect_message()
        self._pending.set()

    def dismiss(self, lost: Lost) -> None:
        """Ignore what the bot sends from now on, and end its stream with the reason."""
        self._end(_TIMED_OUT, lost.why)

    async def close(self, void: str | None = None) -> None:
        """Send what is queued, end the stream and stop serving."""
        if void is not None and self._status is None:
            self._status = (_VOIDED, void)
        self._closing = True
        self._pending.set()
        self._relay.close()
        if self._server is not None:
            with suppress(UnicodeDecodeError):  # the bot has ended its server: see the relay
                await self._server.stop(_CLOSE_SECONDS)
        with suppress(TimeoutError):
            async with asyncio.timeout(_STATUS_SECONDS):
                await self._relay.wait_closed()
        self._relay.close_connections()

    def breached(self, breach: Breach) -> None:
        """End the stream: the bot exceeded its send budget or one of the channel's limits."""
        self._lose(breach.fault, breach.why, _LIMIT_EXCEEDED)

    def failed(self, error: Exception) -> None:
        """Report a failure on the arena's side, unless the seat is closing."""
        # At the end of a match the server is stopped, and a bot may have connected just before that.
        if self._listener is not None and not self._closing:
            self._listener.failed(error)

    async def _play(
        self,
        _: object,  # grpc.aio's iterator of requests, unused: this handler reads from the context
        context: grpc.aio.ServicerContext[bytes, pb.RefereeMessage],
    ) -> None:
        """Serve the seat's only stream."""
        if self._has_stream:
            await context.abort(_LIMIT_EXCEEDED, "this seat already has a stream")
        self._has_stream = True
        reader = asyncio.create_task(self._read(context))
        try:
            await self._write(context)
            if self._status is not None:
                await context.abort(*self._status)
        except (asyncio.CancelledError, *_CONNECTION_ERRORS):
            # If the bot disconnects, either the library cancels this call or a write fails.
            self._lose(Fault.CRASH, _DISCONNECTED, _INVALID)
            raise
        except Exception as error:  # gRPC ends the stream, which isn't the bot's fault
            self.failed(error)
            raise
        finally:
            reader.cancel()

    async def _write(self, context: grpc.aio.ServicerContext[bytes, pb.RefereeMessage]) -> None:
        while not self._closing or self._outgoing:
            await self._pending.wait()
            self._pending.clear()
            outgoing, self._outgoing = self._outgoing, []
            for asked_at, message in outgoing:
                self._add_age(message, asked_at)
                await context.write(message)

    def _add_age(self, message: pb.RefereeMessage, asked_at: float) -> None:
        """Record in a message how long it has waited to be sent."""
        millis = int((self._now() - asked_at) * 1000)
        if millis > 0:
            for event in message.events:
                if event.HasField("turn_request"):
                    event.turn_request.asked_millis_ago = millis

    async def _read(self, context: grpc.aio.ServicerContext[bytes, pb.RefereeMessage]) -> None:
        try:
            data: Any = await context.read()
            while data is not EOF and self._handle(data):
                data = await context.read()
        except _CONNECTION_ERRORS:
            # The library doesn't distinguish between the reasons for a disconnection.
            data = EOF
        if data is EOF:
            self._lose(Fault.CRASH, _DISCONNECTED, _INVALID)

    def _handle(self, data: bytes) -> bool:
        """Pass a message on, and return whether to keep reading."""
        if self._listener is None or self._closing:
            return False
        try:
            message = pb.BotMessage.FromString(data)
        except DecodeError:
            self._lose(Fault.CRASH, "it sent a message that can't be decoded", _INVALID)
            return False
        if not self._greeted:
            return self._greet(self._listener, message)
        try:
            self.budget.count_moves(len(message.moves))
        except Breach as breach:
            self.breached(breach)
            return False
        broken = "a second Hello" if message.HasField("hello") else None
        answers = [answer_from_wire(move, broken) for move in message.moves]
        if broken and not answers:
            answers = [PlayerAnswer(-1, 0, 0, None, broken=broken)]
        self._listener.answered(self._seat, answers, self._lag())
        return True

    def _lag(self) -> float:
        """Return how many seconds the last request and this answer spent in the referee."""
        now = self._now()
        out = max(0.0, self._relay.sent_at - self._queued_at)
        lag = out + max(0.0, now - self._relay.received_at)
        # If a bot sends several messages together, the same time must be counted only once.
        self._queued_at += out
        self._relay.received_at = max(now, self._relay.received_at)
        return lag

    def _greet(self, listener: Listener, message: pb.BotMessage) -> bool:
        refusal = _greeting_error(message)
        if refusal is not None:
            self._lose(Fault.EXPELLED, refusal, _INVALID)
            return False
        self._greeted = True
        hello = message.hello
        listener.greeted(self._seat, Hello(max(1, hello.games_at_once), hello.sdk))
        return True

    def _lose(self, fault: Fault, why: str, code: grpc.StatusCode) -> None:
        """End the stream, and report the bot as lost."""
        if self._listener is not None and not self._closing:
            self._end(code, why)
            self._listener.lost(self._seat, Lost(fault, why))

    def _end(self, code: grpc.StatusCode, why: str) -> None:
        """End the stream with a status, and close the connections once the bot has had time to read it."""
        if not self._closing:
            self._closing = True
            self._status = (code, why)
            self._outgoing.clear()
            self._pending.set()
            self._relay.stop_reading()
            asyncio.get_running_loop().call_later(_STATUS_SECONDS, self._relay.close_connections)


def _greeting_error(message: pb.BotMessage) -> str | None:
    if not message.HasField("hello"):
        return "the first message is not a Hello"
    if message.hello.protocol != PROTOCOL:
        return f"the bot speaks protocol {message.hello.protocol}, but this arena speaks {PROTOCOL}"
    if len(message.hello.sdk.encode()) > MAX_SDK_BYTES:
        return f"Hello.sdk is longer than {MAX_SDK_BYTES} bytes"
    if message.moves:
        return "the first message contains moves, but no decision has been requested"
    return None


def answer_from_wire(message: pb.Move, broken: str | None = None) -> PlayerAnswer:
    """Read an answer. ``broken`` is a breach that is already known; one found here replaces it."""
    if len(message.note.encode()) > MAX_NOTE_BYTES:
        broken, note = f"a note of more than {MAX_NOTE_BYTES} bytes", ""
    else:
        note = message.note
    try:
        move = move_from_wire(message)
    except ValueError as error:
        move, broken = None, str(error)
    return PlayerAnswer(message.game, message.round, message.turn, move, note, broken, message.nonce)
