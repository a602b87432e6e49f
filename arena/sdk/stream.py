"""The bot's stream to its referee.

This module uses ``grpc.aio``, because the synchronous client passes every message between threads and takes
about a third more CPU time per decision.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias

from grpc import aio

from arena.wire.v1 import referee_pb2 as pb
from arena.wire.v1.referee_pb2_grpc import RefereeStub

Call: TypeAlias = "aio.StreamStreamCall[pb.BotMessage, pb.RefereeMessage]"

PROTOCOL: Final = 1
_CONNECT_SECONDS: Final = 10.0
"""Maximum wait for a socket that doesn't exist yet."""

_STALL_SECONDS: Final = 300.0
"""Maximum wait for a referee whose socket exists. While a host is stalled, the referee can't answer, but the
time to Hello is paused. The arena kills bots that it has given up on, so a long limit does no harm."""

_OPTIONS: Final = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.enable_retries", 0),
    # The socket may appear a moment after the bot starts. grpc.min_reconnect_backoff_ms must keep its default
    # of 20 s, because it also limits how long an attempt may take: on a busy host, the referee may be slow.
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
)


def run_stream(address: str, conversation: Callable[[Call], Awaitable[int]]) -> int:
    """Connect to a referee and run ``conversation``. Return its exit code, or 2 if the connection failed."""
    try:
        return asyncio.run(_run_stream(address, conversation))
    except TimeoutError:
        print_notice(f"no referee answered at {address}")
    except aio.AioRpcError as error:
        print_notice(f"the connection to the referee was lost: {error.details()} ({error.code().name})")
    return 2


async def send(call: Call, message: pb.BotMessage) -> None:
    """Send a message, unless the stream has ended."""
    for _ in range(3):  # let the event loop read a status that has arrived, or the write would replace it
        await asyncio.sleep(0)
    try:
        await call.write(message)
    except (asyncio.InvalidStateError, aio.AioRpcError):
        return  # the next read reports the reason


def print_notice(text: str) -> None:
    """Write a line for the bot's author."""
    sys.stderr.write(f"kaiten: {text}\n")


async def _run_stream(address: str, conversation: Callable[[Call], Awaitable[int]]) -> int:
    async with aio.insecure_channel(address, options=_OPTIONS) as channel:
        await _await_referee(channel, address)
        return await conversation(RefereeStub(channel).Play())


async def _await_referee(channel: aio.Channel, address: str) -> None:
    """Wait until the referee responds. Raises TimeoutError if it doesn't."""
    socket = Path(address.removeprefix("unix:"))
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            await channel.channel_ready()
    except TimeoutError:
        if not socket.is_socket():  # noqa: ASYNC240 - nothing else is running yet
            raise
        async with asyncio.timeout(_STALL_SECONDS):
            await channel.channel_ready()
