"""How the probe tries a thing and says what it saw."""

import ctypes
import errno
import json
import os
from collections.abc import Callable
from typing import Any, Final

FOLDER: Final = "/run/arena"
TMP: Final = "/tmp"  # noqa: S108 - the container's
MIB: Final = 1024 * 1024
LIBC: Final = ctypes.CDLL(None, use_errno=True)


def tell(seen: dict[str, Any]) -> None:
    """Print what was seen, in one write."""
    os.write(2, b"canary " + json.dumps(seen).encode() + b"\n")


def attempt(act: Callable[..., object], *arguments: object) -> str:
    """Return ``done``, or the name of the error that an attempt ended with."""
    try:
        act(*arguments)
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return "done"


def answer_of(result: int) -> str:
    """Do the same for a call of the C library."""
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]


def in_child(act: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever it returns
    """Return what an act gives in a child process, whose state dies with it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, json.dumps(act()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text)
