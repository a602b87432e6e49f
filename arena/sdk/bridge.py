"""Connects programs that don't use gRPC: they exchange messages as lines of JSON on stdin and stdout.

Each line is one message in protobuf's JSON mapping. The program reads RefereeMessages and writes BotMessages.
Run as ``python -m arena.sdk.bridge COMMAND...``, or ``arena bridge -- COMMAND...``.
"""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from google.protobuf.json_format import MessageToJson, Parse, ParseError
from grpc import aio

from arena.sdk.main import ADDRESS, cancel_timer
from arena.sdk.stream import Call, print_notice, run_stream, send
from arena.wire.v1 import referee_pb2 as pb

_LINE_BYTES: Final = 64 * 1024
_SHOWN: Final = 200
_LEAVE_SECONDS: Final = 2.0

_NO_ADDRESS: Final = f"""\
{ADDRESS} is not set: the arena sets it to the address of a referee when it starts a bot. To try a bot here:
    arena play greedy --bot "arena bridge -- ./mybot"
"""


def bridge(command: Sequence[str]) -> int:
    """Run a program, pass messages between it and the referee, and return the exit code.

    The exit code is 0 if the referee ended the match; 1 if the program ended earlier, or wrote something that
    is not a message; 2 if the program couldn't be started, no referee answered, or the referee disconnected
    or refused the bot.
    """
    address = os.environ.get(ADDRESS)
    if not address:
        sys.stderr.write(_NO_ADDRESS)
        return 2
    cancel_timer()
    # gRPC's own log lines would go to the bot's stderr, which is for its author.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    return run_stream(address, lambda call: _run(call, command))


async def _run(call: Call, command: Sequence[str]) -> int:
    try:
        program = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=_LINE_BYTES)
    except OSError as error:
        print_notice(f"can't run {command[0]}: {error.strerror}")
        return 2
    over = asyncio.Event()  # set once MatchEnd has arrived
    spoken = asyncio.create_task(_from_program(call, program))
    received = asyncio.create_task(_to_program(call, program, over))
    try:
        await asyncio.wait((spoken, received), return_when=asyncio.FIRST_COMPLETED)
        if received.done():
            received.result()
            return 0
        problem = spoken.result()
        if not problem and over.is_set():
            return 0
        if not problem:
            await _end(program)
            problem = f"the program exited or closed its stdout (exit code {program.returncode})"
        print_notice(problem)
        return 1
    finally:
        for task in (spoken, received):
            task.cancel()
        await _end(program)


async def _to_program(call: Call, program: Process, over: asyncio.Event) -> None:
    """Write what the referee sends, until it ends the stream. After MatchEnd, it may also disconnect."""
    if program.stdin is None:
        raise RuntimeError("the program has no stdin")
    try:
        while isinstance(message := await call.read(), pb.RefereeMessage):
            if any(event.HasField("match_end") for event in message.events):
                over.set()
            # Write zeros too, so that programs need no defaults.
            line = MessageToJson(message, indent=None, always_print_fields_with_no_presence=True)
            program.stdin.write(line.encode() + b"\n")
            with suppress(
                BrokenPipeError, ConnectionResetError
            ):  # the program has ended, so its stdout will be closed
                await program.stdin.drain()
    except aio.AioRpcError:  # gRPC may report this instead of the stream's end: see arena.sdk.match
        if not over.is_set():
            raise


async def _from_program(call: Call, program: Process) -> str:
    """Send what the program writes. Return why a line is invalid, or "" if the program closes stdout."""
    if program.stdout is None:
        raise RuntimeError("the program has no stdout")
    while True:
        try:
            line = await program.stdout.readline()
        except ValueError:
            return f"the program wrote a line of more than {_LINE_BYTES // 1024} KiB: write shorter messages"
        if not line:
            return ""
        if line.strip():
            try:
                message = Parse(line, pb.BotMessage())
            except (ParseError, UnicodeDecodeError) as error:
                shown = line.decode(errors="backslashreplace").rstrip()[:_SHOWN]
                return f"the program wrote a line that is not a BotMessage: {error}: {shown}"
            await send(call, message)


async def _end(program: Process) -> None:
    """Close the program's stdin, and kill the program if it doesn't exit soon."""
    if program.stdin is not None:
        program.stdin.close()
    try:
        async with asyncio.timeout(_LEAVE_SECONDS):
            await program.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            program.kill()
        await program.wait()


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit("usage: python -m arena.sdk.bridge COMMAND...")
    sys.exit(bridge(sys.argv[1:]))
