"""Ordinary gRPC clients use only a small part of a bot's send budget."""

import pytest

from arena.play.referee.frames import MESSAGE_BYTES_LIMIT, MESSAGE_LIMIT, MOVE_LIMIT
from arena.rules import Rules
from tests.play.referee.lines import BOT, bots_over_sockets, conduct
from tests.soak import many

SYNCHRONOUS = """
import os, queue, sys
import grpc
from arena.wire.v1 import referee_pb2 as pb, referee_pb2_grpc as pb_grpc

outbox = queue.SimpleQueue()
outbox.put(pb.BotMessage(hello=pb.Hello(protocol=1, games_at_once=int(sys.argv[2]))))
# As lively as the library can be made: a ping whenever it may, and one that measures the line.
options = [
    ("grpc.keepalive_time_ms", 10), ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0), ("grpc.http2.bdp_probe", 1),
]
stub = pb_grpc.RefereeStub(grpc.insecure_channel(os.environ["ARENA_REFEREE"], options))
for message in stub.Play(iter(outbox.get, None)):
    for event in message.events:
        if event.HasField("turn_request"):
            asked = event.turn_request
            move = pb.Move(game=asked.game, round=asked.position.round, turn=asked.position.turn)
            move.cards.append(asked.hand[0])
            move.note = "n" * 256
            outbox.put(pb.BotMessage(moves=[move]))  # one by one, where others would put them together
"""


@pytest.mark.parametrize(
    ("program", "games_at_once"),
    [
        pytest.param(BOT, 1, id="SDK-1", marks=pytest.mark.soak),
        pytest.param(BOT, 32, id="SDK-32"),
        pytest.param(SYNCHRONOUS, 1, id="synchronous-1"),
        pytest.param(SYNCHRONOUS, 32, id="synchronous-32", marks=pytest.mark.soak),
    ],
)
def test_a_long_match_takes_a_small_part_of_what_is_allowed(program: str, games_at_once: int) -> None:
    """The clients use at most half of the limits on messages and moves, and a quarter of the others."""
    games = many(16, 64)
    with bots_over_sockets(["last"] * 2, games_at_once, program) as players:
        assert len(conduct(players, Rules(players=2), games)) == games
    for player in players:
        used = player.budget.used()
        shares = {limit.name: count / allowed for limit, (count, allowed) in used.items()}
        conversation = {
            limit.name: shares.pop(limit.name) for limit in (MESSAGE_LIMIT, MOVE_LIMIT, MESSAGE_BYTES_LIMIT)
        }
        assert max(conversation.values()) <= 0.5
        assert max(shares.values()) <= 0.25
