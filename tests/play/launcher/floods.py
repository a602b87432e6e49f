"""Bots that flood their connection, either after a correct greeting and the first request or at once."""

from typing import Final

_BOT: Final = """
import os, signal, socket
from arena.wire.v1 import referee_pb2 as pb

ADDRESS = os.environ["ARENA_REFEREE"].removeprefix("unix://")
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, _, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)

def frame(kind, payload=b"", flags=0, call=0):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + call.to_bytes(4, "big") + payload

def message(*moves, hello=None):
    body = pb.BotMessage(moves=moves, hello=hello).SerializeToString()
    return b"\\x00" + len(body).to_bytes(4, "big") + body

def text(value):
    return bytes([len(value)]) + value

def dial():
    line = socket.socket(socket.AF_UNIX)
    line.connect(ADDRESS)
    line.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + frame(SETTINGS))
    return line

CALL = (
    b"\\x83\\x86\\x04" + text(b"/arena.wire.v1.Referee/Play") + b"\\x01" + text(b"localhost")
    + b"\\x0f\\x10" + text(b"application/grpc") + b"\\x00" + text(b"te") + text(b"trailers")
)
HELLO = pb.Hello(protocol=1, sdk="flood")

def flood(line, data):
    try:
        while True:
            line.sendall(data)
    except OSError:
        pass

def reads(line, what):
    got = b""
    while what not in got:
        got += line.recv(65536)

line = dial()
"""

_GREETS: Final = (
    _BOT
    + """
line.sendall(frame(HEADERS, CALL, flags=4, call=1) + frame(DATA, message(hello=HELLO), call=1))
reads(line, b"\\x1a")  # a request is there: its event's tag
"""
)

_STAYS: Final = "\nsignal.pause()\n"


def _after_hello(attack: str) -> str:
    return f"{_GREETS}{attack}{_STAYS}"


def _before_hello(attack: str) -> str:
    return f"{_BOT}{attack}{_STAYS}"


CONTINUATIONS: Final = """
line.sendall(frame(HEADERS, CALL, flags=0, call=3))
flood(line, frame(CONTINUATION, b"\\x00" + text(b"x" * 100) + text(b"y" * 100), call=3) * 100)
"""
GIANT_HEADERS: Final = """
flood(line, frame(HEADERS, CALL + (b"\\x00" + text(b"x" * 100) + text(b"y" * 100)) * 70, flags=4, call=3))
"""
GIANT_FRAME: Final = """
line.sendall((2**24 - 1).to_bytes(3, "big") + bytes([DATA, 0, 0, 0, 0, 1]))
flood(line, bytes(65536))
"""
WINDOW_UPDATES: Final = 'flood(line, frame(WINDOW_UPDATE, b"\\x00\\x00\\x00\\x01") * 1000)'
PINGS: Final = "flood(line, frame(PING, bytes(8)) * 1000)"
SETTINGS: Final = 'flood(line, frame(SETTINGS, b"\\x00\\x04\\x00\\x00\\x10\\x00") * 1000)'
PRIORITIES: Final = "flood(line, frame(PRIORITY, bytes(5), call=1) * 1000)"
EMPTY_DATA: Final = "flood(line, frame(DATA, call=1) * 1000)"
RESETS: Final = """
calls = range(3, 2003, 2)
flood(line, b"".join(frame(HEADERS, CALL, 4, call) + frame(RST_STREAM, bytes(4), 0, call) for call in calls))
"""
FOUR_GIB: Final = 'line.sendall(frame(DATA, b"\\x00\\xff\\xff\\xff\\xff", call=1)); flood(line, bytes(16384))'
COMPRESSED: Final = """
import zlib
bomb = zlib.compress(bytes(10_000_000))
line.sendall(frame(DATA, b"\\x01" + len(bomb).to_bytes(4, "big") + bomb, call=1))
"""
SMALL_MESSAGES: Final = "flood(line, frame(DATA, message(), call=1) * 1000)"
STRAY_MOVES: Final = "flood(line, frame(DATA, message(*[pb.Move(game=9)] * 3200), call=1))"
MOVES_OF_NO_END: Final = "flood(line, frame(DATA, message(pb.Move(game=9)), call=1) * 100)"

AFTER_HELLO: Final = {
    name: _after_hello(attack)
    for name, attack in {
        "CONTINUATION": CONTINUATIONS,
        "headers": GIANT_HEADERS,
        "frame": GIANT_FRAME,
        "WINDOW_UPDATE": WINDOW_UPDATES,
        "PING": PINGS,
        "SETTINGS": SETTINGS,
        "PRIORITY": PRIORITIES,
        "empty DATA": EMPTY_DATA,
        "resets": RESETS,
        "4 GiB": FOUR_GIB,
        "compressed": COMPRESSED,
        "empty messages": SMALL_MESSAGES,
        "3,200 stray moves": STRAY_MOVES,
        "stray moves": MOVES_OF_NO_END,
    }.items()
}
BEFORE_HELLO: Final = {
    name: _before_hello(attack)
    for name, attack in {
        "CONTINUATION": CONTINUATIONS,
        "headers": GIANT_HEADERS,
        "PING": PINGS,
        "resets": RESETS,
    }.items()
}

MESSAGES_BY_THE_LIBRARY: Final = """
import os, itertools
import grpc
from arena.wire.v1 import referee_pb2 as pb, referee_pb2_grpc as pb_grpc

def messages():
    yield pb.BotMessage(hello=pb.Hello(protocol=1))
    while True:
        yield pb.BotMessage(moves=[pb.Move(game=9)])

stub = pb_grpc.RefereeStub(grpc.insecure_channel(os.environ["ARENA_REFEREE"]))
for message in stub.Play(messages()):
    pass
"""
