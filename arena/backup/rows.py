"""Rows of a table as bytes: batches, each behind its length in 4 bytes, big-endian, in MessagePack.

A row is a list of its values. Moments are MessagePack's timestamps; numbers, text and bytes are as they are.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

_LENGTH: Final = 4
_MOST: Final = 256 * 1024 * 1024
"""Bytes of a batch: several times what its rows can have."""


def packed(batches: Iterable[list[list[Any]]]) -> Iterator[bytes]:
    """Yield the bytes of batches of rows."""
    for batch in batches:
        content = msgspec.msgpack.encode(batch)
        yield len(content).to_bytes(_LENGTH)
        yield content


def unpacked(pieces: Iterable[bytes]) -> Iterator[list[list[Any]]]:
    """Yield the batches of rows that bytes are of, however they are cut.

    Raises:
        ValueError: They are of none.
    """
    buffer = bytearray()
    for piece in pieces:
        buffer += piece
        while len(buffer) >= _LENGTH:
            end = _LENGTH + int.from_bytes(buffer[:_LENGTH])
            if end > _MOST:
                raise ValueError(f"a batch of rows has {end} bytes")
            if len(buffer) < end:
                break
            batch = msgspec.msgpack.decode(buffer[_LENGTH:end], type=list[list[Any]])
            del buffer[:end]
            yield batch
    if buffer:
        raise ValueError("the last batch of rows is cut off")
