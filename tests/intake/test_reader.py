"""The process that reads archives: what it may, what ends it, and what is believed of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from arena.intake import reader
from arena.intake.archive import process
from arena.intake.archive.sources import Window
from arena.intake.errors import IntakeTrouble, Rejected
from arena.intake.limits import DEFAULT_LIMITS, IntakeLimits
from arena.intake.messages import MAX_ANSWER_BYTES, Job
from tests.intake.archives import AMD64, Draft, oci, write
from tests.intake.hostile.sizes import two_million_files
from tests.intake.reading import READER, read

PROBE = """
import os, resource, socket, sys
from arena.intake.archive import image, process
from arena.intake.messages import Refused
def attempt(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__ + " " + str(error.errno)
    return "done"
def probe(job):
    status = os.pread(status_fd, 10_000, 0).decode()
    facts = {line.split(":")[0]: line.split(":")[1].split() for line in status.splitlines()}
    return Refused(__import__("json").dumps({
        "file": attempt(lambda: open("/etc/passwd")),
        "socket": attempt(socket.socket),
        "child": attempt(os.fork),
        "uid": facts["Uid"], "groups": facts["Groups"], "no_new_privs": facts["NoNewPrivs"],
        "capabilities": facts["CapEff"],
        "limits": [resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CORE, resource.RLIMIT_CPU)],
        "environment": sorted(os.environ), "folder": os.getcwd(), "session": os.getsid(0) == os.getpid(),
        "files": sorted(open_files),
    }))
status_fd = os.open("/proc/self/status", os.O_RDONLY)
open_files = [int(name) for name in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + name)]
process.repack_image = probe
process.main()
"""


def _limits(**changes: float) -> IntakeLimits:
    return msgspec.structs.replace(DEFAULT_LIMITS, **changes)


def _run_instead(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> None:
    """Have another program run in the reader's place, by an interpreter that is a script."""
    script, starter = folder / "program.py", folder / "starter"
    script.write_text(program)
    starter.write_text(f"#!/bin/sh\nexec {sys.executable} -I {script}\n")
    starter.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(starter))


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Give a good archive."""
    return write(tmp_path / "archive", oci(Draft()))


def test_the_reader_can_do_nothing_else(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It opens no file and no socket, starts nothing, has no privileges, no variables and three files of ours."""
    _run_instead(monkeypatch, tmp_path, PROBE)
    with pytest.raises(Rejected) as refusal, monkeypatch.context() as patch:
        patch.setattr(reader, "_TEXT_CHARACTERS", 10_000)
        read(archive, tmp_path / "output")
    found = json.loads(str(refusal.value))
    assert found["file"] == found["socket"] == "OSError 24"
    assert found["child"] == ("BlockingIOError 11" if READER else found["child"])
    assert found["no_new_privs"] == ["1"]
    assert found["limits"] == [[256 << 20, 256 << 20], [0, 0], [7, 8]]
    assert found["environment"] == ["LANG", "LC_CTYPE", "PATH", "PWD"] or found["environment"] == [
        "LANG",
        "PATH",
        "PWD",
    ]
    assert (found["folder"], found["session"]) == ("/", True)
    assert len(found["files"]) == 3 + 3 + 1  # its standard ones, ours, and the probe's own
    if READER:
        assert found["uid"] == [str(READER)] * 4
        assert (found["groups"], found["capabilities"]) == ([], ["0" * 16])


def test_the_reader_imports_little() -> None:
    """No engine, no store, no database is in the process that parses what strangers send."""
    program = "import sys, arena.intake.archive.process; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"docker", "fsspec", "sqlalchemy", "requests", "grpc", "pydantic", "structlog"}
    assert not [
        name
        for name in done.stdout.split()
        if name.startswith("arena.") and not name.startswith("arena.intake")
    ]


def test_too_little_memory(archive: Path, tmp_path: Path) -> None:
    """An archive that takes more memory than is given is refused, and says so."""
    two_million_files(archive)
    with pytest.raises(Rejected, match="more than 40 MiB of memory"):
        read(archive, tmp_path / "output", limits=_limits(memory_bytes=40 << 20, wall_seconds=60))
    assert list(tmp_path.iterdir()) == [archive]


def test_too_much_processor_time(archive: Path, tmp_path: Path) -> None:
    """An archive that takes more processor time than is given is refused, and says so."""
    two_million_files(archive)
    with pytest.raises(Rejected, match="more than 1 s of processor time"):
        read(archive, tmp_path / "output", limits=_limits(cpu_seconds=1, members=10**9, wall_seconds=60))
    assert list(tmp_path.iterdir()) == [archive]


def test_too_much_time_on_the_clock_is_the_hosts_fault(archive: Path, tmp_path: Path) -> None:
    """A reader that is over its time without having used it up waited for the host; it is ended all the same."""
    with pytest.raises(IntakeTrouble, match=r"not read within 0\.001 s"):
        read(archive, tmp_path / "output", limits=_limits(wall_seconds=0.001))
    assert list(tmp_path.iterdir()) == [archive]


def test_no_archive_takes_more_than_ten_seconds() -> None:
    """The reader is ended before ten seconds on the clock, and before that by its processor time."""
    assert DEFAULT_LIMITS.cpu_seconds < DEFAULT_LIMITS.wall_seconds < 10
    assert DEFAULT_LIMITS.memory_bytes <= 256 << 20


def test_an_archive_that_shrinks(tmp_path: Path) -> None:
    """A file that is shorter than it was is refused, not read without end."""
    path = tmp_path / "file"
    path.write_bytes(bytes(1000))
    descriptor = os.open(path, os.O_RDONLY)
    window = Window(descriptor, 0, 1000)
    assert len(window.read(400)) == 400
    os.truncate(path, 400)
    with pytest.raises(Rejected, match="ends early"):
        window.read(600)
    os.close(descriptor)


def test_an_archive_that_is_not_there(tmp_path: Path) -> None:
    """A missing file is the arena's own trouble."""
    with pytest.raises(IntakeTrouble, match="could not repack"):
        read(tmp_path / "none", tmp_path / "output")


def test_a_full_disk_is_the_arenas_trouble(archive: Path, tmp_path: Path) -> None:
    """No room for the output says nothing about the archive."""
    answer = process._answer(  # noqa: SLF001 - the disk of a test is not full
        Job(
            archive=os.open(archive, os.O_RDONLY),
            scratch=os.open(tmp_path / "scratch", os.O_RDWR | os.O_CREAT),
            output=os.open("/dev/full", os.O_WRONLY),
            platform=AMD64,
            uid=None,
            limits=DEFAULT_LIMITS,
        )
    )
    assert "No space left" in answer.text  # type: ignore[union-attr]
    assert type(answer).__name__ == "Stopped"


FORGER = """
import json, os, sys
job = json.loads(sys.stdin.readline())
def say(message):
    print(json.dumps(message), flush=True)
def done(layers, **command):
    say({"type": "Ready"})
    say({"type": "Repacked", "layers": layers, "command": {"entrypoint": ["x"], **command}})
"""
FORGED = {
    "says nothing": ("", IntakeTrouble, "did not start"),
    "says noise": ("print(7)", Rejected, "no proper answer"),
    "says no end": ("print('x' * 10**7)", Rejected, "no proper answer"),
    "breaks down": ("say({'type': 'Ready'}); import os; os.abort()", Rejected, "broke down"),
    "knows no answer": (
        "say({'type': 'Ready'}); say({'type': 'Broken', 'text': 'why'})",
        Rejected,
        "broke down",
    ),
    "names no layer": ("done([])", Rejected, "no proper list of layers"),
    "names a layer that is not there": (
        "done([{'digest': 'sha256:x', 'size': 512}])",
        Rejected,
        "more or less",
    ),
    "names another layer": (
        "os.write(job['output'], bytes(512)); done([{'digest': 'sha256:x', 'size': 512}])",
        Rejected,
        "other layers",
    ),
    "names a crooked size": ("done([{'digest': 'sha256:x', 'size': -512}])", Rejected, "no proper list"),
    "starts in the system's folder": (
        "os.write(job['output'], bytes(512)); done([{'digest': '', 'size': 512}], working_dir='/proc/self')",
        Rejected,
        "is the system's",
    ),
    "speaks in colours": (
        "say({'type': 'Ready'}); say({'type': 'Refused', 'text': 'a\\x1b[31mb\\u202ec'})",
        Rejected,
        "^a\ufffd\\[31mb\ufffdc$",
    ),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_reader_that_was_taken_over(
    forgery: str, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it says or writes, there is no image, nothing on the disk, and a text fit to be shown."""
    program, kind, words = FORGED[forgery]
    _run_instead(monkeypatch, tmp_path, FORGER + program)
    assert MAX_ANSWER_BYTES < 10**7
    with pytest.raises(kind, match=words):
        read(archive, tmp_path / "output")
    assert not (tmp_path / "output").exists()
