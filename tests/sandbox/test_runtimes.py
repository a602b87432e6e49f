"""What every runtime promises: one suite for containers and plain processes."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from arena.sandbox.runtime import LaunchRefused, Sandbox
from tests.patience import WAIT_SECONDS
from tests.sandbox.stage import ProcessStage, Stage, launched, listening, run, spec_for

FOREVER = "import signal, sys; print('here', file=sys.stderr, flush=True); signal.pause()"

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
    """A launched program finds the socket by ARENA_REFEREE; wait returns its exit code."""
    with launched(stage, stage.source(SAY_HELLO)) as (sandbox, server):
        channel, _ = server.accept()
        with channel:
            assert channel.recv(5) == b"hello"
        assert sandbox.wait().code == 0


@pytest.mark.parametrize("code", [0, 3])
def test_exit_code(stage: Stage, code: int) -> None:
    """The exit code is the program's own, and nobody blames the memory."""
    ended, _ = run(stage, f"raise SystemExit({code})")
    assert (ended.code, ended.out_of_memory) == (code, False)


def test_a_signal_shows_as_a_shell_shows_it(stage: Stage) -> None:
    """A program ended by a signal has 128 + its number as exit code."""
    ended, _ = run(stage, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert ended.code == 137


def test_stderr_is_captured_and_stdout_is_not(stage: Stage) -> None:
    """A traceback arrives whole; what goes to stdout does not."""
    _, said = run(stage, "print('to stdout', flush=True)\nraise ValueError('mark: é')")
    assert "ValueError: mark: é" in said
    assert "to stdout" not in said


def test_a_flood_keeps_its_head_and_tail(stage: Stage) -> None:
    """Of many megabytes the first and the last lines are kept, 64 KiB at most."""
    program = "import sys\nfor n in range(60000): print(f'line {n:6} ' + 'x' * 50, file=sys.stderr)"
    ended, said = run(stage, program)
    assert ended.code == 0
    assert "line      0 " in said
    assert "line  59999 " in said
    assert len(said.encode()) <= 64 * 1024


def test_a_process_ends_by_itself_at_its_deadline(process_stage: ProcessStage) -> None:
    """A bot that never would is ended with all its children; for containers see test_init.py."""
    stage = process_stage
    with listening() as (folder, server):
        spec = replace(spec_for(stage, stage.source(WITH_GRANDCHILDREN), folder), deadline_seconds=4)
        sandbox = stage.runtime.launch(spec)
        try:
            channel, _ = server.accept()
            with channel:
                channel.settimeout(30)
                assert channel.recv(1) == b""  # each of its processes held the other end
            assert sandbox.wait().code == stage.deadline_code
            assert "arena: ended by the hard deadline of 4 s" in sandbox.stderr()
        finally:
            sandbox.remove()


def test_remove_leaves_nothing_and_may_be_repeated(stage: Stage) -> None:
    """Remove ends a running program with its children, and nothing remains; again it does nothing."""
    with listening() as (folder, server):
        sandbox = stage.runtime.launch(spec_for(stage, stage.source(WITH_GRANDCHILDREN), folder))
        channel, _ = server.accept()
        with channel:
            assert stage.leftovers() != []
            sandbox.remove()
            assert channel.recv(1) == b""
        sandbox.remove()
        assert stage.leftovers() == []


def test_remove_wakes_all_that_wait(stage: Stage) -> None:
    """A thread in wait returns when another removes the sandbox."""
    with listening() as (folder, _), ThreadPoolExecutor(1) as pool:
        sandbox = stage.runtime.launch(spec_for(stage, stage.source(FOREVER), folder))
        waiting = pool.submit(sandbox.wait)
        sandbox.remove()
        assert waiting.result(timeout=WAIT_SECONDS).code in {137, None}


def test_environment_holds_no_more_than_it_must(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the launcher's own environment reaches a bot but the search path."""
    monkeypatch.setenv("ARENA_SECRET", "s3cret")
    _, said = run(stage, "import os, sys, json; json.dump(dict(os.environ), sys.stderr)")
    found: dict[str, str] = json.loads(said)
    assert found["ARENA_REFEREE"].startswith("unix:///")
    allowed = {
        "ARENA_REFEREE", "HOME", "HOSTNAME", "LANG", "LC_CTYPE", "OPENBLAS_NUM_THREADS", "PATH",
        "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONUNBUFFERED", "TMPDIR",
    }  # fmt: skip
    assert set(found) <= allowed


def test_home_can_be_written(stage: Stage) -> None:
    """A bot may keep files in its home folder."""
    ended, said = run(stage, "import pathlib; pathlib.Path.home().joinpath('x').write_text('y')")
    assert (ended.code, said) == (0, "")


def test_a_bot_imports_the_sdk(stage: Stage) -> None:
    """`arena.sdk` can be imported without any setting."""
    ended, said = run(stage, "import arena.sdk")
    assert (ended.code, said) == (0, "")


def test_parallel_launches_do_not_mix(stage: Stage) -> None:
    """Sandboxes launched by many threads at once each have their own exit code and stderr."""
    sources = [stage.source(f"import sys; sys.stderr.write('bot {n}'); sys.exit({n})") for n in range(6)]
    together = threading.Barrier(len(sources))

    def play(number: int) -> tuple[int | None, str]:
        with listening(number) as (folder, _):
            together.wait(WAIT_SECONDS)
            sandbox: Sandbox = stage.runtime.launch(spec_for(stage, sources[number], folder, slot=number))
            try:
                return sandbox.wait().code, sandbox.stderr()
            finally:
                sandbox.remove()

    with ThreadPoolExecutor(len(sources)) as pool:
        assert list(pool.map(play, range(len(sources)))) == [(n, f"bot {n}") for n in range(len(sources))]
    assert stage.leftovers() == []


def test_limits_are_words(stage: Stage) -> None:
    """A sandbox says what holds it."""
    with launched(stage, stage.source(FOREVER)) as (sandbox, _):
        assert sandbox.limits
        assert all(sandbox.limits)


def test_a_good_source_passes_the_check(stage: Stage) -> None:
    """A program that can be launched passes check_source."""
    stage.runtime.check_source(stage.source("pass"))


def test_sweep_counts_what_it_removes(stage: Stage) -> None:
    """Sweep removes every sandbox of the installation, and no other's; then there is nothing to do."""
    with listening() as (folder, _):
        sandbox = stage.runtime.launch(spec_for(stage, stage.source(FOREVER), folder))
        assert stage.runtime.sweep(f"{stage.install}0") == 0
        assert stage.leftovers() != []
        assert stage.runtime.sweep(stage.install) == 1
        assert stage.runtime.sweep(stage.install) == 0
        sandbox.remove()
        assert stage.leftovers() == []


def test_nothing_to_run_is_the_bots_fault(stage: Stage) -> None:
    """A source that holds nothing to run is refused before anything starts."""
    source = stage.empty_source()
    with pytest.raises(LaunchRefused):
        stage.runtime.check_source(source)
    with listening() as (folder, _), pytest.raises(LaunchRefused):
        stage.runtime.launch(spec_for(stage, source, folder))
    assert stage.leftovers() == []
