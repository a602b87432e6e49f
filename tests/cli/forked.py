"""Run commands and sites in their own processes, forked from one that has already imported everything."""

import multiprocessing
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Final, Literal, NamedTuple

import arena.app
import arena.cli.main
import web.__main__
from arena.accounts import accounts
from tests.accounts.world import CHEAP
from tests.patience import WAIT_SECONDS
from tests.web.adapters import complete_routes_late, share_adapters

_STANDARD: Final = (0, 1, 2)
_LOOK_SECONDS: Final = 0.02

Main = Callable[[], int | None]


class CommandResult(NamedTuple):
    """A command's exit code and output."""

    code: int
    out: str
    err: str


def _server() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    modules = [
        f"{package.__name__}.{module.name}"
        for package in (arena.app, arena.cli)
        for module in pkgutil.iter_modules(package.__path__)
    ]
    cluster = ["arena.scheduler.cluster.host", "arena.scheduler.cluster.workers"]
    context.set_forkserver_preload([__name__, "web.__main__", *modules, *cluster])
    return context


# Done both here and in the process from which others are forked: it halves the work of creating a site.
share_adapters()
complete_routes_late()
_SERVER: Final = _server()


def run(  # noqa: PLR0913 - the inputs of a process
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    text: str = "",
    seconds: float = WAIT_SECONDS,
    program: Literal["arena", "web"] = "arena",
) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end with these words, this environment, and ``text`` on stdin.

    Don't call this from several threads at once: exit codes of processes that end simultaneously are lost.
    """
    main = arena.cli.main.main if program == "arena" else web.__main__.main
    with _running(main, (program, *words), folder, environment, text) as (process, files):
        process.join(seconds)
        code, out, err = process.exitcode, _all(files[1]), _all(files[2])
    if code is None:
        raise subprocess.TimeoutExpired(list(words), seconds, out, err)
    return subprocess.CompletedProcess(list(words), code, out, err)


class Started:
    """A running command, and its output."""

    def __init__(self, process: ForkServerProcess, files: Sequence[str]) -> None:
        self._process = process
        self._files = files
        self._read = 0

    def readline(self) -> str:
        """Wait for the next line on stderr, and return it, or '' if the command ends without one."""
        while True:
            ended = self._process.exitcode is not None
            rest = _all(self._files[2])[self._read :]
            if "\n" in rest or ended:
                line = rest[: rest.find("\n") + 1]
                self._read += len(line)
                return line
            self._process.join(_LOOK_SECONDS)

    @property
    def pid(self) -> int:
        """The command's process id."""
        assert self._process.pid is not None
        return self._process.pid

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition is true. The command must keep running meanwhile."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not condition():
            assert time.monotonic() < deadline
            self.check_runs()
            self._process.join(_LOOK_SECONDS)

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> None:
        """Press Ctrl-C, or send another signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the command, which must not have ended."""
        assert self.is_killed_in_time(), _all(self._files[2])

    def is_killed_in_time(self) -> bool:
        """Kill the command. Return False if it had already succeeded."""
        self._process.kill()
        self._process.join()
        assert self._process.exitcode in {-signal.SIGKILL, 0}, _all(self._files[2])
        return self._process.exitcode != 0

    @property
    def has_ended(self) -> bool:
        """Whether the command has ended."""
        return self._process.exitcode is not None

    def check_runs(self) -> None:
        """Check that the command is still running."""
        assert self._process.exitcode is None, _all(self._files[2])

    def wait(self) -> CommandResult:
        """Wait for the command to end. Return its result, with the unread part of stderr."""
        self._process.join(WAIT_SECONDS)
        out, err = _all(self._files[1]), _all(self._files[2])[self._read :]
        assert self._process.exitcode is not None, err
        return CommandResult(self._process.exitcode, out, err)


@contextmanager
def started(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[Started]:
    """Run ``arena`` with these words and this environment, and kill it after use if it is still running."""
    with _running(arena.cli.main.main, ("arena", *words), folder, environment) as (process, files):
        yield Started(process, files)


def arena_on_two_cores() -> None:
    """Run ``arena`` on at most two cores, so that it has the same number of seats on every machine."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    arena.cli.main.main()


def member(
    words: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    main: Main = arena.cli.main.main,
) -> ForkServerProcess:
    """Start ``arena`` or another program, appending its output to a log. The caller must end it."""
    files = (os.devnull, str(log), str(log))
    return _begun(main, ("arena", *words), Path.cwd(), environment, files)


@contextmanager
def site(words: Sequence[str], environment: Mapping[str, str]) -> Iterator[Callable[[], str]]:
    """Run ``python -m web`` with these words and this environment, and kill it after use.

    Yields a function that returns the site's output on stderr, and fails if the site has ended.
    """
    with _running(web.__main__.main, ("web", *words), Path.cwd(), environment) as (process, files):

        def said() -> str:
            assert process.exitcode is None, _all(files[2])
            return _all(files[2])

        yield said


@contextmanager
def _running(
    main: Main, words: Sequence[str], folder: Path, environment: Mapping[str, str], text: str = ""
) -> Iterator[tuple[ForkServerProcess, list[str]]]:
    """Start a program, and kill it after use if it is still running.

    Yields the program's process and its files for stdin, which contains ``text``, stdout and stderr.
    """
    with tempfile.TemporaryDirectory() as scratch:
        files = [str(Path(scratch, name)) for name in ("stdin", "stdout", "stderr")]
        for name in files:
            Path(name).write_text(text if name == files[0] else "", newline="")
        process = _begun(main, words, folder, environment, files)
        try:
            yield process, files
        finally:
            process.kill()
            process.join()
            process.close()


def _begun(
    main: Main, words: Sequence[str], folder: Path, environment: Mapping[str, str], files: Sequence[str]
) -> ForkServerProcess:
    process = _SERVER.Process(target=_command, args=(main, words, folder, dict(environment), files))
    process.start()
    return process


def _all(file: str) -> str:
    """Return a file's content. If it is not text, encoding it in the same way gives the same bytes."""
    return Path(file).read_bytes().decode(errors="surrogateescape")


def _command(
    main: Main, words: Sequence[str], folder: Path, environment: dict[str, str], files: Sequence[str]
) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
    for number, name in zip(_STANDARD, files, strict=True):
        opened = os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_APPEND)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - as the interpreter does
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - as above
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115 - as above
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [*words]
    # A real hash takes longer than the rest of a request. tests/accounts tests that real hashes are strong.
    accounts.strong_hasher = lambda: CHEAP  # type: ignore[attr-defined] # imported there
    sys.exit(main())
