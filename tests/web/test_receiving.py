"""Bodies that come piece by piece: whoever drips does not keep a place for ever."""

import asyncio
from collections.abc import Iterable

import pytest
from fastapi import Request
from starlette.types import Message

from web.problems import Problem
from web.receiving import pieces

KIB = 1024


def received(came: Iterable[tuple[float, int]]) -> int:
    """Receive a body whose parts take so many seconds and have so many bytes; return its length."""
    now = 0.0
    parts = iter(came)

    async def receive() -> Message:
        nonlocal now
        seconds, size = next(parts, (0.0, 0))
        now += seconds
        return {"type": "http.request", "body": bytes(size), "more_body": size > 0}

    async def gather() -> int:
        request = Request({"type": "http", "method": "PUT", "headers": []}, receive)
        return sum([len(piece) async for piece in pieces(request, lambda: now)])

    return asyncio.run(gather())


def test_a_file_comes_at_any_rate_that_is_not_too_slow() -> None:
    """In a moment; small ones slowly; large ones for as long as they take at the least rate."""
    assert received([(0.0, 5)]) == 5
    assert received([(2.9, 1)] * 10) == 10
    assert received([(1.0, 64 * KIB)] * 1000) == 1000 * 64 * KIB


@pytest.mark.parametrize("came", [[(20.0, 1)] * 3, [(1.0, 60 * KIB)] * 1000, [(0.0, 64 * KIB), (31.5, 1)]])
def test_who_is_too_slow_on_the_whole_is_sent_away(came: list[tuple[float, int]]) -> None:
    """However regularly something comes; with 408, and what to do."""
    with pytest.raises(Problem, match="came too slowly: after 30 seconds, less than 64 KiB") as refused:
        received(came)
    assert (refused.value.status_code, bool(refused.value.hint)) == (408, True)
