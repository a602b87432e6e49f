"""Makes untrusted text safe to show, formats shares and counts, and logs commands' messages as JSON."""

import logging
import unicodedata
from typing import Final

JSON_HANDLER: Final = "kaiten-json"
"""Name of the handler that writes the JSON log, installed by :mod:`arena.platform.logs`."""

MESSAGE_LOGGER: Final = "arena.spoken"
"""Name of the logger for commands' messages."""


NAME_LENGTH: Final = 64


def clean_name(name: str) -> str:
    """Return a name that can't disturb the text around it.

    Names are untrusted. This removes control characters, bidirectional overrides and other invisible
    characters (Unicode categories C, Zl and Zp), and truncates the rest to ``NAME_LENGTH`` characters. Markup
    is not escaped.
    """
    seen = plain(name)
    if not seen:
        return "(no name)"
    return seen if len(seen) <= NAME_LENGTH else seen[: NAME_LENGTH - 1] + "\N{HORIZONTAL ELLIPSIS}"


def plain(text: str) -> str:
    """Return text without invisible characters (category C), on one line with single spaces."""
    seen = "".join(letter for letter in text if unicodedata.category(letter)[0] != "C")
    return " ".join(seen.split())


def visible(text: str) -> str:
    """Return text as one line that can't move a terminal's cursor: unprintable characters are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def whole_percent(share: float) -> str:
    """Format a share as a whole percentage, without the percent sign. Never rounds to 0 or 100."""
    if 0 < share < 0.01:  # noqa: PLR2004 - one percent
        return "<1"
    if 0.99 < share < 1:  # noqa: PLR2004 - 99 percent
        return ">99"
    return f"{100 * share:.0f}"


def counted(count: int, noun: str) -> str:
    """Format a count with its noun: ``1 game``, ``2 games``."""
    return f"{count} {noun}{'s' * (count != 1)}"


def log_message(text: str, level: int = logging.INFO) -> bool:
    """Log a command's message if the log is JSON. Return True if it was logged.

    ``level`` is a level of :mod:`logging`.
    """
    if not any(handler.name == JSON_HANDLER for handler in logging.getLogger().handlers):
        return False
    logging.getLogger(MESSAGE_LOGGER).log(level, "%s", text)
    return True
