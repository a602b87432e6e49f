"""The log: one line an event on stderr, for people or for programs, our own lines and those of libraries.

Nothing of a bot's goes in here: what bots print is kept with their games.
"""

import io
import json
import logging
import sys
import threading
from types import TracebackType
from typing import Final, TextIO

import msgspec
import structlog
from structlog.types import EventDict, ExcInfo, Processor, WrappedLogger

from arena.settings import LogFormat, LogLevel
from arena.speech import JSON_HANDLER, SPOKEN, visible

_CONSOLE_HANDLER: Final = "kaiten-console"
_FIRST: Final = ("timestamp", "level", "event")

_log = structlog.get_logger()


class _Lines:
    """Writes lines to what is stderr at the time: a progress bar puts what is above the bar there."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal's handler may log, too

    def write(self, line: str) -> None:
        """Write one; what it tells of must go on where it can't be written, such as on a full disk."""
        with self._lock:
            try:
                sys.stderr.write(line + "\n")
                sys.stderr.flush()
            except (OSError, ValueError):
                pass

    debug = info = warning = error = critical = write


class _OfLibraries(logging.Handler):
    """Writes what the standard library's logging is told."""

    def __init__(self, name: str, lines: _Lines) -> None:
        super().__init__()
        self.name = name
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        try:
            self._lines.write(self.format(record))
        except Exception:  # noqa: BLE001 - as logging has it: a line that can't be made stops nobody
            self.handleError(record)


def configure_logs(wanted: LogFormat, least: LogLevel) -> None:
    """Let everything that is logged in this process go to stderr.

    Libraries say no less than warnings: what they have to say below that may be somebody's secret.

    Args:
        wanted: Of the lines; ``auto`` is for people on a terminal and for programs elsewhere.
        least: Level of the least of our own lines.
    """
    for_programs = wanted is LogFormat.JSON or (wanted is LogFormat.AUTO and not sys.stderr.isatty())
    lines = _Lines()
    first: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last = _for_programs() if for_programs else _for_people()
    handler = _OfLibraries(JSON_HANDLER if for_programs else _CONSOLE_HANDLER, lines)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*first, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    _install(handler)
    # Our own lines don't go through the standard library, which takes four times as long.
    structlog.configure(
        processors=[*first, *last],
        logger_factory=lambda *_: lines,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[least.upper()]),
    )


def log_what_nobody_caught() -> None:
    """Let an exception that ends this process or one of its threads, and warnings, be lines of the log."""
    logging.captureWarnings(capture=True)
    sys.excepthook = _on_uncaught

    def in_thread(ended: threading.ExceptHookArgs) -> None:
        if ended.exc_value is not None and ended.exc_type is not SystemExit:
            name = None if ended.thread is None else ended.thread.name
            _log.critical("a thread was ended by an error", thread=name, exc_info=ended.exc_value)

    threading.excepthook = in_thread


def _on_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        _log.critical("ended by an error", exc_info=error)


def _install(handler: logging.Handler) -> None:
    root = logging.getLogger()
    for old in root.handlers[:]:
        if old.name in {JSON_HANDLER, _CONSOLE_HANDLER}:
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger(SPOKEN).setLevel(logging.INFO)


def _for_programs() -> list[Processor]:
    # The trace as text; never what variables held.
    return [structlog.processors.ExceptionRenderer(), _in_order, _as_json]


def _for_people() -> list[Processor]:
    colors = sys.stderr.isatty()
    return [_on_one_line, structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=_trace)]


def _in_order(_logger: WrappedLogger, _name: str, line: EventDict) -> EventDict:
    """Put first what every line has."""
    first = {key: line.pop(key) for key in _FIRST}
    first.update(line)
    return first


def _as_json(_logger: WrappedLogger, _name: str, line: EventDict) -> str:
    try:
        text = msgspec.json.encode(line, enc_hook=repr).decode()
    except (UnicodeError, OverflowError):  # half a character, as file names may have it; a huge number
        text = json.dumps(line, default=repr)
    if text.isprintable():
        return text
    # JSON lets stand what ends lines for some programs, and what moves a cursor for some terminals.
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def _on_one_line(_logger: WrappedLogger, _name: str, line: EventDict) -> EventDict:
    """Write out what could move a terminal's cursor, whoever wrote it."""
    return {key: visible(value) if isinstance(value, str) else value for key, value in line.items()}


def _trace(out: TextIO, error: ExcInfo) -> None:
    """Write a trace without what variables held."""
    text = io.StringIO()
    structlog.dev.plain_traceback(text, error)
    out.write("\n".join(map(visible, text.getvalue().split("\n"))))
