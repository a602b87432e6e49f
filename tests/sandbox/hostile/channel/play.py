"""A bot on a hand-made connection that plays honestly until its attack. Runs in a bot's container."""

import contextlib
import struct
from typing import Final

from arena.rules import Rules
from arena.wire.convert import move_to_wire, rules_from_wire, view_from_wire
from arena.wire.v1 import referee_pb2 as pb
from tests.sandbox.hostile.bot import MOMENT, choose, tell
from tests.sandbox.hostile.channel.raw import (
    ACK,
    CALL,
    DATA,
    END_STREAM,
    FRAME_BYTES,
    GOAWAY,
    HEADERS,
    PING,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    Closed,
    Line,
    frame,
    headers,
    window_update,
)

HELLO: Final = pb.BotMessage(hello=pb.Hello(protocol=1, sdk="hostile", games_at_once=1))
LAST: Final = (3, 9)
"""The last decision that the referee requests in a game of two."""

_INITIAL_WINDOW: Final = 65_535
_INITIAL_WINDOW_SIZE: Final = 4  # identifier of the setting


class Ended(Exception):
    """The referee has ended the stream, or the whole connection."""


class Call:
    """One call of Play.

    ``extra`` contains encoded headers beyond those that a call needs. ``stream`` is an odd number.
    """

    def __init__(self, line: Line, extra: bytes = b"", stream: int = 1) -> None:
        self.line = line
        self.stream = stream
        self._inbox = bytearray()
        self._windows = {0: _INITIAL_WINDOW, stream: _INITIAL_WINDOW}
        self._initial = _INITIAL_WINDOW
        # If the referee ends the connection during the call, the next operation raises Ended.
        with contextlib.suppress(Ended):
            self.raw(headers(CALL + extra, stream=stream))

    def send(self, message: bytes, *, compressed: int = 0, length: int | None = None) -> None:
        """Send a message. ``length`` is the length that it declares, if not its true one.

        Raises Ended if the referee has ended the stream.
        """
        said = len(message) if length is None else length
        self.data(struct.pack(">BI", compressed, said) + message)

    def data(self, payload: bytes) -> None:
        """Send bytes on the stream, within the referee's flow-control windows.

        Raises Ended if the referee has ended the stream.
        """
        while payload:
            room = min(FRAME_BYTES, *self._windows.values())
            if room <= 0:
                self._step()
                continue
            part, payload = payload[:room], payload[room:]
            for window in self._windows:
                self._windows[window] -= len(part)
            self.raw(frame(DATA, part, stream=self.stream))

    def raw(self, frames: bytes) -> None:
        """Send frames as they are.

        Raises Ended if the referee has ended the connection.
        """
        try:
            self.line.send(frames)
        except Closed as error:
            raise Ended from error

    def receive(self) -> bytes:
        """Return the referee's next message.

        Raises Ended if there is none.
        """
        while len(self._inbox) < 5 or len(self._inbox) < 5 + int.from_bytes(self._inbox[1:5], "big"):
            self._step()
        end = 5 + int.from_bytes(self._inbox[1:5], "big")
        message = bytes(self._inbox[5:end])
        del self._inbox[:end]
        return message

    def wait_for_end(self) -> None:
        """Wait until the referee ends the stream, and drop what it sends before."""
        try:
            while True:
                self._inbox.clear()
                self._step()
        except Ended:
            return

    def _step(self) -> None:
        """Read and process one frame."""
        try:
            found = self.line.frame()
            if found.kind == DATA and found.stream == self.stream:
                self._inbox += found.payload
                if found.payload:
                    size = len(found.payload)
                    self.line.send(window_update(0, size) + window_update(self.stream, size))
            elif found.kind == SETTINGS and not found.flags & ACK:
                self._settings(found.payload)
                self.line.send(frame(SETTINGS, flags=ACK))
            elif found.kind == PING and not found.flags & ACK:
                self.line.send(frame(PING, found.payload, flags=ACK))
            elif found.kind == WINDOW_UPDATE and found.stream in self._windows:
                self._windows[found.stream] += int.from_bytes(found.payload, "big")
        except Closed as error:
            raise Ended from error
        ends = found.kind == RST_STREAM or (found.kind in {DATA, HEADERS} and found.flags & END_STREAM)
        if found.kind == GOAWAY or (ends and found.stream == self.stream):
            raise Ended

    def _settings(self, payload: bytes) -> None:
        for number, value in struct.iter_unpack(">HI", payload):
            if number == _INITIAL_WINDOW_SIZE:
                self._windows[self.stream] += value - self._initial
                self._initial = value


class Bot:
    """Plays a match of one game over a call."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.notices: list[pb.Notice] = []
        self._rules = Rules(players=2)
        self._seat = 0

    def say(self, message: pb.BotMessage) -> None:
        """Send a message."""
        self.call.send(message.SerializeToString())

    def answer(self, *moves: pb.Move) -> None:
        """Send answers in one message."""
        self.say(pb.BotMessage(moves=moves))

    def asked(self) -> pb.Move:
        """Return the honest answer to the next request, without sending it.

        Raises Ended if there is none.
        """
        request = None
        while request is None:
            # A notice after a request may mean that the request is settled. The answer is then ignored.
            for event in pb.RefereeMessage.FromString(self.call.receive()).events:
                kind = event.WhichOneof("event")
                if kind == "game_start":
                    self._rules, self._seat = rules_from_wire(event.game_start.rules), event.game_start.seat
                elif kind == "notice":
                    self.notices.append(event.notice)
                elif kind == "turn_request":
                    request = event.turn_request
        return self._honest(request)

    def play_to(self, moment: tuple[int, int] = MOMENT) -> pb.Move:
        """Play honestly up to a decision, and return the honest answer to it, without sending it."""
        while True:
            move = self.asked()
            if (move.round, move.turn) == moment:
                return move
            self.answer(move)

    def play_on(self, move: pb.Move | None = None) -> None:
        """Play honestly to the end of the match, starting with this answer if there is one."""
        try:
            while True:
                self.answer(self.asked() if move is None else move)
                move = None
        except Ended:
            return

    def _honest(self, request: pb.TurnRequest) -> pb.Move:
        # The honest choice depends only on the hand and the table, so the past may be left out.
        view = view_from_wire(request, rules=self._rules, seat=self._seat, turns=(), past_hands=())
        return move_to_wire(request.game, view, choose(view))


def greeted() -> Bot:
    """Return a bot that has sent a correct Hello."""
    line = Line()
    line.greet()
    bot = Bot(Call(line))
    bot.say(HELLO)
    return bot


def tell_whether_it_ends(bot: Bot, *, crossing: int = 0, **facts: object) -> None:
    """Wait until the referee ends the stream or sends a request, and report which.

    If the stream has ended, the bot tries to connect again. If there is a request, the attack has succeeded
    and the bot leaves. ``crossing`` is the number of requests that the referee may send before it reads what
    the bot did; they don't count as success.
    """
    try:
        for _ in range(crossing + 1):
            bot.asked()
    except Ended:
        tell(**facts, ended=True, came_back=_comes_back())
    else:
        tell(**facts, ended=False)


def tell_of_the_notice(bot: Bot, **facts: object) -> None:
    """Play honestly until the referee's notice arrives, report it, and play on."""
    try:
        move = bot.asked()
        while not bot.notices and (move.round, move.turn) < LAST:
            bot.answer(move)
            move = bot.asked()
    except Ended:  # a seat that was taken over gets no more requests
        tell(**facts, noticed=[notice.text for notice in bot.notices])
        return
    tell(**facts, noticed=[notice.text for notice in bot.notices])
    bot.play_on(move)


def _comes_back() -> bool:
    """Connect again with a Hello, and return whether the referee responds."""
    try:
        greeted().call.receive()
    except (OSError, Closed, Ended):
        return False
    return True
