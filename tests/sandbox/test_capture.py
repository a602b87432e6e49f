"""The bounded copy of a bot's stderr."""

from hypothesis import given
from hypothesis import strategies as st

from arena.sandbox.runtime import CAPTURE_LIMIT, Capture


def captured(*pieces: bytes) -> str:
    """Return the text of a capture that was fed these pieces."""
    capture = Capture()
    for piece in pieces:
        capture.feed(piece)
    return capture.text()


def test_short_output_is_kept_whole() -> None:
    """Output below the limit is captured unchanged."""
    assert captured() == ""
    assert captured(b"one\n", b"", b"two\n") == "one\ntwo\n"
    assert captured(b"x" * 60_000) == "x" * 60_000


def test_the_gap_is_named() -> None:
    """A line gives the number of bytes that were omitted in the middle."""
    text = captured(b"a" * 16_384, b"b" * 1_000_000, b"the end")
    assert text.startswith("a" * 16_384 + "\n[... ")
    assert text.endswith("b" * 1_000 + "the end")
    head, _, rest = text.partition("\n[... ")
    dropped, _, tail = rest.partition(" bytes left out ...]\n")
    assert len(head) + int(dropped) + len(tail) == 16_384 + 1_000_000 + 7


def test_a_character_cut_in_two_arrives_whole() -> None:
    """A character that is split between two pieces is decoded."""
    assert captured(b"\xc3", b"\xa9") == "é"


def test_bytes_that_are_not_text_are_marked() -> None:
    """Bytes that are not UTF-8 become U+FFFD."""
    assert captured(b"ok \xff") == "ok \N{REPLACEMENT CHARACTER}"


@given(st.lists(st.tuples(st.sampled_from(b"abc"), st.integers(0, 70_000)), max_size=12))
def test_it_has_the_head_and_the_tail_within_the_limit(runs: list[tuple[int, int]]) -> None:
    """A capture has the output's head and tail, within the limit, however the output is split."""
    pieces = [bytes([character]) * length for character, length in runs]
    whole = b"".join(pieces).decode()
    text = captured(*pieces)
    assert len(text) <= CAPTURE_LIMIT
    assert text[:1_000] == whole[:1_000]
    assert text[-1_000:] == whole[-1_000:]
    assert "left out" in text or text == whole
