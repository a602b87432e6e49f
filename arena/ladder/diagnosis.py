"""Finds the cause of a bot's failure in its stderr, which is untrusted."""

import re
from typing import Final

from arena.languages.registry import LANGUAGES

_CHOOSE_POSITION: Final = re.compile(r"kaiten: choose\(\) is in (?P<file>.+), line (?P<line>\d+)")
_MAX_LINE_LENGTH: Final = 300
_NOTICE_PREFIX: Final = "kaiten: "

_CANNOT_START: Final = re.compile(r"^arena: can't start .*", re.MULTILINE)
"""A message from the init process in a bot's container."""

_NETWORK_ERROR: Final = re.compile(
    r"(?i:network is unreachable|name resolution|name or service not known|nodename nor servname"
    r"|could not resolve host|unknown host|no such host|no route to host)"
    r"|\bgetaddrinfo (?:failed|E[A-Z_]+)|\bgaierror\b"
    r"|\b(?:ENETUNREACH|EHOSTUNREACH|EAI_AGAIN|ENOTFOUND)\b",
)
"""Many languages' messages about unresolved names and unreachable hosts. The codes match only as whole words
in capitals: Python's ModuleNotFoundError contains one of them in mixed case."""

_MISSING_MODULE: Final = re.compile(rf"\b(?:{'|'.join(language.missing_module for language in LANGUAGES)})\b")


def where_it_failed(stderr: str) -> str | None:
    """Return the last error in the bot's code, with its position if known, or None.

    If the position is unknown, that of ``choose`` is given instead, if known.
    """
    failure = next((found for language in LANGUAGES if (found := language.find_failure(stderr))), None)
    if failure is None:
        return None
    text = failure.error
    if failure.place is not None:
        text += f" ({failure.place})"
    elif (choose := where_choose_is(stderr)) is not None:
        text += f"; {choose}"
    return text[:_MAX_LINE_LENGTH]


def where_choose_is(stderr: str) -> str | None:
    """Return where the bot's ``choose`` is, as arena.sdk prints it, or None."""
    matches = [match for line in stderr.splitlines() if (match := _CHOOSE_POSITION.fullmatch(line))]
    if not matches:
        return None
    match = matches[-1]
    return f"choose() is in {match['file'].rpartition('/')[2]}, line {match['line']}"[:_MAX_LINE_LENGTH]


def where_it_was(stderr: str) -> str | None:
    """Return the line of the bot's code that was running when its time ran out, or None."""
    position = next((found for language in LANGUAGES if (found := language.find_position(stderr))), None)
    return None if position is None else position[:_MAX_LINE_LENGTH]


def last_output_line(stderr: str, notice: str) -> str | None:
    """Return the last line that the bot itself printed before the notice of its fault, or None.

    The arena's libraries begin their notices with ``kaiten: ``.
    """
    own = (line.strip() for line in reversed(text_before(stderr, notice).splitlines()))
    return next(
        (line[:_MAX_LINE_LENGTH] for line in own if line and not line.startswith(_NOTICE_PREFIX)), None
    )


def text_before(stderr: str, notice: str) -> str:
    """Return the text before the line with ``kaiten: `` and the notice, or all text if there is none."""
    before, found, _ = stderr.partition(f"{_NOTICE_PREFIX}{notice}")
    return before if found else stderr


def failed_for_network(stderr: str) -> bool:
    """Return True if there is a network error with no missing-module error after it.

    A refused connection is ignored: without a network, only the bot's own container can refuse one.
    """
    lines = [
        (bool(_NETWORK_ERROR.search(line)), bool(_MISSING_MODULE.search(line)))
        for line in stderr.splitlines()
    ]
    return next(
        (not is_module for is_network, is_module in reversed(lines) if is_network or is_module), False
    )


def network_error(stderr: str) -> str | None:
    """Return the last line about an unreachable network, or None."""
    return _last_matching_line(_NETWORK_ERROR, stderr)


def start_error(stderr: str) -> str | None:
    """Return the init process's last message saying that the bot can't be started, or None."""
    return _last_matching_line(_CANNOT_START, stderr)


def _last_matching_line(wanted: re.Pattern[str], stderr: str) -> str | None:
    return next((line.strip() for line in reversed(stderr.splitlines()) if wanted.search(line)), None)
