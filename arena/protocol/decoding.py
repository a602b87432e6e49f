"""Makes msgspec safe to use in several threads.

When msgspec 0.22 first decodes a type, it stores the type's fields one after another. Another thread that
decodes the same type at that moment can read a null pointer, which crashes the process.
"""

from threading import Lock
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

_LOCK: Final = Lock()
_READY: Final[set[object]] = set()


def prepared(kind: T) -> T:
    """Return this type once all threads can decode it and convert to it.

    Pass the type to msgspec like this: ``msgspec.json.decode(data, type=prepared(Kind))``.
    """
    if kind not in _READY:
        with _LOCK:
            msgspec.json.Decoder(kind)
            _READY.add(kind)
    return kind
