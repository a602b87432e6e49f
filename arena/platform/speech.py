"""Makes untrusted text safe for terminals, and copies commands' messages to the log."""

import logging
from typing import Final

JSON_HANDLER: Final = "kaiten-json"
"""Name of the handler that writes a JSON log; :mod:`arena.platform.logs` installs it."""

SPOKEN: Final = "arena.spoken"
"""Name of the logger of commands' messages."""


def visible(text: str) -> str:
    """Return text as one line that can't move a terminal's cursor: unprintable characters are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def spoken(text: str, level: int = logging.INFO) -> bool:
    """Log a command's message if the log is JSON. Return True if it was logged.

    ``level`` is one of the standard library's logging.
    """
    if not any(handler.name == JSON_HANDLER for handler in logging.getLogger().handlers):
        return False
    logging.getLogger(SPOKEN).log(level, "%s", text)
    return True
