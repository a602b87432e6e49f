"""The bot's side of one match, over one stream."""

import faulthandler
import inspect
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from types import FrameType
from typing import Final

from grpc import aio

from arena import __version__
from arena.rules import Hand, Result, Rules, Turn, View
from arena.sdk.bot import Bot, GameOver, as_move, new_chooser, note_of
from arena.sdk.stream import PROTOCOL, Call, print_notice, run_stream, send
from arena.wire import convert
from arena.wire.v1 import referee_pb2 as pb


class BotFailed(Exception):
    """The bot's code raised an exception, which caused this one. The message says when that happened."""


Timed = Callable[[float], AbstractContextManager[None]]
"""Returns a context manager for a decision with this time limit, in seconds."""

_MIN_SECONDS: Final = 0.001
_MILLI: Final = 1e-3

# The C function: signal.getsignal also converts the result to an enum, which takes longer than the rest.
_handler_of: Final[Callable[[int], object]] = getattr(signal.getsignal, "__wrapped__", signal.getsignal)


def _untimed(_seconds: float) -> AbstractContextManager[None]:
    return nullcontext()


def stack_when_late() -> Timed:
    """Return a function whose contexts print the stack to stderr once a decision's time is up.

    The signal handler is faulthandler's. It is written in C, so it also works while NumPy is computing or the
    bot is waiting for a lock. If the bot has its own handler for the signal, the timer isn't touched.
    """
    if _handler_of(signal.SIGALRM) != signal.SIG_DFL:  # the bot has its own handler
        return _untimed
    try:
        faulthandler.unregister(signal.SIGALRM)  # otherwise, register() would not install it again
        signal.signal(signal.SIGALRM, _print_stack)
        faulthandler.register(signal.SIGALRM, all_threads=False)
    except (AttributeError, OSError, RuntimeError, ValueError):  # no stderr, or unsupported here
        return _untimed
    return _Timer


def _print_stack(_number: int, _frame: FrameType | None) -> None:
    """Print the stack, as faulthandler's handler does.

    Python can't see faulthandler's handler. A bot that sets its own handler and then restores the previous
    one restores this one.
    """
    with suppress(Exception):  # a closed stderr must not fail the bot
        faulthandler.dump_traceback(all_threads=False)


class _Timer(AbstractContextManager[None]):
    """Times one decision. A context manager made with contextlib would take twice as long to create."""

    __slots__ = ("_seconds",)

    def __init__(self, seconds: float) -> None:
        self._seconds = max(seconds, _MIN_SECONDS)

    def __enter__(self) -> None:
        if _timer_is_free():
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        if _timer_is_free():
            signal.setitimer(signal.ITIMER_REAL, 0)


def _timer_is_free() -> bool:
    return _handler_of(signal.SIGALRM) is _print_stack


class GameInProgress:
    """The bot's side of one game, with the history that a view needs."""

    def __init__(self, bot: Bot, start: pb.GameStart, timed: Timed) -> None:
        """Begin a game.

        Raises BotFailed if the bot's class couldn't be instantiated, or InvalidRules if the referee sent an
        unknown variant.
        """
        self._number = start.game
        self._seat = start.seat
        self._move_millis = start.clock.move_millis
        self._timed = timed
        self._rules: Rules = convert.rules_from_wire(start.rules)
        self._turns: tuple[Turn, ...] = ()
        self._round = 0
        self._past_hands: tuple[Hand, ...] = ()
        try:
            self._chooser = new_chooser(bot)
        except (Exception, SystemExit) as error:
            raise BotFailed("a game began") from error

    def revealed(self, message: pb.TurnResult) -> None:
        """Add a revealed turn to the history."""
        self._turns += (convert.turn_from_wire(message),)

    def answer(self, request: pb.TurnRequest, max_note_bytes: int) -> pb.Move:
        """Request a decision from the bot.

        Notes of more than ``max_note_bytes`` are truncated. Raises BotFailed if ``choose`` failed or returned
        something that isn't an answer, or ValueError if the referee sent an unknown card.
        """
        position = request.position
        if position.round != self._round:
            self._round, self._past_hands = position.round, ()
        view = convert.view_from_wire(
            request, rules=self._rules, seat=self._seat, turns=self._turns, past_hands=self._past_hands
        )
        self._past_hands += (view.hand,)
        left = self._move_millis + request.bank_millis - request.asked_millis_ago
        try:
            with self._timed(left * _MILLI):
                answer = self._chooser.choose(view)
            move, note = as_move(answer, view), note_of(answer)
        except (Exception, SystemExit) as error:
            raise BotFailed(_describe_decision(self._number, view)) from error
        if note:
            # Truncate at a character boundary. Replace surrogates, which UTF-8 can't encode.
            note = note.encode(errors="replace")[:max_note_bytes].decode(errors="ignore")
        return convert.move_to_wire(self._number, view, move, note, request.nonce)

    def over(self, message: pb.GameEnd) -> None:
        """Call the bot's ``game_over``. Raises BotFailed if it raised an exception."""
        result: Result = convert.result_from_wire(message)
        if self._chooser.game_over is None:
            return
        try:
            self._chooser.game_over(GameOver(self._rules, self._seat, self._turns, result))
        except (Exception, SystemExit) as error:
            raise BotFailed(f"game {self._number} ended") from error


def _describe_decision(number: int, view: View) -> str:
    tables = "; ".join(
        f"{'own' if player == view.seat else player}: {' '.join(card.label for card in table) or 'nothing'}"
        for player, table in enumerate(view.tables)
    )
    return (
        f"it was asked for a move in game {number}, round {view.round}, turn {view.turn}, seat {view.seat}\n"
        f"  hand    {' '.join(card.label for card in view.hand)}\n"
        f"  tables  {tables}"
    )


_SDK: Final = f"kaiten-python/{__version__}"
_SDK_PACKAGE: Final = "arena.sdk."

_BATCH_SECONDS: Final = 0.02
"""Answers to one message that are ready within this time are sent together."""


def play_match(bot: Bot, address: str, games_at_once: int) -> int:
    """Play a match and return the exit code, as :func:`arena.sdk.run` describes it."""
    try:
        return run_stream(address, lambda call: _play(bot, call, games_at_once))
    except BotFailed as failure:
        _print_traceback(failure, bot)
        return 1
    except ValueError as error:
        print_notice(f"the referee sent a message that this library does not understand: {error}")
        return 2


async def _play(bot: Bot, call: Call, games_at_once: int) -> int:
    hello = pb.Hello(protocol=PROTOCOL, sdk=_SDK, games_at_once=games_at_once)
    await send(call, pb.BotMessage(hello=hello))
    match = Match(bot, stack_when_late())
    try:
        while isinstance(message := await call.read(), pb.RefereeMessage):
            for moves in _batched(match.answers(message)):
                await send(call, pb.BotMessage(moves=moves))
                if call.done():
                    break
    except aio.AioRpcError:
        # The referee closes its socket after MatchEnd. If gRPC is writing to the socket at that moment, it
        # reports a lost connection instead of the stream's status.
        if not match.over:
            raise
    return 0


def _batched(answers: Iterator[pb.Move]) -> Iterator[list[pb.Move]]:
    """Yield answers in batches, which saves time.

    A slow answer is sent immediately, because the bot's clock runs until the answer has been sent.
    """
    together: list[pb.Move] = []
    began = time.monotonic()
    for answer in answers:
        together.append(answer)
        if time.monotonic() - began > _BATCH_SECONDS:
            yield together
            together, began = [], time.monotonic()
    if together:
        yield together


class Match:
    """All games in a match, by number."""

    def __init__(self, bot: Bot, timed: Timed = _untimed) -> None:
        self._bot = bot
        self._timed = timed
        self._games: dict[int, GameInProgress] = {}
        self._max_note_bytes = 0
        self.over = False  # whether MatchEnd has arrived

    def answers(self, message: pb.RefereeMessage) -> Iterator[pb.Move]:
        """Handle the events in a message, and yield the answers to its requests.

        Unknown events are ignored. Raises BotFailed if the bot's own code failed, or
        ValueError if the referee sent an unknown card, game or variant.
        """
        for event in message.events:
            kind = event.WhichOneof("event")
            if kind == "turn_request":
                request = event.turn_request
                yield self._game(request.game).answer(request, self._max_note_bytes)
            elif kind == "turn_result":
                self._game(event.turn_result.game).revealed(event.turn_result)
            elif kind == "game_start":
                self._games[event.game_start.game] = GameInProgress(self._bot, event.game_start, self._timed)
            elif kind == "game_end":
                self._game(event.game_end.game).over(event.game_end)
                del self._games[event.game_end.game]
            elif kind == "notice":
                print_notice(_describe_notice(event.notice))
                if event.notice.fault == pb.FAULT_KIND_ILLEGAL:
                    _print_location(self._bot)
            elif kind == "welcome":
                self._max_note_bytes = event.welcome.max_note_bytes
            elif kind == "match_end":
                self.over = True

    def _game(self, number: int) -> GameInProgress:
        try:
            return self._games[number]
        except KeyError:
            raise ValueError(f"an event for game {number}, which has not begun or is already over") from None


def _describe_notice(notice: pb.Notice) -> str:
    known = notice.fault in pb.FaultKind.values()
    fault = pb.FaultKind.Name(notice.fault).removeprefix("FAULT_KIND_").lower() if known else "fault"
    where = f"game {notice.game}, round {notice.round}, turn {notice.turn}"
    after = "; a stand-in plays this game to its end" if notice.taken_over else ""
    return f"{where}: {fault}: {' '.join(notice.text.split())}{after}"


def _print_traceback(failure: BotFailed, bot: Bot) -> None:
    """Print the traceback for the bot's author, starting in the author's own code."""
    cause = failure.__cause__
    if cause is not None:
        frames = cause.__traceback__
        own = (frames and frames.tb_next) or frames  # a call with the wrong arguments never reaches the bot
        traceback.print_exception(cause.with_traceback(own))
        if all(
            frame.f_globals.get("__name__", "").startswith(_SDK_PACKAGE)
            for frame, _ in traceback.walk_tb(own)
        ):
            _print_location(bot)
    print_notice(f"the bot failed when {failure}")


def _print_location(bot: Bot) -> None:
    """Print where the bot's code is, for errors without a traceback into it, such as an illegal move."""
    with suppress(Exception):  # this may call the bot's own code
        # Find the method of a class, or the function in a functools.partial.
        chooses = inspect.unwrap(getattr(bot, "choose" if isinstance(bot, type) else "func", bot))
        code = getattr(chooses, "__code__", None) or type(chooses).__call__.__code__
        print_notice(f"choose() is in {code.co_filename}, line {code.co_firstlineno}")
