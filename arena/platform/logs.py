"""The log on stderr: one line per event, including events from libraries, for people or programs.

Bots' output doesn't go here; it is stored with their games.
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

from arena.platform.settings import LogFormat, LogLevel
from arena.platform.text import JSON_HANDLER, MESSAGE_LOGGER, visible

_CONSOLE_HANDLER: Final = "kaiten-console"
_LEADING_FIELDS: Final = ("timestamp", "level", "event")

_log = structlog.get_logger()


class _Lines:
    """Writes lines to the current ``sys.stderr``, which a progress bar may replace to print above itself."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal handler may log, too

    def write(self, line: str) -> None:
        """Write a line. Ignore errors such as a full disk: logging must not stop the program."""
        with self._lock:
            try:
                sys.stderr.write(line + "\n")
                sys.stderr.flush()
            except (OSError, ValueError):
                pass

    debug = info = warning = error = critical = write


class _LibraryHandler(logging.Handler):
    """Writes records of the standard library's logging."""

    def __init__(self, name: str, lines: _Lines) -> None:
        super().__init__()
        self.name = name
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._lines.write(self.format(record))
        except Exception:  # noqa: BLE001 - as in the logging library: a failed line must not stop the program
            self.handleError(record)


def configure_logs(log_format: LogFormat, least: LogLevel) -> None:
    """Send this process's log events at level ``least`` and above to stderr.

    From libraries, only warnings and above are logged, because lower levels may contain secrets. The format
    ``auto`` is for people if stderr is a terminal, and otherwise for programs.
    """
    for_programs = log_format is LogFormat.JSON or (log_format is LogFormat.AUTO and not sys.stderr.isatty())
    lines = _Lines()
    first: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Processor]
    if for_programs:
        # The traceback as text, without the values of variables.
        last = [structlog.processors.ExceptionRenderer(), _order_fields, _as_json]
    else:
        colors = sys.stderr.isatty()
        last = [_escape_line, structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=_trace)]
    handler = _LibraryHandler(JSON_HANDLER if for_programs else _CONSOLE_HANDLER, lines)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*first, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    _install(handler)
    # The arena's own lines bypass the standard library, which would take four times as long.
    structlog.configure(
        processors=[*first, *last],
        logger_factory=lambda *_: lines,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[least.upper()]),
    )


def log_uncaught() -> None:
    """Log warnings, and exceptions that crash this process or one of its threads."""
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_crash

    def on_thread_crash(ended: threading.ExceptHookArgs) -> None:
        if ended.exc_value is not None and ended.exc_type is not SystemExit:
            name = None if ended.thread is None else ended.thread.name
            _log.critical("thread crashed", thread=name, exc_info=ended.exc_value)

    threading.excepthook = on_thread_crash


def _log_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        _log.critical("process crashed", exc_info=error)


def _install(handler: logging.Handler) -> None:
    root = logging.getLogger()
    for old in root.handlers[:]:
        if old.name in {JSON_HANDLER, _CONSOLE_HANDLER}:
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger(MESSAGE_LOGGER).setLevel(logging.INFO)


def _order_fields(_logger: WrappedLogger, _name: str, line: EventDict) -> EventDict:
    """Move the fields that are in every line to the front."""
    first = {key: line.pop(key) for key in _LEADING_FIELDS}
    first.update(line)
    return first


def _as_json(_logger: WrappedLogger, _name: str, line: EventDict) -> str:
    try:
        text = msgspec.json.encode(line, enc_hook=repr).decode()
    except (UnicodeError, OverflowError):  # a surrogate, for example in a file name, or a huge number
        text = json.dumps(line, default=repr)
    if text.isprintable():
        return text
    # JSON allows characters that some programs treat as line ends, or that move the cursor of some terminals.
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def _escape_line(_logger: WrappedLogger, _name: str, line: EventDict) -> EventDict:
    """Escape characters that could move a terminal's cursor."""
    return {key: visible(value) if isinstance(value, str) else value for key, value in line.items()}


def _trace(out: TextIO, error: ExcInfo) -> None:
    """Write a traceback without the values of variables."""
    text = io.StringIO()
    structlog.dev.plain_traceback(text, error)
    out.write("\n".join(map(visible, text.getvalue().split("\n"))))
