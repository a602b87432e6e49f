"""What a bot's stderr says about its failure. All of it is untrusted."""

import re
from typing import Final

_TRACEBACK_FRAME: Final = re.compile(r'^\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in .*)?$')
_LIBRARY_FILES: Final = re.compile(
    r"^<frozen |/(?:site|dist)-packages/|/lib/python3|/arena/(?:sdk|sandbox|wire)/"
)
_EXCEPTION: Final = re.compile(r"^(?!Traceback )[A-Za-z_][\w.]*(?:: .*)?$")
_FAULTHANDLER_HEADER: Final = "Stack (most recent call first):"
_FATAL_PREFIX: Final = "Fatal Python error: "
_FAULTHANDLER_FRAME: Final = re.compile(r'^  File "(?P<file>[^"\n]+)", line (?P<line>\d+) in (?P<name>.+)$')
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
"""What many languages' libraries print for unresolved names and unreachable hosts. The codes match only as
whole words in capitals: Python's ModuleNotFoundError contains one of them in mixed case."""

_MISSING_MODULE: Final = re.compile(
    r"\b(?:ModuleNotFoundError|ImportError|ERR_MODULE_NOT_FOUND|Cannot find module)\b"
)


def where_it_failed(stderr: str) -> str | None:
    """Return the last exception from the author's code, with the innermost line of that code, or None.

    Frames in Python itself, in packages and in the arena are skipped. If an exception has only such frames,
    for example because of what ``choose`` returned, the position of ``choose`` is given instead, if it is
    known.
    """
    frame: tuple[str, str, str] | None = None
    found: str | None = None
    place = where_choose_is(stderr)
    in_library = False
    lines = stderr.splitlines()
    for number, line in enumerate(lines):
        match = _TRACEBACK_FRAME.match(line)
        if match is not None:
            if not _LIBRARY_FILES.search(match["file"]):
                source = lines[number + 1].strip() if number + 1 < len(lines) else ""
                frame = match["file"].rpartition("/")[2], match["line"], source
            in_library = in_library or "/arena/sdk/" in match["file"]
        elif line.startswith("Traceback "):
            frame, in_library = None, False
        elif frame is not None and _EXCEPTION.match(line):
            file, at, source = frame
            found = f"{line} ({file}, line {at}: {source})"[:_MAX_LINE_LENGTH]
            frame, in_library = None, False
        elif in_library and _EXCEPTION.match(line):
            found = (f"{line}; {place}" if place else line)[:_MAX_LINE_LENGTH]
            in_library = False
    return found


def where_choose_is(stderr: str) -> str | None:
    """Return where the bot's ``choose`` is, as arena.sdk prints it, or None."""
    matches = [match for line in stderr.splitlines() if (match := _CHOOSE_POSITION.fullmatch(line))]
    if not matches:
        return None
    match = matches[-1]
    return f"choose() is in {match['file'].rpartition('/')[2]}, line {match['line']}"[:_MAX_LINE_LENGTH]


def where_it_was(stderr: str) -> str | None:
    """Return the innermost line of the author's code in the last stack printed for a late decision, or None.

    arena.sdk prints such stacks.
    """
    _, found, stack = stderr.rpartition(f"{_FAULTHANDLER_HEADER}\n")
    for line in stack.splitlines() if found else ():
        match = _FAULTHANDLER_FRAME.match(line)
        if match is None:
            return None
        if not _LIBRARY_FILES.search(match["file"]):
            file = match["file"].rpartition("/")[2]
            return f"{file}, line {match['line']}, in {match['name']}"[:_MAX_LINE_LENGTH]
    return None


def where_python_failed(stderr: str) -> str | None:
    """Return the innermost line of the author's code in the stack of Python's last fatal error, or None."""
    _, found, rest = stderr.rpartition(_FATAL_PREFIX)
    return where_it_was(rest) if found else None


def last_output_line(stderr: str, notice: str) -> str | None:
    """Return the last line that the bot itself printed before the notice of its fault, or None.

    The arena's libraries begin their notices with ``kaiten: ``.
    """
    own = (line.strip() for line in reversed(text_before(stderr, notice).splitlines()))
    return next(
        (line[:_MAX_LINE_LENGTH] for line in own if line and not line.startswith(_NOTICE_PREFIX)), None
    )


def text_before(stderr: str, notice: str) -> str:
    """Return the text before the line with ``kaiten: `` and the notice, or all of it if there is none."""
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
    """Return the init process's last message that the bot can't be started; None if there is none."""
    return _last_matching_line(_CANNOT_START, stderr)


def _last_matching_line(wanted: re.Pattern[str], stderr: str) -> str | None:
    return next((line.strip() for line in reversed(stderr.splitlines()) if wanted.search(line)), None)
