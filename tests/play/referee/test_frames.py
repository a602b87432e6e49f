"""The frame guard: what it accepts and rejects, however the bytes are split."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.play.referee.frames import (
    FRAME_LIMITS,
    MAX_MESSAGE_BYTES,
    PREFACE,
    Breach,
    DataFrames,
    FrameGuard,
    NotHttp2,
    SendBudget,
)
from arena.protocol.faults import Fault
from tests.play.referee.wire import (
    CONTINUATION,
    DATA,
    GOAWAY,
    HEADERS,
    PING,
    PRIORITY,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    conversation,
    frame,
    head,
    message,
)

PINGS = frame(PING, bytes(8))


def verdict(data: bytes, cuts: list[int] | None = None) -> str:
    """Return a guard's verdict on these bytes, split at these places."""
    guard = FrameGuard(SendBudget())
    places = [0, *sorted(cuts or []), len(data)]
    try:
        for start, stop in pairwise(places):
            guard.feed(data[start:stop])
            # At most an incomplete frame header, and an incomplete message prefix per call.
            assert guard.buffered <= 8 + 4 * FRAME_LIMITS[HEADERS].initial
    except NotHttp2:
        return "not HTTP/2"
    except Breach as breach:
        return f"{breach.fault}: {breach.why}"
    return "fine" if guard.has_preface else "not begun"


def breach(what: str) -> str:
    """Return the verdict for a breach of the channel's limits."""
    return f"crash: its stream was closed because it exceeded the channel's limits: {what}"


def test_an_ordinary_call_passes() -> None:
    """The guard accepts split and joined messages, window updates, pings and the end of a call."""
    halves = message(b"x" * 300)
    data = conversation(
        frame(DATA, message(b"hello"), call=1),
        frame(WINDOW_UPDATE, bytes(4)),
        frame(WINDOW_UPDATE, bytes(4), call=1),
        PINGS,
        frame(DATA, halves[:3], call=1),
        frame(DATA, halves[3:], call=1),
        frame(DATA, message(b"") + message(b"two at once"), call=1),
        frame(DATA, message(b"x" * (MAX_MESSAGE_BYTES - 5)), call=1),
        frame(DATA, b"", flags=1, call=1),
        frame(GOAWAY, bytes(8)),
    )
    assert verdict(data) == "fine"


@pytest.mark.parametrize(
    ("frames", "why"),
    [
        (frame(CONTINUATION, b"x", call=1), "a CONTINUATION frame (not allowed)"),
        (frame(PUSH_PROMISE, b"x", call=1), "a PUSH_PROMISE frame (not allowed)"),
        (frame(77), "a frame of type 77 (not allowed)"),
        (head(DATA, 16_385, call=1), "a DATA frame of 16,385 bytes (limit 16,384)"),
        (head(HEADERS, 1_025, call=3), "a HEADERS frame of 1,025 bytes (limit 1,024)"),
        (head(SETTINGS, 2**24 - 1), "a SETTINGS frame of 16,777,215 bytes (limit 256)"),
        (head(PING, 9), "a PING frame of 9 bytes (limit 8)"),
        (head(GOAWAY, 1_025), "a GOAWAY frame of 1,025 bytes (limit 1,024)"),
        (frame(DATA, message(b""), call=5), "a DATA frame for a call that is not open"),
        (
            frame(RST_STREAM, bytes(4), call=1) + frame(DATA, call=1),
            "a DATA frame for a call that is not open",
        ),
        (frame(DATA, b"\x00", flags=8, call=1), "a padded DATA frame (not allowed)"),
        (
            frame(DATA, b"\x00\xff\xff\xff\xff", call=1),
            "a message of 4,294,967,295 bytes (limit 16,384)",
        ),
        (frame(DATA, message(b"", compressed=1), call=1), "a compressed message (not allowed)"),
        (frame(RST_STREAM, bytes(4), call=1) * 33, "33 RST_STREAM frames (limit 32)"),
        (frame(HEADERS, b"x", flags=5, call=3) * 64, "65 HEADERS frames (limit 64)"),
        (frame(PRIORITY, bytes(5), call=1) * 65, "65 PRIORITY frames (limit 64)"),
        (PINGS * 257, "257 PING frames (limit 256)"),
        (frame(SETTINGS) * 256, "257 SETTINGS frames (limit 256)"),
        (frame(WINDOW_UPDATE, bytes(4)) * 257, "257 WINDOW_UPDATE frames (limit 256)"),
        (frame(DATA, call=1) * 65, "65 empty DATA frames (limit 64)"),
        (frame(GOAWAY, bytes(8)) * 65, "65 GOAWAY frames (limit 64)"),
    ],
)
def test_the_exceeded_limit_is_named(frames: bytes, why: str) -> None:
    """The error for each limit names the frame and the limit."""
    assert verdict(conversation(frames)) == breach(why)


def test_a_message_in_single_bytes_has_too_many_frames() -> None:
    """A message in single-byte frames is refused, since those cost far more to read than to send."""
    crumbs = b"".join(frame(DATA, bytes([byte]), call=1) for byte in message(b"x" * 300))
    assert verdict(conversation(crumbs)) == breach("257 DATA frames (limit 256)")


def test_a_flood_of_messages_breaks_the_protocol() -> None:
    """After too many messages, or too many bytes in them, the bot is expelled; this isn't a crash."""
    small, large = frame(DATA, message(b"x"), call=1), frame(DATA, message(b"x" * 16_000), call=1)
    assert verdict(conversation(small * 16)) == "fine"
    assert verdict(conversation(small * 17)) == "expelled: more than 16 messages for 0 requests"
    assert verdict(conversation(large * 4)) == "expelled: more than 49,152 bytes of messages for 0 requests"


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n", b"\x16\x03\x01", b"PRI * HTTP/2.0\r\n\r\nSN"])
def test_bytes_without_the_preface_are_not_a_fault(data: bytes) -> None:
    """A bot that doesn't speak HTTP/2 loses its seat only when its time to greet is over."""
    assert verdict(data) == "not HTTP/2"


def test_a_seats_connections_share_one_budget() -> None:
    """A bot that connects again gets no new allowance."""
    allowance = SendBudget()
    for _ in range(2):
        FrameGuard(allowance).feed(conversation(PINGS * 128))
    with pytest.raises(Breach, match="257 PING frames"):
        FrameGuard(allowance).feed(conversation(PINGS))


FRAMES_OF_ALL_KINDS = st.builds(
    frame,
    st.integers(0, 11),
    st.one_of(
        st.binary(max_size=40),
        st.builds(message, st.binary(max_size=30)),
        st.sampled_from([b"", bytes(8), b"\x00\x00\x00\x40\x01", b"\x01\x00\x00\x00\x00"]),
    ),
    st.sampled_from([0, 1, 4, 5, 8]),
    st.integers(0, 3),
)
CONVERSATIONS = st.one_of(
    st.lists(FRAMES_OF_ALL_KINDS, max_size=20).map(lambda frames: conversation(*frames)),
    st.tuples(FRAMES_OF_ALL_KINDS, st.integers(1, 300)).map(lambda many: conversation(many[0] * many[1])),
    st.binary(max_size=200).map(lambda rest: PREFACE + rest),
    st.binary(max_size=60),
)


@given(data=CONVERSATIONS, cuts=st.lists(st.integers(0, 400), max_size=30))
def test_splitting_the_bytes_does_not_change_the_verdict(data: bytes, cuts: list[int]) -> None:
    """The verdict is the same for the whole data, for single bytes and for any cuts."""
    whole = verdict(data)
    assert verdict(data, [min(cut, len(data)) for cut in cuts]) == whole
    assert verdict(data, list(range(1, len(data)))) == whole


def test_each_request_of_the_referee_raises_the_limits() -> None:
    """Each message from the referee allows eight more pings, and each request two more messages."""
    allowance = SendBudget()
    guard = FrameGuard(allowance)
    guard.feed(conversation(PINGS * 256, frame(DATA, message(b"x"), call=1) * 16))
    allowance.grant(requests=1)
    guard.feed(PINGS * 8 + frame(DATA, message(b"x"), call=1) * 2)
    with pytest.raises(Breach) as caught:
        guard.feed(frame(DATA, message(b"x"), call=1))
    assert (caught.value.fault, caught.value.why) == (Fault.EXPELLED, "more than 18 messages for 1 request")


@given(st.lists(st.integers(0, 60), max_size=5))
def test_data_frames_with_a_payload_are_found(cuts: list[int]) -> None:
    """Only DATA frames with a payload count as messages, whatever other frames contain."""
    others = frame(PING, frame(DATA)[:8]) + frame(DATA, call=1)
    data = others + frame(DATA, frame(GOAWAY, bytes(8)), call=1) + others
    found, frames = [], DataFrames()
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, stop in pairwise(places):
        if frames.contains_start(data[start:stop]):
            found.append((start, stop))
    ((start, stop),) = found
    assert start <= len(others) + 8 < stop
