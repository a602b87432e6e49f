"""Requests decisions in recorded games from a program. Whatever it answers, the games continue as recorded.

The program runs in the arena's process runtime and talks to the referee's own server. Its events come from
the referee's own table, on which the recorded moves are played instead of the program's answers.
"""

import asyncio
import secrets
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from arena.local.bots import LocalBot
from arena.local.solving import Solution, refusal
from arena.local.workers import BotUnloadable, end_of
from arena.platform.cpu_time import HostDelayMeter, OwnRunDelay
from arena.play.referee.clock import RefereeClock, SeatClock, SharedTime
from arena.play.referee.grpc_player import Encoder, GrpcPlayer
from arena.play.referee.player import DecisionRequested, Event, Hello, Lost, MatchEnded, PlayerAnswer, Welcome
from arena.play.referee.relay import listen
from arena.play.referee.table import GameTable
from arena.protocol.faults import Fault
from arena.protocol.match import Clock, Limits
from arena.rules import Move, Rules, View
from arena.sandbox.process.runtime import ProcessRuntime
from arena.sandbox.runtime import INSTALL_LABEL, SOCKET_NAME, RuntimeFailure, Sandbox, SandboxSpec

_DAY_SECONDS: Final = 86_400
_LEAVE_SECONDS: Final = 2.0
_MIN_WAIT_SECONDS: Final = 0.05
"""If a bot waits for a processor for less than this, it gets no extra time."""

T = TypeVar("T")


class GameToAsk(NamedTuple):
    """A game, complete or up to a decision, and the seat to ask."""

    rules: Rules
    seed: str  # 32 hexadecimal digits; determines the deck
    seat: int
    # The joint moves, in order. Each has one entry per seat: None if it had no move.
    moves: tuple[tuple[Move | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A bot's answer to one decision."""

    game: int  # number of the recorded game
    view: View
    move: Move | None  # None if there was no move
    millis: float  # wall-clock time
    fault: Fault | None
    trouble: str | None  # describes the fault
    nonce: bool  # whether the answer contained the request's nonce


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRun:
    """The outcome of requesting a program's decisions."""

    hello: Hello
    lost: str | None  # why the connection to the bot was lost before the end; None if it wasn't
    exit_code: int | None  # None if it was still running shortly after the end
    stderr: str  # the end of its stderr


def ask_program(
    bot: LocalBot, games: Sequence[GameToAsk], on_reply: Callable[[Reply], object], clock: Clock | None = None
) -> ProgramRun:
    """Request every decision of the bot's seat in these games, one after another.

    Stops if the bot is lost: its process ends, it disconnects, or it doesn't answer in time. Raises
    BotUnloadable if it can't be started or doesn't send Hello, or OSError if its socket or home folder
    can't be created.
    """
    return asyncio.run(_ask_program(bot, games, on_reply, clock or Clock()))


def solve_as_program(bot: LocalBot, game: GameToAsk) -> Solution:
    """Return a bot's answer to the decision that follows a game's recorded moves.

    Raises the same errors as :func:`ask_program`.
    """
    replies: list[Reply] = []
    done = ask_program(bot, (game,), replies.append)
    last = replies[-1]
    trace = done.stderr if last.trouble is not None else ""
    return Solution(move=last.move, millis=last.millis, trouble=last.trouble, trace=trace)


async def _ask_program(
    bot: LocalBot, games: Sequence[GameToAsk], on_reply: Callable[[Reply], object], clock: Clock
) -> ProgramRun:
    # Short: a socket's path is limited to 107 bytes.
    with tempfile.TemporaryDirectory(prefix="kaiten-i-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        encoder = Encoder()
        now = RefereeClock(time.monotonic, OwnRunDelay())
        player = GrpcPlayer(listen(folder / SOCKET_NAME), folder / "inner", encoder, now)
        queue = _MessageQueue()
        async with AsyncExitStack() as stack:
            stack.push_async_callback(player.close)  # for errors before the bot is running
            await player.open(0, queue)
            sandbox = stack.enter_context(_running_sandbox(bot, folder))
            meter = HostDelayMeter(sandbox.cpu)
            ending = asyncio.create_task(_watch(sandbox, queue))
            try:
                hello = await _wait_for_hello(bot, sandbox, queue, clock, meter)
                lost = await _ask_all(games, player, queue, clock, on_reply)
            finally:
                await player.close()
                # After MatchEnd, the bot gets a moment to exit.
                left = await _ends(ending, meter)
                await asyncio.to_thread(sandbox.remove)
                code = await ending
            return ProgramRun(
                hello=hello, lost=lost, exit_code=code if left else None, stderr=end_of(sandbox.stderr())
            )


class _MessageQueue:
    """Queues messages from the bot."""

    def __init__(self) -> None:
        self._arrived: asyncio.Queue[Hello | Lost | Exception | Sequence[PlayerAnswer]] = asyncio.Queue()
        self._greeted = False

    def greeted(self, seat: int, hello: Hello) -> None:  # noqa: ARG002 - there is one seat
        self._greeted = True
        self._arrived.put_nowait(hello)

    def answered(self, seat: int, answers: Sequence[PlayerAnswer], lag: float = 0.0) -> None:  # noqa: ARG002 - as above
        self._arrived.put_nowait(answers)

    def lost(self, seat: int, lost: Lost) -> None:  # noqa: ARG002 - as above
        self._arrived.put_nowait(lost)

    def failed(self, error: Exception) -> None:
        self._arrived.put_nowait(error)

    def ended(self, why: str) -> None:
        """Queue the end of a process that didn't send Hello. After Hello, its stream reports the end."""
        if not self._greeted:
            self.lost(0, Lost(Fault.CRASH, why))

    async def next(self, seconds: float) -> Hello | Lost | Sequence[PlayerAnswer]:
        """Return the next message.

        Raises TimeoutError if none arrives in time, and re-raises errors in the receiving code.
        """
        async with asyncio.timeout(seconds):
            message = await self._arrived.get()
        if isinstance(message, Exception):
            raise message
        return message


async def _patiently(wait: Callable[[float], Awaitable[T]], seconds: float, meter: HostDelayMeter) -> T:
    """Await ``wait(seconds)``, without counting the time during which the host kept the bot waiting.

    On a busy host, a bot that starts or exits may wait many seconds for a processor; so may this process.
    """
    own_waits = OwnRunDelay()
    meter.sample()
    began, own, waited, left = time.monotonic(), own_waits(), 0.0, seconds
    while True:
        try:
            return await wait(left)
        except TimeoutError:
            waited += meter.sample().waited
            left = seconds + max(waited, own_waits() - own) - (time.monotonic() - began)
            if meter.is_waiting():
                left = max(left, _MIN_WAIT_SECONDS)
            if left < _MIN_WAIT_SECONDS:
                raise


async def _ends(ending: "asyncio.Task[int | None]", meter: HostDelayMeter) -> bool:
    """Wait a moment for the bot's process to end, and return whether it has."""

    async def wait(seconds: float) -> None:
        await asyncio.wait([ending], timeout=seconds)
        if not ending.done():
            raise TimeoutError

    with suppress(TimeoutError):
        await _patiently(wait, _LEAVE_SECONDS, meter)
    return ending.done()


async def _wait_for_hello(
    bot: LocalBot, sandbox: Sandbox, queue: _MessageQueue, clock: Clock, meter: HostDelayMeter
) -> Hello:
    seconds = clock.start_millis / 1000
    try:
        message = await _patiently(queue.next, seconds, meter)
    except TimeoutError:
        message = Lost(Fault.ABSENT, f"no valid Hello within {seconds:g} s of its start")
    if isinstance(message, Hello):
        return message
    why = message.why if isinstance(message, Lost) else "it sent moves before its Hello"
    raise BotUnloadable(f"{bot.name} didn't connect to the referee: {why}", end_of(sandbox.stderr()))


async def _ask_all(
    games: Sequence[GameToAsk],
    player: GrpcPlayer,
    queue: _MessageQueue,
    clock: Clock,
    on_reply: Callable[[Reply], object],
) -> str | None:
    """Request every decision. If the connection to the bot is lost, stop and return the reason."""
    game, left = 0, SeatClock.of(clock)
    for events, ask in conversation(games, clock):
        if ask is not None and ask.game != game:
            game, left = ask.game, SeatClock.of(clock)
        player.send(
            [
                each._replace(bank=left.bank) if isinstance(each, DecisionRequested) else each
                for each in events
            ]
        )
        if ask is not None:
            reply, lost = await _reply(queue, ask, left.allowance)
            left = left.spend(reply.millis / 1000)
            on_reply(reply)
            if lost is not None:
                return lost
    return None


def conversation(
    games: Sequence[GameToAsk], clock: Clock
) -> Iterator[tuple[list[Event], DecisionRequested | None]]:
    """Yield the messages that a seat gets in a match of these games, from Welcome to MatchEnd.

    Each message is a list of events, with the request among them, if any.
    """
    begin: list[Event] = [Welcome(len(games), 1)]
    for number, game in enumerate(games):
        script = _RecordedTable(number, game, clock)
        for moves in (*game.moves, None):
            events, ask = script.news()
            yield begin + events, ask
            begin = []
            if moves is not None:
                script.play(moves)
    yield [MatchEnded(len(games))], None


class _RecordedTable:
    """Replays a game on the referee's own table, and collects one seat's events up to each decision."""

    def __init__(self, number: int, game: GameToAsk, clock: Clock) -> None:
        self._number = number
        self._seat = game.seat
        self._events: list[Event] = []
        self._asks: dict[int, DecisionRequested] = {}
        self._table = GameTable(
            number,
            game.rules,
            game.seed,
            clock,
            lost={},
            breaches={},
            early={},
            send=self._on_event,
        )

    def _on_event(self, seat: int, event: Event) -> None:
        if isinstance(event, DecisionRequested):
            self._asks[seat] = event
        if seat == self._seat:
            self._events.append(event)

    def news(self) -> tuple[list[Event], DecisionRequested | None]:
        """Return the events since the last call, and the request among them, if any."""
        events, self._events = self._events, []
        return events, self._asks.get(self._seat)

    def play(self, moves: Sequence[Move | None]) -> None:
        """Play the recorded moves. The table's clock doesn't run."""
        asks, self._asks = self._asks, {}
        for seat, ask in asks.items():
            seen = ask.view
            answer = PlayerAnswer(self._number, seen.round, seen.turn, moves[seat])
            self._table.answer(seat, answer, SharedTime({}, 0.0))
        self._table.advance()


async def _reply(queue: _MessageQueue, ask: DecisionRequested, allowed: float) -> tuple[Reply, str | None]:
    """Wait for an answer. Return it and, if the connection to the bot was lost, the reason."""
    began = time.monotonic()
    answer, fault, trouble, lost = None, None, None, None
    try:
        message = await queue.next(allowed)
        while not message:  # a message without moves
            message = await queue.next(max(0.0, began + allowed - time.monotonic()))
    except TimeoutError:
        fault, trouble = Fault.TIMEOUT, f"no answer within {allowed:.1f} s"
        lost = trouble
    else:
        if isinstance(message, Lost):
            fault, trouble, lost = message.fault, message.why, message.why
        elif isinstance(message, Hello):
            fault, trouble = Fault.PROTOCOL, "a second Hello"
        else:
            answer = message[0]
            fault, trouble = _fault_of(ask, message)
    reply = Reply(
        game=ask.game,
        view=ask.view,
        move=None if answer is None else answer.move,
        millis=(time.monotonic() - began) * 1000,
        fault=fault,
        trouble=trouble,
        nonce=answer is not None and answer.nonce == ask.nonce,
    )
    return reply, lost


def _fault_of(
    ask: DecisionRequested, answers: Sequence[PlayerAnswer]
) -> tuple[Fault, str] | tuple[None, None]:
    answer, seen = answers[0], ask.view
    if len(answers) > 1:
        return Fault.PROTOCOL, f"{len(answers)} moves instead of one"
    if (answer.game, answer.round, answer.turn) != (ask.game, seen.round, seen.turn):
        named = f"game {answer.game}, round {answer.round}, turn {answer.turn}"
        requested = f"game {ask.game}, round {seen.round}, turn {seen.turn}"
        return Fault.PROTOCOL, f"its move is for {named}, but the request was for {requested}"
    if answer.nonce not in {0, ask.nonce}:
        return (Fault.PROTOCOL, f"its move has the nonce {answer.nonce}, but the request has {ask.nonce}")
    if answer.move is None or answer.broken is not None:
        return Fault.PROTOCOL, answer.broken or "no move"
    if illegal := refusal(seen, answer.move):
        return Fault.ILLEGAL, illegal
    return None, None


async def _watch(sandbox: Sandbox, queue: _MessageQueue) -> int | None:
    how = await asyncio.to_thread(sandbox.wait)
    queue.ended(f"it exited with code {how.code}")
    return how.code


@contextmanager
def _running_sandbox(bot: LocalBot, folder: Path) -> Iterator[Sandbox]:
    install = f"local-{secrets.token_hex(4)}"
    runtime = ProcessRuntime({"bot": bot.command})
    spec = SandboxSpec(
        name=f"arena-{install}-0",
        source="bot",
        socket_dir=folder,
        slot=0,
        limits=Limits(),
        deadline_seconds=_DAY_SECONDS,
        labels={INSTALL_LABEL: install},
    )
    try:
        sandbox = runtime.launch(spec)
    except RuntimeFailure as error:
        raise BotUnloadable(str(error)) from error
    try:
        yield sandbox
    finally:
        sandbox.remove()
        runtime.sweep(install)
