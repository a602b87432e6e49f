"""One match over one stream.

``grpc.aio`` rather than the synchronous client: that one hands every message
over between threads, and takes about a third more CPU time a decision.
"""

import asyncio
import sys
import traceback
from typing import Final

from grpc import aio

from arena import __version__
from arena.sdk.bot import Bot
from arena.sdk.game import BotFailed, Game
from arena.wire.v1 import referee_pb2 as pb
from arena.wire.v1.referee_pb2_grpc import RefereeStub

_PROTOCOL: Final = 1
_SDK: Final = f"kaiten-python/{__version__}"
_PATIENCE_SECONDS: Final = 10.0
_OPTIONS: Final = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.enable_retries", 0),
    # The socket may be there a moment later than the bot.
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
)


def play_match(bot: Bot, address: str, games_at_once: int) -> int:
    """Play a match and return the exit code, as :func:`arena.sdk.run` describes it."""
    try:
        asyncio.run(_play(bot, address, games_at_once))
    except BotFailed as failure:
        _blame(failure)
        return 1
    except TimeoutError:
        _say(f"no referee answered at {address} within {_PATIENCE_SECONDS:.0f} seconds")
        return 2
    except aio.AioRpcError as error:
        _say(f"the referee is gone: {error.details()} ({error.code().name})")
        return 2
    except ValueError as error:
        _say(f"the referee sent what this library does not understand: {error}")
        return 2
    return 0


async def _play(bot: Bot, address: str, games_at_once: int) -> None:
    async with aio.insecure_channel(address, options=_OPTIONS) as channel:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await channel.channel_ready()
        call = RefereeStub(channel).Play()
        hello = pb.Hello(protocol=_PROTOCOL, sdk=_SDK, games_at_once=games_at_once)
        await _send(call, pb.BotMessage(hello=hello))
        match = Match(bot)
        while isinstance(message := await call.read(), pb.RefereeMessage):
            if moves := match.answers(message):
                await _send(call, pb.BotMessage(moves=moves))


async def _send(
    call: "aio.StreamStreamCall[pb.BotMessage, pb.RefereeMessage]", message: pb.BotMessage
) -> None:
    try:
        await call.write(message)
    except (asyncio.InvalidStateError, aio.AioRpcError):
        return  # the stream has ended meanwhile; reading tells how


class Match:
    """All games of a match, told apart by their numbers."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._games: dict[int, Game] = {}
        self._max_note_bytes = 0

    def answers(self, message: pb.RefereeMessage) -> list[pb.Move]:
        """Take in what happened, and return the answer to every request in it.

        Events that this library does not know are passed over.

        Raises:
            BotFailed: The bot's own code raised.
            ValueError: The referee named a card, a game or rules that there are not.
        """
        moves = []
        for event in message.events:
            kind = event.WhichOneof("event")
            if kind == "turn_request":
                request = event.turn_request
                moves.append(self._game(request.game).answer(request, self._max_note_bytes))
            elif kind == "turn_result":
                self._game(event.turn_result.game).revealed(event.turn_result)
            elif kind == "game_start":
                self._games[event.game_start.game] = Game(self._bot, event.game_start)
            elif kind == "game_end":
                self._game(event.game_end.game).over(event.game_end)
                del self._games[event.game_end.game]
            elif kind == "notice":
                _say(_in_words(event.notice))
            elif kind == "welcome":
                self._max_note_bytes = event.welcome.max_note_bytes
        return moves

    def _game(self, number: int) -> Game:
        try:
            return self._games[number]
        except KeyError:
            raise ValueError(f"an event of game {number}, which has not begun or has ended") from None


def _in_words(notice: pb.Notice) -> str:
    known = notice.fault in pb.FaultKind.values()
    fault = pb.FaultKind.Name(notice.fault).removeprefix("FAULT_KIND_").lower() if known else "fault"
    where = f"game {notice.game}, round {notice.round}, turn {notice.turn}"
    after = "; a stand-in plays this game to its end" if notice.taken_over else ""
    return f"{where}: {fault}: {' '.join(notice.text.split())}{after}"


def _blame(failure: BotFailed) -> None:
    """Show the bot's author the traceback from the author's own code on."""
    cause = failure.__cause__
    if cause is not None:
        frames = cause.__traceback__
        traceback.print_exception(cause.with_traceback(frames.tb_next if frames else None))
    _say(f"the bot failed: {failure.what}")


def _say(text: str) -> None:
    sys.stderr.write(f"kaiten: {text}\n")
