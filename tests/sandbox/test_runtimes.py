"""Guarantees of every runtime, tested with containers and with plain processes."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.sandbox.runtime import Exit, LaunchRefused, Sandbox
from tests.patience import WAIT_SECONDS
from tests.sandbox.stage import (
    FOREVER,
    ProcessStage,
    Stage,
    connected,
    end_of,
    launched,
    listening,
    run,
    spec_for,
)

SAY_HELLO = """
import os, socket
with socket.socket(socket.AF_UNIX) as channel:
    channel.connect(os.environ["ARENA_REFEREE"].removeprefix("unix://"))
    channel.sendall(b"hello")
    channel.recv(1)
"""

WITH_GRANDCHILDREN = """
import os, signal, socket
with socket.socket(socket.AF_UNIX) as channel:
    channel.connect(os.environ["ARENA_REFEREE"].removeprefix("unix://"))
    if os.fork() == 0:
        os.fork()
        signal.pause()
    channel.recv(1)
"""


def test_a_bot_reaches_its_referee_and_ends(stage: Stage) -> None:
    """A program finds its socket through ARENA_REFEREE, and ``wait`` returns its exit code."""
    source = stage.source(SAY_HELLO)
    stage.runtime.check_source(source)
    with launched(stage, source) as (sandbox, server):
        assert sandbox.limits
        assert all(sandbox.limits)
        channel, _ = server.accept()
        with channel:
            assert channel.recv(5) == b"hello"
        assert sandbox.wait().code == 0


FLOODS = """
import sys
print("to stdout", flush=True)
for n in range(60000): print(f"line {n:6} " + "x" * 50, file=sys.stderr)
raise ValueError("mark: é")
"""


def test_a_flood_keeps_its_head_and_tail(stage: Stage) -> None:
    """Of several megabytes on stderr, the first and last lines are captured, at most 64 KiB in all.

    The last lines include a traceback. Stdout is discarded.
    """
    ended, said = run(stage, FLOODS)
    assert ended.code == 1
    assert "line      0 " in said
    assert "line  59999 " in said
    assert "ValueError: mark: é" in said
    assert "to stdout" not in said
    assert len(said.encode()) <= 64 * 1024


def test_a_process_ends_by_itself_at_its_deadline(process_stage: ProcessStage) -> None:
    """The deadline also kills the bot's children. For containers see test_init.py."""
    stage = process_stage
    with connected(stage.runtime, stage, stage.source(WITH_GRANDCHILDREN), 4, 60) as (sandbox, channel, spec):
        assert channel.recv(1) == b""  # all processes that held the other end have ended
        ended, said = end_of(sandbox)
        assert ended.code == stage.deadline_code
        assert f"arena: ended by the hard deadline of {spec.deadline_seconds} s" in said


def test_remove_leaves_nothing_and_may_be_repeated(stage: Stage) -> None:
    """``remove`` kills a program and its children, and ends another thread's ``wait``."""
    with listening() as (folder, server), ThreadPoolExecutor(1) as pool:
        sandbox = stage.runtime.launch(spec_for(stage, stage.source(WITH_GRANDCHILDREN), folder))
        waiting = pool.submit(sandbox.wait)
        channel, _ = server.accept()
        with channel:
            assert stage.leftovers() != []
            sandbox.remove()
            assert channel.recv(1) == b""
        assert waiting.result(timeout=WAIT_SECONDS).code in {137, None}
        sandbox.remove()
        assert stage.leftovers() == []


def test_the_environment_has_only_the_necessary_variables(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the launcher's variables, a bot gets only the search path. It can write to its home folder."""
    monkeypatch.setenv("ARENA_SECRET", "s3cret")
    ended, said = run(
        stage,
        "import os, pathlib, sys, json; pathlib.Path.home().joinpath('x').write_text('y')\n"
        "json.dump(dict(os.environ), sys.stderr)",
    )
    assert ended.code == 0, said
    found: dict[str, str] = json.loads(said)
    assert found["ARENA_REFEREE"].startswith("unix:///")
    allowed = {
        "ARENA_REFEREE", "HOME", "HOSTNAME", "LANG", "LC_CTYPE", "OPENBLAS_NUM_THREADS", "PATH",
        "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONUNBUFFERED", "TMPDIR",
    }  # fmt: skip
    assert set(found) <= allowed


def test_parallel_launches_do_not_mix(stage: Stage) -> None:
    """Sandboxes launched in parallel have separate exit codes and stderr.

    A signal gives the exit code 128 + its number, and isn't mistaken for running out of memory.
    """
    endings = ["sys.exit(0)", "sys.exit(1)", "os.kill(os.getpid(), signal.SIGKILL)"]
    sources = [
        stage.source(f"import os, signal, sys\nprint('bot {n}', file=sys.stderr, flush=True)\n{ending}")
        for n, ending in enumerate(endings)
    ]
    together = threading.Barrier(len(sources))

    def play(number: int) -> tuple[Exit, str]:
        with listening(number) as (folder, _):
            together.wait(WAIT_SECONDS)
            sandbox: Sandbox = stage.runtime.launch(spec_for(stage, sources[number], folder, slot=number))
            try:
                return end_of(sandbox)
            finally:
                sandbox.remove()

    with ThreadPoolExecutor(len(sources)) as pool:
        assert list(pool.map(play, range(len(sources)))) == [
            (Exit(code, out_of_memory=False), f"bot {n}\n") for n, code in enumerate([0, 1, 137])
        ]
    assert stage.leftovers() == []


def test_sweep_counts_what_it_removes(stage: Stage) -> None:
    """``sweep`` removes only sandboxes of the given installation. A second sweep removes nothing."""
    with listening() as (folder, _):
        sandbox = stage.runtime.launch(spec_for(stage, stage.source(FOREVER), folder))
        assert stage.runtime.sweep(f"{stage.install}0") == 0
        assert stage.leftovers() != []
        assert stage.runtime.sweep(stage.install) == 1
        assert stage.runtime.sweep(stage.install) == 0
        sandbox.remove()
        assert stage.leftovers() == []


def test_nothing_to_run_is_the_bots_fault(stage: Stage) -> None:
    """A source without a program is refused before anything starts."""
    source = stage.empty_source()
    with pytest.raises(LaunchRefused):
        stage.runtime.check_source(source)
    with listening() as (folder, _), pytest.raises(LaunchRefused):
        stage.runtime.launch(spec_for(stage, source, folder))
    assert stage.leftovers() == []
