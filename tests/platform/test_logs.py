"""Tests of logs for people and for programs. Each test runs a process that logs."""

import json
import os
import pty
import re
import subprocess
import sys
from typing import IO, Any

_BEGIN = """
import logging, threading, warnings
import structlog
from arena.platform.logs import configure_logs, log_uncaught
from arena.platform.settings import LogFormat, LogLevel
configure_logs(LogFormat("{format}"), LogLevel("{level}"))
log_uncaught()
log = structlog.get_logger()
"""
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")


def run(
    program: str, wanted: str, level: str = "info", stderr: IO[str] | int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    """Run a program that logs."""
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", _BEGIN.format(format=wanted, level=level) + program],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        check=False,
    )


def logged(program: str, wanted: str = "auto", level: str = "info", code: int = 0) -> str:
    """Return what a program writes to stderr, here a pipe."""
    done = run(program, wanted, level)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    return done.stderr


def lines(program: str, level: str = "info", code: int = 0) -> list[dict[str, Any]]:
    """Return the objects that a program logs, one per line."""
    found = [json.loads(line) for line in logged(program, level=level, code=code).splitlines()]
    assert all(TIME.match(line["timestamp"]) for line in found)
    return found


def test_a_log_without_a_terminal_is_json() -> None:
    """Each line is one object, whatever it contains. The common fields come first.

    Nothing moves a cursor, since such logs are read on terminals too. Parsing the escaped text gives the
    original.
    """
    odd = "\x1b[2J\n\x9b2J\x85\u2028\u202e\U000e0001"
    text = logged(
        'log.info("done", what="a\\nb", half="\\udcff", large=10**30, thing=b"\\xff", n=1.5)\n'
        f"log.info({odd!r}, field={odd!r}, ok='sé')"
    )
    assert all(line.isprintable() for line in text.splitlines())
    assert "sé" in text
    line, escaped = map(json.loads, text.splitlines())
    assert list(line)[:3] == ["timestamp", "level", "event"]
    assert (line["level"], line["event"], line["what"], line["n"]) == ("info", "done", "a\nb", 1.5)
    assert (line["half"], line["large"]) == ("\udcff", 10**30)
    assert (escaped["event"], escaped["field"]) == (odd, odd)


def test_libraries_messages_are_logged_the_same_way() -> None:
    """Libraries' warnings and more severe messages are logged, with the libraries' names.

    Messages below that level may contain secrets.
    """
    found = lines(
        """
structlog.contextvars.bind_contextvars(match="m", attempt=2)
for level in ("debug", "info", "warning", "error"):
    getattr(logging.getLogger("sqlalchemy.pool"), level)("said %s", level)
warnings.warn("old")
""",
        level="debug",
    )
    assert [line["event"] for line in found[:2]] == ["said warning", "said error"]
    assert {line["logger"] for line in found} == {"sqlalchemy.pool", "py.warnings"}
    assert all((line["match"], line["attempt"]) == ("m", 2) for line in found)


def test_a_traceback_has_no_values_of_variables() -> None:
    """The traceback may be logged by our code or a library, or when a thread or process ends."""
    found = lines(
        """
def fail():
    password = "hunter" + "2"
    raise ValueError("too short")

try:
    fail()
except ValueError:
    log.exception("ours", match="m")
    logging.getLogger("theirs").exception("theirs")
thread = threading.Thread(target=fail, name="t1")
thread.start()
thread.join()
fail()
""",
        code=1,
    )
    assert [line["level"] for line in found] == ["error", "error", "critical", "critical"]
    assert found[2]["thread"] == "t1"
    for line in found:
        assert line["exception"].startswith("Traceback (most recent call last):\n")
        assert line["exception"].endswith("ValueError: too short")
        assert "hunter2" not in json.dumps(line)


def test_messages_below_the_level_are_left_out() -> None:
    """The setting is the lowest level that is logged. A command's messages are always logged."""
    program = """
from arena.platform.text import log_message
for level in ("debug", "info", "warning", "error"):
    getattr(log, level)(level)
assert log_message("hello %s")
"""
    assert [line["event"] for line in lines(program, "warning")] == ["warning", "error", "hello %s"]
    assert [line["event"] for line in lines(program, "debug")][:2] == ["debug", "info"]


def test_for_people_nothing_moves_the_cursor() -> None:
    """Control characters are escaped in events, fields and tracebacks, which keep their line breaks."""
    text = logged(
        r"""
from arena.platform.text import log_message
log.info("odd\x1b[2J\nevent", field="\x1b[1A")
logging.getLogger("theirs").warning("\x1b[3J")
try:
    raise ValueError("\x1b[4J")
except ValueError:
    log.exception("failed")
assert not log_message("said otherwise")
""",
        "console",
    )
    assert "\x1b" not in text
    assert r"odd\x1b[2J\nevent" in text
    assert r"field=\x1b[1A" in text
    assert "\nTraceback (most recent call last):\n" in text
    assert text.rstrip().endswith(r"ValueError: \x1b[4J")


def test_a_log_on_a_terminal_is_for_people() -> None:
    """On a terminal, the log is for people unless the setting says JSON."""
    assert "[info     ] done" in _on_terminal("auto")
    assert json.loads(_on_terminal("json"))["event"] == "done"


def test_a_line_that_can_not_be_written_stops_nothing() -> None:
    """The disk may be full, or the reader may have exited."""
    program = "log.error('lost')\nlogging.getLogger('x').error('lost')\nprint('went on')"
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = run(program, "json", stderr=full)
    assert done.stdout == "went on\n"


def _on_terminal(wanted: str) -> str:
    """Return what a process writes to a terminal, without colours."""
    ours, theirs = pty.openpty()
    try:
        assert run("log.info('done')", wanted, stderr=theirs).returncode == 0
        text = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    return re.sub(r"\x1b\[\d*m", "", text)
