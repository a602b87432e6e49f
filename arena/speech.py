"""How text that somebody else may have written reaches a terminal, and how what is said reaches a log."""

import logging
from typing import Final

JSON_HANDLER: Final = "kaiten-json"
"""Name of the handler that writes the log for programs; :mod:`arena.logs` installs it."""

SPOKEN: Final = "arena.spoken"
"""Name of the logger of what commands say."""


def visible(text: str) -> str:
    """Return text as one line that can't move a terminal's cursor: what can't be seen is written out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def spoken(text: str, level: int = logging.INFO) -> bool:
    """Write what a command says as a line of its log, where programs read that.

    Args:
        text: What it says.
        level: Of the standard library's logging.

    Returns:
        False where people read, or nothing is logged: it is not written then.
    """
    if not any(handler.name == JSON_HANDLER for handler in logging.getLogger().handlers):
        return False
    logging.getLogger(SPOKEN).log(level, "%s", text)
    return True
