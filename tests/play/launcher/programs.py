"""Bots for complete matches: good ones, and one for each way to fail."""

from typing import Final

GOOD: Final = """
from arena.sdk import run

def choose(view):
    return view.legal_moves()[-1]

run(choose)
"""

TALKS: Final = """
import sys
from arena.sdk import run

def choose(view):
    print(f"round {view.round}, turn {view.turn}", file=sys.stderr)
    return view.legal_moves()[-1]

run(choose, games_at_once=1)
"""

DIES_AT_START: Final = """
import sys
print("no model file found", file=sys.stderr)
sys.exit(3)
"""

NEVER_CONNECTS: Final = """
import signal
signal.pause()
"""

ANSWERS_RUBBISH: Final = """
from arena.sdk import Card, run

def choose(view):
    return next(card for card in Card if card not in view.hand)

run(choose)
"""

RAISES_IN_ROUND_2: Final = """
from arena.sdk import run

def choose(view):
    if view.round == 2:
        raise RuntimeError("division of sushi by zero")
    return view.legal_moves()[-1]

run(choose, games_at_once=1)
"""

TOO_SLOW: Final = """
import time
from arena.sdk import run

def choose(view):
    time.sleep(0.6)
    return view.legal_moves()[-1]

run(choose)
"""

LISTENS: Final = """
import os, queue, sys
import grpc
from arena.wire.v1 import referee_pb2 as pb, referee_pb2_grpc as pb_grpc

outbox = queue.SimpleQueue()
stub = pb_grpc.RefereeStub(grpc.insecure_channel(os.environ["ARENA_REFEREE"]))
outbox.put(pb.BotMessage(hello=pb.Hello(protocol=1)))
for message in stub.Play(iter(outbox.get, None)):
    for event in message.events:
        kind, asked = event.WhichOneof("event"), event.turn_request
        moment = dict(game=asked.game, round=asked.position.round, turn=asked.position.turn)
        move = pb.Move(**moment, cards=asked.hand[-1:], nonce=asked.nonce)
        if kind == "turn_request":
            asked.nonce = asked.bank_millis = asked.asked_millis_ago = 0
        print(kind, event.SerializeToString(deterministic=True).hex(), file=sys.stderr, flush=True)
        if kind == "turn_request":
            outbox.put(pb.BotMessage(moves=[move]))
"""
"""Prints each event that it receives, without random numbers and times, before it answers."""

SPEAKS: Final = """
import os, sys
import arena.sdk.match
from arena.sdk import Answer, run

arena.sdk.match._SDK = "SAID"

def choose(view):
    print("SAID", file=sys.stderr, flush=True)
    if (view.round, view.turn) == (3, 5):
        os._exit(CODE)  # the library replaces other exit codes
    return Answer(view.legal_moves()[PLACE].cards, note="SAID")

run(choose, games_at_once=1)
"""
"""Sends whatever could reach another bot, and exits in round 3."""

SLEEPS: Final = """
import time
from arena.sdk import run

def choose(view):
    time.sleep(1.8)
    return view.legal_moves()[-1]

run(choose, games_at_once=1)
"""

WORKS: Final = """
import time
from arena.sdk import run

def choose(view):
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        pass
    return view.legal_moves()[-1]

run(choose, games_at_once=1)
"""
"""Uses this many SECONDS of processor time for each decision."""

FORKS: Final = """
import os, time
from arena.sdk import run

def choose(view):
    children = []
    for _ in range(6):
        child = os.fork()
        if child == 0:
            end = time.process_time() + SECONDS / 6
            while time.process_time() < end:
                pass
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    return view.legal_moves()[-1]

run(choose, games_at_once=1)
"""
"""The same work, shared by six processes."""
