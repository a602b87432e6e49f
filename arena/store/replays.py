"""Names in replays as they are stored."""

from collections.abc import Sequence

import msgspec


class _Seat(msgspec.Struct):
    author: str


class _Seats(msgspec.Struct):
    seats: tuple[_Seat, ...]


def with_authors(replay: str, authors: Sequence[str]) -> str:
    """Return a replay with these authors, one a seat; the very text where they are its own.

    Args:
        replay: As JSON text, compact as :func:`arena.replay.encode` writes it.
        authors: Names as they are now.
    """
    seats = msgspec.json.decode(replay, type=_Seats).seats
    for seat, now in zip(seats, authors, strict=True):
        if seat.author != now:
            replay = replay.replace(f'"author":{_text(seat.author)}', f'"author":{_text(now)}')
    return replay


def _text(name: str) -> str:
    return msgspec.json.encode(name).decode()
