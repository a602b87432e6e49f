"""What a site sends, read with a limit: one that is broken or hostile fills no memory."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import requests

MOST_BYTES: Final = 32 * 1024 * 1024
"""Of an answer, unpacked; those of an arena are far smaller."""

MOST_EVENT_BYTES: Final = 1024 * 1024
"""Of a stream without an empty line, which ends an event."""

_PIECE: Final = 64 * 1024


class Strange(Exception):
    """No arena answers so. The text says what it was."""


def whole(answer: requests.Response) -> bytes:
    """Return the body of an answer.

    Raises:
        Strange: It is larger than any of an arena's.
        requests.RequestException: The connection breaks.
    """
    body = bytearray()
    for piece in answer.iter_content(_PIECE):
        body += piece
        if len(body) > MOST_BYTES:
            raise Strange(f"more than {MOST_BYTES // 1024**2} MiB")
    return bytes(body)


def lines(answer: requests.Response) -> Iterator[str]:
    """Yield the lines of a stream as they come, without their ends; what follows the last end is no line.

    Raises:
        Strange: An event does not end.
        requests.RequestException: The connection breaks.
    """
    size, begun = 0, bytearray()
    for piece in answer.iter_content(chunk_size=1):  # a larger one would be waited for until it is full
        begun += piece
        size += len(piece)
        if b"\n" in piece:
            *ended, begun = begun.split(b"\n")
            for line in ended:
                text = line.removesuffix(b"\r").decode(errors="replace")
                size = size if text else len(begun)
                yield text
        if size > MOST_EVENT_BYTES:
            raise Strange("an event without end")


def parsed(data: bytes | str) -> Any:  # noqa: ANN401 - JSON
    """Return what JSON says.

    Raises:
        Strange: It is none, or can't be read: letters that are no UTF-8, or nested without end.
    """
    try:
        return msgspec.json.decode(data)
    except RecursionError as error:
        raise Strange("JSON that is nested too deep") from error
    except (msgspec.DecodeError, ValueError) as error:
        raise Strange(f"no JSON ({error})") from error
