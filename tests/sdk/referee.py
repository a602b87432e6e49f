"""A scripted referee: a real gRPC server on a Unix socket, for a bot in a real process."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import grpc
from grpc import aio

from arena.rules import Move, Rules, State, apply, new_game, seats_to_move, shuffled_deck, view
from arena.wire import convert
from arena.wire.v1 import referee_pb2 as pb
from arena.wire.v1.referee_pb2_grpc import RefereeServicer, add_RefereeServicer_to_server
from tests.folders import short_folder
from tests.patience import WAIT_SECONDS

ROOT = Path(__file__).resolve().parents[2]
NONCE = 4_000_000_007


Context: TypeAlias = "aio.ServicerContext[pb.BotMessage, pb.RefereeMessage]"


class Exit(NamedTuple):
    """How the bot's process ended."""

    code: int
    stderr: str


class Talk:
    """The referee's end of the stream."""

    def __init__(self, context: Context, server: aio.Server, process: asyncio.subprocess.Process) -> None:
        self._context = context
        self._server = server
        self.process = process

    async def send(self, *events: pb.Event) -> None:
        """Send events in one message."""
        await self._context.write(pb.RefereeMessage(events=events))

    async def receive(self) -> pb.BotMessage:
        """Return the bot's next message."""
        message = await self._context.read()
        assert isinstance(message, pb.BotMessage), "the bot has closed its stream"
        return message

    async def go_away(self) -> None:
        """Stop the server under the stream; this never returns."""
        # In a separate task, since the server cancels the one that runs the script.
        stopping = asyncio.get_running_loop().create_task(self._server.stop(None))
        await asyncio.wait([stopping])

    async def closed(self) -> None:
        """Wait until the bot closes its stream; it must not send another message."""
        assert not isinstance(await self._context.read(), pb.BotMessage)

    async def drained(self) -> None:
        """Read messages until the bot closes its stream. If it exits at once, its last ones may be lost."""
        while isinstance(await self._context.read(), pb.BotMessage):
            pass

    async def refuse(self, code: grpc.StatusCode, words: str) -> None:
        """End the stream with an error."""
        await self._context.abort(code, words)

    async def welcome(self, rules: Rules, seat: int = 0, games: int = 1) -> pb.Hello:
        """Read the Hello and return it. Send a welcome and the games' starts in one message."""
        hello = (await self.receive()).hello
        starts = [
            convert.game_start(game, seat, rules, move_millis=1000, bank_millis=1000) for game in range(games)
        ]
        await self.send(
            pb.Event(welcome=pb.Welcome(protocol=1, games=games, games_at_once=games, max_note_bytes=256)),
            *[pb.Event(game_start=start) for start in starts],
        )
        return hello

    async def ask(self, rules: Rules) -> None:
        """Welcome a bot, and request the first decision of its game."""
        await self.welcome(rules)
        await self.send(request(first_state(rules)))

    async def asked(self, rules: Rules) -> pb.Move:
        """Welcome a bot, and return the answer to the first request."""
        await self.ask(rules)
        (move,) = (await self.receive()).moves
        return move


Script = Callable[[Talk], Awaitable[None]]


class _Servicer(RefereeServicer):
    def __init__(self, script: Script) -> None:
        self._script = script
        self.server: aio.Server
        self.process: asyncio.Future[asyncio.subprocess.Process]
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def Play(self, _: object, context: Context) -> None:  # type: ignore[override]  # noqa: N802 - the service's name
        try:
            await self._script(Talk(context, self.server, await self.process))
        except BaseException as error:
            if not self.ended.done() and isinstance(error, AssertionError):
                self.ended.set_exception(error)
            raise
        self.ended.set_result(None)


Command = Callable[[str], list[str]]
"""A function from the folder with the referee's socket to the words of a command that starts a bot."""


def in_python(source: str) -> Command:
    """Return a command that starts a bot from this Python source."""
    return lambda _folder: [sys.executable, "-c", source]


def play(source: str, script: Script, *, before: bytes = b"") -> Exit:
    """Run a bot from this Python source against a script; see ``play_command``."""
    return play_command(in_python(source), script, before=before)


def play_command(command: Command, script: Script, *, before: bytes = b"") -> Exit:
    """Run a bot against a script. The server starts only after the line ``before`` on the bot's stdout."""
    return asyncio.run(asyncio.wait_for(_play(command, script, before), WAIT_SECONDS))


async def _play(command: Command, script: Script, before: bytes) -> Exit:
    with short_folder() as folder:
        address = f"unix://{folder}/referee.sock"
        servicer = _Servicer(script)
        servicer.process = asyncio.get_running_loop().create_future()
        servicer.server = server = aio.server()
        add_RefereeServicer_to_server(servicer, server)
        server.add_insecure_port(address)
        if not before:
            await server.start()
        process = await asyncio.create_subprocess_exec(
            *command(str(folder)),
            env={**os.environ, "ARENA_REFEREE": address, "PYTHONPATH": str(ROOT)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        servicer.process.set_result(process)
        if before:
            assert process.stdout is not None
            assert await process.stdout.readline() == before
            await server.start()
        assert process.stderr is not None
        stderr = await process.stderr.read()
        await process.wait()
        await server.stop(None)
        if servicer.ended.done():
            servicer.ended.result()
        assert process.returncode is not None
        return Exit(process.returncode, stderr.decode())


def first_state(rules: Rules) -> State:
    """Return the state at the first decision of a game."""
    return new_game(rules, shuffled_deck(rules, bytes(16)))


def request(state: State, seat: int = 0, game: int = 0) -> pb.Event:
    """Return the request for a seat's move."""
    seen = view(state, seat)
    event = pb.Event()
    convert.fill_turn_request(
        event.turn_request, game, seen, convert.position_to_wire(seen), bank_millis=1000, nonce=NONCE
    )
    return event


def step(state: State, seat: int, move: Move | None) -> State:
    """Play one turn with the seat's move and the others' first legal moves."""
    others = {other: view(state, other).legal_moves()[0] for other in seats_to_move(state) if other != seat}
    return apply(state, [move if at == seat else others.get(at) for at in range(state.rules.players)])
