"""Hand-made bytes of HTTP/2 and gRPC."""

from arena.play.referee.frames import PREFACE

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    range(10)
)


def text(value: bytes) -> bytes:
    """Return an HPACK string literal without Huffman codes, of at most 126 bytes."""
    return bytes([len(value)]) + value


def call_headers(path: bytes) -> bytes:
    """Return the headers of a call of this method."""
    return (
        b"\x83\x86\x04"
        + text(path)
        + b"\x01"
        + text(b"localhost")
        + b"\x0f\x10"
        + text(b"application/grpc")
        + b"\x00"
        + text(b"te")
        + text(b"trailers")
    )


CALL = call_headers(b"/arena.wire.v1.Referee/Play")
"""The headers that open a Play stream."""


def frame(kind: int, payload: bytes = b"", flags: int = 0, call: int = 0) -> bytes:
    """Return a frame."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + call.to_bytes(4, "big") + payload


def head(kind: int, length: int, flags: int = 0, call: int = 0) -> bytes:
    """Return only the header of a frame; it may claim any length."""
    return length.to_bytes(3, "big") + bytes([kind, flags]) + call.to_bytes(4, "big")


def message(body: bytes, compressed: int = 0) -> bytes:
    """Return a gRPC message with its prefix."""
    return bytes([compressed]) + len(body).to_bytes(4, "big") + body


def conversation(*frames: bytes) -> bytes:
    """Return the bytes of a client that opens call 1 and then sends these frames."""
    return PREFACE + frame(SETTINGS) + frame(HEADERS, bytes(200), flags=4, call=1) + b"".join(frames)
