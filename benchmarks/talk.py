"""A match without a connection: this process encodes, reads and answers every message.

This measures the size of messages and the cost of everything except the connection.
"""

import time
from dataclasses import dataclass

from arena.play.referee.grpc_player import Encoder
from arena.play.referee.match import RefereedMatch
from arena.play.referee.player import Hello, PlayerAnswer
from arena.protocol.match import Clock
from arena.rules import Card, Rules, View
from arena.sdk.match import Match as BotMatch
from arena.wire.convert import move_from_wire
from arena.wire.v1 import referee_pb2 as pb


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """Means over a match between two bots."""

    request_bytes: int  # size of a referee's message
    answer_bytes: int  # size of a bot's message
    decisions: float  # number of decisions per message of a bot
    referee: float  # CPU seconds per decision for rules and messages
    bots: float  # CPU seconds per decision for messages and views


def encoder() -> Encoder:
    """Return an encoder like the referee's."""
    return Encoder()


def seeds(games: int) -> tuple[str, ...]:
    """Return this many seeds."""
    return tuple(f"{number:032x}" for number in range(games))


def first_card(view: View) -> Card:
    """Play the first card, like the benchmarks' bot."""
    return view.hand[0]


class _Conversation:
    """A match and its two bots."""

    def __init__(self, games: int, at_once: int) -> None:
        self._match = RefereedMatch(Rules(players=2), seeds(games), Clock())
        self._bots = [BotMatch(first_card), BotMatch(first_card)]
        self._encoder = encoder()
        self._cpu = [0.0, 0.0]
        self.requests: list[int] = []
        self.answers: list[int] = []
        self.decisions = 0
        for seat in range(2):
            self._match.greeted(seat, Hello(at_once, "bench"), 0.0)

    def play(self) -> list[float]:
        """Play to the end and return the CPU seconds of the referee and of the bots."""
        while not self._match.over:
            begin = time.process_time()
            messages = [
                (seat, self._encoder.message(events).SerializeToString())
                for seat, events in self._match.outbox()
            ]
            asked = time.process_time()
            answers = [(seat, self._answer(seat, data)) for seat, data in messages]
            answered = time.process_time()
            for seat, data in answers:
                self._match.answered(seat, _read(data), 0.0)
            self._cpu[0] += asked - begin + time.process_time() - answered
            self._cpu[1] += answered - asked
            self.requests += [len(data) for _, data in messages]
            self.answers += [len(data) for _, data in answers]
        return self._cpu

    def _answer(self, seat: int, data: bytes) -> bytes:
        moves = list(self._bots[seat].answers(pb.RefereeMessage.FromString(data)))
        self.decisions += len(moves)
        return pb.BotMessage(moves=moves).SerializeToString()


def measure_talk(games: int, at_once: int) -> Talk:
    """Play a match of two bots that play ``at_once`` of the games concurrently."""
    conversation = _Conversation(games, at_once)
    referee, bots = conversation.play()
    count = len(conversation.requests)
    return Talk(
        request_bytes=round(sum(conversation.requests) / count),
        answer_bytes=round(sum(conversation.answers) / count),
        decisions=conversation.decisions / count,
        referee=referee / conversation.decisions,
        bots=bots / conversation.decisions,
    )


def _read(data: bytes) -> list[PlayerAnswer]:
    return [
        PlayerAnswer(move.game, move.round, move.turn, move_from_wire(move), move.note)
        for move in pb.BotMessage.FromString(data).moves
    ]
