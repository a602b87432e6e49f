"""Keeps the head and the tail of a stream of unknown length."""

import threading
from typing import Final

CAPTURE_LIMIT: Final = 64 * 1024
"""Bytes kept of a bot's stderr, the line about what was left out included."""

_NOTE_ROOM: Final = 64
_HEAD: Final = 16 * 1024
_TAIL: Final = CAPTURE_LIMIT - _HEAD - _NOTE_ROOM


class Capture:
    """What a bot printed: its first 16 KiB and the last of the rest, 64 KiB in all.

    The first lines tell how a bot started, the last ones how it died. One thread
    feeds, any thread may read.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        with self._lock:
            room = _HEAD - len(self._head)
            self._head += data[:room]
            self._tail += data[room:]
            surplus = len(self._tail) - _TAIL
            if surplus > 0:
                del self._tail[:surplus]
                self._dropped += surplus

    def text(self) -> str:
        """Return what was kept, with a line in the gap; bytes that are not UTF-8 become U+FFFD."""
        with self._lock:
            gap = f"\n[... {self._dropped} bytes left out ...]\n".encode() if self._dropped else b""
            kept = bytes(self._head) + gap + bytes(self._tail)
        return kept.decode("utf-8", errors="replace")
