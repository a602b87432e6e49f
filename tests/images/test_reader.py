"""The process that reads archives: its privileges and limits, and the checks of its answers."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.images import reader
from arena.images.archive import MAX_ANSWER_BYTES, Job
from arena.images.archive import __main__ as process
from arena.images.archive.sources import Window
from arena.images.image import DEFAULT_LIMITS, IntakeError, IntakeLimits, Rejected
from tests.images.archives import AMD64, PATIENT, READER, Draft, oci, read, write
from tests.images.hostile.sizes import two_million_files

PROBE = """
import json, os, resource, socket
from arena.images.archive import __main__ as process
from arena.images.archive import Refused
STATUS = os.open("/proc/self/status", os.O_RDONLY)
FILES = [name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
LIMITS = (resource.RLIMIT_AS, resource.RLIMIT_CORE, resource.RLIMIT_CPU)
def attempt(what):
    try:
        what()
    except OSError as error:
        return f"{type(error).__name__} {error.errno}"
    return "done"
def probe(job):
    lines = os.pread(STATUS, 10_000, 0).decode().splitlines()
    facts = {line.split(":")[0]: line.split(":")[1].split() for line in lines}
    return Refused(json.dumps({
        "file": attempt(lambda: open("/etc/passwd")),
        "socket": attempt(socket.socket),
        "child": attempt(os.fork),
        "status": {key: facts[key] for key in ("Uid", "Groups", "NoNewPrivs", "CapEff")},
        "limits": [resource.getrlimit(kind) for kind in LIMITS],
        "environment": sorted(os.environ),
        "folder": os.getcwd(),
        "files": len(FILES),
    }))
process.repack_image = probe
process.main()
"""
DEFECT = """
from arena.images.archive import __main__ as process
def fail(job):
    raise ValueError("a defect")
process.repack_image = fail
process.main()
"""


def _limits(**changes: float) -> IntakeLimits:
    return msgspec.structs.replace(PATIENT, **changes)


def _run_instead(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> None:
    """Replace the reader with another program: the interpreter becomes a script that starts it."""
    script, starter = folder / "program.py", folder / "starter"
    script.write_text(program)
    starter.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -I {script}\n")
    starter.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(starter))


def _probe(archive: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what the reader's process reports about its own privileges and limits."""
    _run_instead(monkeypatch, folder, PROBE)
    monkeypatch.setattr(reader, "_TEXT_CHARACTERS", 10_000)
    with pytest.raises(Rejected) as refusal:
        read(archive, folder / "output")
    found: dict[str, Any] = json.loads(str(refusal.value))
    return found


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return the path of a valid archive."""
    return write(tmp_path / "archive", oci(Draft()))


def test_the_reader_can_do_nothing_else(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader can't open files or sockets, and has resource limits but none of the arena's variables."""
    found = _probe(archive, tmp_path, monkeypatch)
    assert found["file"] == found["socket"] == "OSError 24"
    assert found["limits"] == [[256 << 20, 256 << 20], [1, 1], [7, 8]]
    assert set(found["environment"]) <= {"LANG", "LC_CTYPE", "PATH", "PWD", "SHLVL", "_", "OLDPWD"}
    assert found["folder"] == "/"
    assert found["files"] == 3 + 3 + 1  # standard streams, the archive and outputs, and the probe's own
    assert found["status"]["NoNewPrivs"] == ["1"]


@pytest.mark.usefixtures("root")
def test_the_reader_is_unprivileged(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the arena runs as root, the reader has its own user, without groups, capabilities or children."""
    found = _probe(archive, tmp_path, monkeypatch)
    assert found["status"]["Uid"] == [str(READER)] * 4
    assert (found["status"]["Groups"], found["status"]["CapEff"]) == ([], ["0" * 16])
    assert found["child"] == "BlockingIOError 11"


def test_a_defect_of_the_reader(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected exception rejects the archive, and its traceback is kept for the maintainers."""
    _run_instead(monkeypatch, tmp_path, DEFECT)
    with pytest.raises(Rejected, match="crashed") as refusal:
        read(archive, tmp_path / "output")
    assert "ValueError: a defect" in refusal.value.__notes__[0]


def test_the_reader_imports_little() -> None:
    """The process that parses untrusted files imports no engine, store or database."""
    program = "import sys, arena.images.archive.__main__; print(*sys.modules)"
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
    )
    modules = done.stdout.split()
    foreign = {"docker", "fsspec", "sqlalchemy", "requests", "grpc", "pydantic", "structlog"}
    assert not foreign & {name.partition(".")[0] for name in modules}
    assert {name.split(".")[1] for name in modules if name.startswith("arena.")} == {"images"}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of an archive with very many members."""
    archive = tmp_path_factory.mktemp("large") / "archive"
    two_million_files(archive)
    return archive


def test_too_little_memory(large: Path, tmp_path: Path) -> None:
    """An archive that needs more memory than the limit is rejected for that reason."""
    with pytest.raises(Rejected, match="more than 40 MiB of memory"):
        read(large, tmp_path / "output", limits=_limits(memory_bytes=40 << 20))
    assert list(tmp_path.iterdir()) == []


def test_too_much_processor_time(large: Path, tmp_path: Path) -> None:
    """An archive that needs more processor time than the limit is rejected for that reason."""
    with pytest.raises(Rejected, match="more than 1 s of processor time"):
        read(large, tmp_path / "output", limits=_limits(cpu_seconds=1, members=10**9))
    assert list(tmp_path.iterdir()) == []


def test_exceeding_the_time_limit_is_an_arena_fault(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If only elapsed time exceeds its limit, the host was slow. The reader is killed all the same."""
    _run_instead(monkeypatch, tmp_path, "import signal; signal.pause()")
    before = set(tmp_path.iterdir())
    with pytest.raises(IntakeError, match="not read within 0 s"):
        read(archive, tmp_path / "output", limits=_limits(wall_seconds=0))
    assert set(tmp_path.iterdir()) == before


def test_an_archive_that_shrinks(tmp_path: Path) -> None:
    """A file that becomes shorter while it is read is rejected."""
    path = tmp_path / "file"
    path.write_bytes(bytes(1000))
    descriptor = os.open(path, os.O_RDONLY)
    window = Window(descriptor, 0, 1000)
    assert len(window.read(400)) == 400
    os.truncate(path, 400)
    with pytest.raises(Rejected, match="ends early"):
        window.read(600)
    os.close(descriptor)


def test_a_missing_archive(tmp_path: Path) -> None:
    """A missing archive is an arena fault."""
    with pytest.raises(IntakeError, match="could not repack"):
        read(tmp_path / "none", tmp_path / "output")


def test_a_full_disk_is_an_arena_fault(archive: Path, tmp_path: Path) -> None:
    """The archive isn't blamed if its output can't be written."""
    answer = process._answer(  # noqa: SLF001 - called directly, with a device that is always full
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
    "says nothing": ("", IntakeError, "did not start"),
    "says noise": ("print(7)", Rejected, "an invalid answer"),
    "says no end": ("print('x' * 10**7)", Rejected, "an invalid answer"),
    "breaks down": ("say({'type': 'Ready'}); import os; os.abort()", Rejected, "crashed"),
    "is ended with its service": (
        "say({'type': 'Ready'}); os.kill(os.getpid(), 15)",
        IntakeError,
        r"another process \(SIGTERM\)",
    ),
    "is ended by the kernel": (
        "say({'type': 'Ready'}); os.kill(os.getpid(), 9)",
        IntakeError,
        r"another process \(SIGKILL\)",
    ),
    "knows no answer": (
        "say({'type': 'Ready'}); say({'type': 'Broken', 'text': 'why'})",
        Rejected,
        "crashed",
    ),
    "names no layer": ("done([])", Rejected, "an invalid list of layers"),
    "names a layer that is not there": (
        "done([{'digest': 'sha256:x', 'size': 512}])",
        Rejected,
        "output differs from the size",
    ),
    "names layers beyond the limit": (
        "os.truncate(job['output'], 1 << 30); done([{'digest': 'sha256:x', 'size': 1 << 30}])",
        Rejected,
        "more than 536870912 bytes of layers",
    ),
    "names another layer": (
        "os.write(job['output'], bytes(512)); done([{'digest': 'sha256:x', 'size': 512}])",
        Rejected,
        "layers that differ",
    ),
    "names a crooked size": ("done([{'digest': 'sha256:x', 'size': -512}])", Rejected, "an invalid list"),
    "starts in the system's folder": (
        "os.write(job['output'], bytes(512)); done([{'digest': '', 'size': 512}], working_dir='/proc/self')",
        Rejected,
        "is a system folder",
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
    """Nothing that it prints or writes can produce an image, remain on the disk or corrupt the error."""
    program, kind, words = FORGED[forgery]
    _run_instead(monkeypatch, tmp_path, FORGER + program)
    assert MAX_ANSWER_BYTES < 10**7
    with pytest.raises(kind, match=words):
        read(archive, tmp_path / "output")
    assert not (tmp_path / "output").exists()
