"""The end of a stream as its bot sees it: the call's status and message."""

import asyncio
import itertools
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import grpc
import pytest
from grpc import aio

from arena.platform.cpu_time import OwnRunDelay
from arena.play.referee.clock import RefereeClock
from arena.play.referee.conductor import Conductor
from arena.play.referee.frames import MOVE_LIMIT, PREFACE
from arena.play.referee.grpc_player import PROTOCOL, Encoder, GrpcPlayer
from arena.play.referee.match import RefereedMatch
from arena.play.referee.player import Event, Listener
from arena.play.referee.relay import listen
from arena.protocol.faults import Fault
from arena.protocol.match import Clock, GameRecord
from arena.rules import ROUNDS, Rules
from arena.wire.v1 import referee_pb2 as pb
from tests.folders import short_folder
from tests.patience import WAIT_SECONDS
from tests.play.referee import wire
from tests.play.referee.driver import SEEDS
from tests.play.referee.lines import attended, last
from tests.play.referee.players import InProcessPlayer

PATIENT = Clock(start_millis=60_000, move_millis=60_000, bank_millis=60_000)
PLAY = "/arena.wire.v1.Referee/Play"
HELLO = pb.BotMessage(hello=pb.Hello(protocol=PROTOCOL)).SerializeToString()

Call: TypeAlias = "aio.StreamStreamCall[bytes, bytes]"
Bot = Callable[[Call], Awaitable[object]]
_NO_OPTIONS: Mapping[str, Any] = {}  # options of the call


class Seen(NamedTuple):
    """The match after its end, with the faults of seat 0 and the status that its bot received."""

    code: grpc.StatusCode
    words: str
    match: RefereedMatch
    faults: list[Fault]


def _play(
    bot: Bot,
    clock: Clock = PATIENT,
    *,
    options: Mapping[str, Any] = _NO_OPTIONS,
    line_clock: RefereeClock | None = None,
) -> Seen:
    return asyncio.run(asyncio.wait_for(_played(bot, clock, options, line_clock), WAIT_SECONDS))


async def _played(
    bot: Bot, clock: Clock, options: Mapping[str, Any], line_clock: RefereeClock | None
) -> Seen:
    async with _table(clock, line_clock) as (match, address, ended):
        async with aio.insecure_channel(address) as channel:
            call: Call = channel.stream_stream(PLAY)(**options)
            await bot(call)
            code, words = await call.code(), await call.details()
        await ended
    decisions = [step[0] for game in match.games() for step in game.steps]
    return Seen(code, words, match, [decision.fault for decision in decisions if decision and decision.fault])


@asynccontextmanager
async def _table(
    clock: Clock,
    line_clock: RefereeClock | None = None,
    other: InProcessPlayer | None = None,
    match_clock: RefereeClock | None = None,
) -> "AsyncIterator[tuple[RefereedMatch, str, asyncio.Task[None]]]":
    """Open a table for a bot that connects and one in this process.

    Yield the match, the address for the bot, and the task that plays the match.
    """
    match = RefereedMatch(Rules(players=2), SEEDS[:1], clock)
    with short_folder() as folder:
        path = folder / "0.sock"
        player = _player(path, listen(path), line_clock)
        other = other or InProcessPlayer(last)
        now = match_clock or attended()
        conductor = Conductor(match, [player, other], start_seconds=clock.start_millis / 1000, now=now)
        await conductor.open()
        for seat in range(2):
            conductor.started(seat)
        ended = asyncio.create_task(conductor.run())
        try:
            yield match, f"unix://{path}", ended
        finally:
            ended.cancel()


def _player(path: Path, listening: socket.socket, now: RefereeClock | None = None) -> GrpcPlayer:
    now = now or attended()
    encoder = Encoder()
    return GrpcPlayer(listening, path.with_suffix(".inner"), encoder, now)


class _Held(InProcessPlayer):
    """A player that delays all events until it is released."""

    held: list[Event] | None = None

    def send(self, events: Sequence[Event]) -> None:
        """Store the events, or handle them."""
        if self.held is None:
            super().send(events)
        else:
            self.held += events

    def release(self) -> None:
        """Deliver all stored events, and from now on every new one."""
        kept, self.held = self.held or [], None
        self.send(kept)


async def _read(call: Call) -> pb.RefereeMessage:
    data: Any = await call.read()
    assert data is not aio.EOF, f"{await call.code()}: {await call.details()}"
    return pb.RefereeMessage.FromString(data)


async def _first_request(call: Call) -> pb.TurnRequest:
    await call.write(HELLO)
    return (await _read(call)).events[-1].turn_request


def _move(request: pb.TurnRequest, **fields: Any) -> pb.Move:  # noqa: ANN401 - any field of the message
    position = request.position
    whole = {
        "game": request.game,
        "round": position.round,
        "turn": position.turn,
        "cards": request.hand[:1],
        "nonce": request.nonce,
    }
    return pb.Move(**{**whole, **fields})


async def _finish(
    call: Call, request: pb.TurnRequest, *, at_the_end: Callable[[], object] = lambda: None
) -> list[pb.Event]:
    """Answer this and every later request; return all events. Call ``at_the_end`` before the last answer."""
    told: list[pb.Event] = []
    await call.write(pb.BotMessage(moves=[_move(request)]).SerializeToString())
    while isinstance(data := await call.read(), bytes):
        events = pb.RefereeMessage.FromString(data).events
        told += events
        asked = [event.turn_request for event in events if event.HasField("turn_request")]
        if asked:
            if (asked[-1].position.round, len(asked[-1].hand)) == (ROUNDS, 2):
                at_the_end()
            await call.write(pb.BotMessage(moves=[_move(each) for each in asked]).SerializeToString())
    return told


def test_a_match_ends_with_match_end_and_ok() -> None:
    """The last event is MatchEnd, and the status is OK."""
    told: list[pb.Event] = []

    async def bot(call: Call) -> None:
        told.extend(await _finish(call, await _first_request(call)))

    seen = _play(bot)
    assert (seen.code, seen.words) == (grpc.StatusCode.OK, "")
    assert told[-1].match_end.games == 1
    assert not seen.faults


class _Interrupting(InProcessPlayer):
    """A player that cancels the task that opens the table while the other player's server is starting."""

    opening: "asyncio.Task[None] | None" = None

    async def open(self, seat: int, listener: Listener) -> None:
        """Greet as usual, but also cancel the opening of the table."""
        await super().open(seat, listener)
        assert self.opening is not None
        self.opening.cancel()


def test_a_table_whose_opening_is_interrupted_closes_without_an_error() -> None:
    """A gRPC server can't be stopped if its start was interrupted."""

    async def interrupted() -> None:
        with short_folder() as folder:
            path = folder / "0.sock"
            with closing(listen(path)) as listening:
                player, other = _player(path, listening), _Interrupting(last)
                match = RefereedMatch(Rules(players=2), SEEDS[:1], PATIENT)
                conductor = Conductor(match, [player, other], start_seconds=WAIT_SECONDS, now=attended())
                other.opening = asyncio.create_task(_open_and_close(conductor, player))
                await other.opening

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(asyncio.wait_for(interrupted(), WAIT_SECONDS))


async def _open_and_close(conductor: Conductor, player: GrpcPlayer) -> None:
    try:
        await conductor.open()
    finally:
        await player.close("stopped")


async def _speaks_another_version(call: Call) -> None:
    await call.write(pb.BotMessage(hello=pb.Hello(protocol=7)).SerializeToString())


async def _says_nothing_of_itself(call: Call) -> None:
    await call.write(b"")


async def _babbles(call: Call) -> None:
    await call.write(b"\xff\xff\xff")


async def _answers_too_much(call: Call) -> None:
    request = await _first_request(call)
    moves = [_move(request)] * (MOVE_LIMIT.initial + MOVE_LIMIT.per_request + 1)
    await call.write(pb.BotMessage(moves=moves).SerializeToString())


async def _half_closes(call: Call) -> None:
    await _first_request(call)
    await call.done_writing()


@pytest.mark.parametrize(
    ("bot", "code", "words"),
    [
        (_speaks_another_version, "INVALID_ARGUMENT", "the bot speaks protocol 7, but this arena speaks 1"),
        (_says_nothing_of_itself, "INVALID_ARGUMENT", "the first message is not a Hello"),
        (_babbles, "INVALID_ARGUMENT", "it sent a message that can't be decoded"),
        (_answers_too_much, "RESOURCE_EXHAUSTED", "more than 18 moves for 1 request"),
        (
            _half_closes,
            "INVALID_ARGUMENT",
            "the bot exited, closed its stream, or violated the gRPC protocol",
        ),
    ],
)
def test_a_bot_that_loses_its_seat_reads_why(bot: Bot, code: str, words: str) -> None:
    """The status has the same text that its owner sees."""
    seen = _play(bot)
    assert (seen.code.name, seen.words) == (code, words)
    assert seen.match.seats()[0].lost == words
    assert seen.match.over


@pytest.mark.parametrize(
    ("options", "codes", "words"),
    [
        pytest.param(
            {"metadata": (("key", "x" * 1000),)}, {"UNAVAILABLE"}, "a HEADERS frame of", id="metadata"
        ),
        pytest.param(
            {"compression": grpc.Compression.Gzip},
            {"INTERNAL", "UNIMPLEMENTED"},
            "the bot exited, closed its stream, or violated the gRPC protocol",
            id="compression",
        ),
    ],
)
def test_a_call_that_can_not_begin_is_a_crash(options: dict[str, Any], codes: set[str], words: str) -> None:
    """The library or the guard ends such a call, so its status message isn't the text that the owner sees."""
    seen = _play(_first_request_or_end, options=options)
    assert seen.code.name in codes
    assert words in str(seen.match.seats()[0].lost)
    assert set(seen.faults) == {Fault.CRASH}


async def _first_request_or_end(call: Call) -> None:
    with suppress(AssertionError, aio.AioRpcError):
        await _first_request(call)


class _Set(RefereeClock):
    """A clock that the test sets."""

    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_a_bot_that_does_not_greet_in_time_reads_why() -> None:
    """If a bot opens its stream and sends no Hello, the status gives this reason."""

    async def play() -> None:
        clock = _Set(time.monotonic, OwnRunDelay())
        table = _table(PATIENT, match_clock=clock)
        async with table as (match, address, ended), aio.insecure_channel(address) as channel:
            call: Call = channel.stream_stream(PLAY)()
            await call.wait_for_connection()
            # A second stream is refused only if the first has arrived.
            second: Call = channel.stream_stream(PLAY)()
            assert await second.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            clock.seconds += 61
            assert await call.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            await ended
            assert await call.details() == "no valid Hello within 60 s of its start" == match.seats()[0].lost

    asyncio.run(asyncio.wait_for(play(), WAIT_SECONDS))


def test_a_second_stream_is_refused_and_the_first_goes_on() -> None:
    """A seat can have only one stream, which carries all games of a match."""

    async def play() -> None:
        async with _table(PATIENT) as (match, address, ended), aio.insecure_channel(address) as channel:
            first: Call = channel.stream_stream(PLAY)()
            request = await _first_request(first)
            second: Call = channel.stream_stream(PLAY)()
            assert await second.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert await second.details() == "this seat already has a stream"
            await _finish(first, request)
            assert await first.code() is grpc.StatusCode.OK
            await ended
            assert match.seats()[0].lost is None

    asyncio.run(asyncio.wait_for(play(), WAIT_SECONDS))


@pytest.mark.parametrize("late", [False, True])
def test_a_call_that_ends_the_server_does_not_make_the_match_void(*, late: bool) -> None:
    """A method name that is not UTF-8 ends the server, but not the open stream.

    A bot could otherwise make every match void that it is about to lose. After the call, it opens another
    connection, or it makes the call with its last move.
    """

    async def played() -> None:
        async with _table(PATIENT) as (match, address, ended):
            path = Path(address.removeprefix("unix://"))
            wrong = wire.frame(wire.HEADERS, wire.call_headers(b"/\xff"), flags=4, call=1)
            with closing(await _connected(path)) as writer:
                writer.write(wire.frame(wire.SETTINGS))
                async with aio.insecure_channel(address) as channel:
                    call: Call = channel.stream_stream(PLAY)()
                    request = await _first_request(call)
                    if not late:
                        writer.write(wrong)
                        await _until(lambda: not path.with_suffix(".inner").exists())
                        (await _connected(path)).close()
                    with suppress(aio.AioRpcError):  # its own call may end without a status
                        await _finish(call, request, at_the_end=lambda: writer.write(wrong) if late else None)
                await ended
            faults = [decision.fault for step in match.games()[0].steps for decision in step if decision]
            assert set(faults) == {None}

    asyncio.run(asyncio.wait_for(played(), WAIT_SECONDS))


async def _connected(path: Path) -> asyncio.StreamWriter:
    _, writer = await asyncio.open_unix_connection(path)
    writer.write(PREFACE)
    return writer


def test_empty_messages_are_not_faults() -> None:
    """A message without moves is not a fault."""

    async def bot(call: Call) -> None:
        request = await _first_request(call)
        for _ in range(10):
            await call.write(b"")
        await _finish(call, request)

    seen = _play(bot)
    assert seen.code is grpc.StatusCode.OK
    assert not seen.faults


def test_a_call_that_exceeds_its_deadline_is_a_crash() -> None:
    """To the referee, a bot whose call exceeds its deadline has left its stream."""
    begun: list[Call] = []

    async def bot(call: Call) -> None:
        # On a busy host, the call may have exceeded its deadline already.
        with suppress(AssertionError, aio.AioRpcError):
            await _first_request(call)
            begun.append(call)

    timeout = 1.0
    while not begun:
        seen = _play(bot, options={"timeout": timeout})
        timeout *= 5
    assert seen.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert seen.faults == [Fault.CRASH]


def test_a_flood_of_frames_is_answered_with_a_status_before_the_line_is_cut() -> None:
    """The referee stops reading from the bot, but sends the reason in the trailers of the open call."""

    async def play() -> tuple[bytes, str | None]:
        async with _table(PATIENT) as (match, address, ended):
            reader, writer = await _greet_in_frames(address)
            heard = b""
            while b"\x1a" not in heard:  # the tag of a request's event
                heard += await reader.read(65536)
            writer.write(wire.frame(wire.PING, bytes(8)) * 1000)
            with suppress(ConnectionError):
                heard += await reader.read(-1)
            writer.close()
            await ended
            return heard, match.seats()[0].lost

    heard, lost = asyncio.run(asyncio.wait_for(play(), WAIT_SECONDS))
    assert lost is not None
    assert "PING frames" in lost
    # gRPC's own header encoder doesn't use Huffman codes, so both are readable.
    assert b"grpc-status\x018" in heard  # RESOURCE_EXHAUSTED
    assert lost.encode() in heard


def test_bots_read_in_the_status_that_the_arena_failed() -> None:
    """After an arena fault, the status says that the match doesn't count, and blames no bot."""

    async def play() -> None:
        async with _table(PATIENT) as (match, address, ended), aio.insecure_channel(address) as channel:
            call: Call = channel.stream_stream(PLAY)()
            request = await _first_request(call)
            match.answered = None  # type: ignore[method-assign,assignment]  # an arena fault
            await call.write(pb.BotMessage(moves=[_move(request)]).SerializeToString())
            assert await call.code() is grpc.StatusCode.ABORTED
            assert await call.details() == "arena fault: the match does not count"
            with pytest.raises(TypeError):
                await ended

    asyncio.run(asyncio.wait_for(play(), WAIT_SECONDS))


def test_an_error_while_sending_is_an_arena_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """No bot times out because the referee failed to send to it."""

    def fail(*_: object) -> None:
        raise ArithmeticError

    async def play() -> None:
        async with _table(PATIENT) as (_, address, ended), aio.insecure_channel(address) as channel:
            call: Call = channel.stream_stream(PLAY)()
            request = await _first_request(call)
            monkeypatch.setattr(GrpcPlayer, "_add_age", fail)
            await call.write(pb.BotMessage(moves=[_move(request)]).SerializeToString())
            with pytest.raises(ArithmeticError):
                await ended

    asyncio.run(asyncio.wait_for(play(), WAIT_SECONDS))


def test_a_request_says_how_long_it_has_waited() -> None:
    """The clock advances by a second per reading, so every request has waited when it is sent."""

    class Hasty(RefereeClock):
        seconds = itertools.count()

        def __call__(self) -> float:
            return float(next(self.seconds))

    async def bot(call: Call) -> None:
        request = await _first_request(call)
        assert request.asked_millis_ago >= 1000
        await _finish(call, request)

    assert _play(bot, line_clock=Hasty(time.monotonic, OwnRunDelay())).code is grpc.StatusCode.OK


def test_delays_that_a_bot_causes_count_as_its_time() -> None:
    """A bot's time includes delays that it causes by HTTP/2 flow control, even if it repeats an answer."""
    held = 2.0

    class Attentive(RefereeClock):
        """A clock that never stops."""

        def __call__(self) -> float:
            return time.monotonic()

    async def play() -> GameRecord:
        other = _Held(last)
        other.held = []
        clock = Attentive(time.monotonic, OwnRunDelay())
        async with _table(PATIENT, clock, other, clock) as (match, address, ended):
            reader, writer = await _greet_in_frames(address)
            first = await _request_in_frames(reader)
            await _close_window(reader, writer)
            writer.write(_answer_in_a_frame(first))
            await asyncio.sleep(held / 4)
            # Make the server send its other frames now, and not together with the next request.
            writer.write(wire.frame(wire.PING, bytes(8)))
            while (await _frame(reader))[0] != wire.PING:
                pass
            other.release()
            await asyncio.sleep(held)
            writer.write(wire.frame(wire.WINDOW_UPDATE, (1 << 20).to_bytes(4, "big"), call=1))
            second = await _request_in_frames(reader)
            writer.write(_answer_in_a_frame(first) * 2 + _answer_in_a_frame(second))
            await _request_in_frames(reader)
            writer.close()
            await ended
            return match.games()[0]

    decision = asyncio.run(asyncio.wait_for(play(), WAIT_SECONDS)).steps[1][0]
    assert decision is not None
    assert decision.fault is None
    assert decision.millis is not None
    assert decision.millis > held * 1000 / 2


@pytest.mark.parametrize(
    "goes",
    [
        pytest.param(wire.frame(wire.RST_STREAM, (8).to_bytes(4, "big"), call=1), id="cancels"),
        pytest.param(wire.frame(wire.WINDOW_UPDATE, bytes(4), call=1), id="breaks HTTP-2"),
        pytest.param(None, id="hangs up"),
    ],
)
def test_a_bot_that_goes_while_a_request_waits_for_its_window_crashes(goes: bytes | None) -> None:
    """A bot that leaves has crashed, even if the write fails before the reader learns of the stream's end."""

    async def play() -> RefereedMatch:
        other = _Held(last)
        other.held = []
        async with _table(PATIENT, other=other) as (match, address, ended):
            reader, writer = await _greet_in_frames(address)
            first = await _request_in_frames(reader)
            await _close_window(reader, writer)
            writer.write(_answer_in_a_frame(first))
            await _until(lambda: match.clock_began(0) is None)
            other.release()
            await _until(lambda: match.clock_began(0) is not None)
            await asyncio.sleep(0.1)  # the library has begun the write
            if goes is None:
                writer.close()
            else:
                writer.write(goes)
            await ended
            writer.close()
            return match

    match = asyncio.run(asyncio.wait_for(play(), WAIT_SECONDS))
    assert match.seats()[0].lost == "the bot exited, closed its stream, or violated the gRPC protocol"
    faults = [decision.fault for (decision, _) in match.games()[0].steps if decision and decision.fault]
    assert faults == [Fault.CRASH]


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - a match has no event to wait for
        await asyncio.sleep(0.01)


async def _greet_in_frames(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect, open a stream and send a Hello."""
    reader, writer = await asyncio.open_unix_connection(address.removeprefix("unix://"))
    opening = wire.frame(wire.HEADERS, wire.CALL, flags=4, call=1)
    hello = wire.frame(wire.DATA, wire.message(HELLO), call=1)
    writer.write(PREFACE + wire.frame(wire.SETTINGS) + opening + hello)
    return reader, writer


async def _close_window(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Set the flow control window to 0, and wait until the referee has acknowledged it."""
    writer.write(wire.frame(wire.SETTINGS, b"\x00\x04" + bytes(4)))
    while await _frame(reader) != (wire.SETTINGS, 1, b""):
        pass


async def _frame(reader: asyncio.StreamReader) -> tuple[int, int, bytes]:
    """Read a frame; return its type, flags and payload."""
    head = await reader.readexactly(9)
    return head[3], head[4], await reader.readexactly(int.from_bytes(head[:3], "big"))


async def _request_in_frames(reader: asyncio.StreamReader) -> pb.TurnRequest:
    """Read one message and return the request in its last event."""
    data = b""
    while len(data) < 5 or len(data) < 5 + int.from_bytes(data[1:5], "big"):
        kind, _, payload = await _frame(reader)
        data += payload if kind == wire.DATA else b""
    return pb.RefereeMessage.FromString(data[5:]).events[-1].turn_request


def _answer_in_a_frame(request: pb.TurnRequest) -> bytes:
    message = pb.BotMessage(moves=[_move(request)]).SerializeToString()
    return wire.frame(wire.DATA, wire.message(message), call=1)
