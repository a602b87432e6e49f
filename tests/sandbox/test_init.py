"""The init, the first process of a container: attacks by its bot, its messages, and its installation."""

import io
import json
import platform
import signal
import subprocess
import tarfile
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import docker
import pytest
from docker.errors import NotFound

from arena.sandbox.docker import init_program
from arena.sandbox.docker.engine import connect
from arena.sandbox.docker.init_program import Init, InitVolume, init_for
from arena.sandbox.docker.runtime import DockerRuntime
from arena.sandbox.runtime import RuntimeFailure, Sandbox, SandboxSpec
from tests.patience import WAIT_SECONDS, within
from tests.sandbox.stage import ATTEMPT, DockerStage, connected, end_of, launched, listening, run, spec_for

pytestmark = pytest.mark.docker

_FLOOD = 32 * 1024
"""Number of captured characters after which the flood has certainly begun."""

_BUSY_SECONDS = 30.0
"""Time allowed for removal on a busy host."""

_HELD_SECONDS = 9.0
"""Time allowed after a deadline. If the init waited for the bot, it would take 400 s, which is more even on a
busy host."""

_DEADLINES = (6, 60)
"""Seconds. On a busy host a bot may take more than 6 s to start."""

ATTACKS = (
    ATTEMPT
    + """
import ctypes, json, os, resource, signal, sys, time

def write_memory():
    with open("/proc/1/maps") as maps:
        place = int(next(line for line in maps if " rw" in line).split("-")[0], 16)
    with open("/proc/1/mem", "r+b", buffering=0) as memory:
        memory.seek(place)
        memory.write(bytes(8))

said = {
    "memory": attempt(write_memory),
    "environment": attempt(lambda: open("/proc/1/environ").read()),
    "descriptors": attempt(lambda: os.listdir("/proc/1/fd")),
    "root": attempt(lambda: os.listdir("/proc/1/root")),
    "priority": attempt(lambda: os.setpriority(os.PRIO_PROCESS, 1, 19)),
}
json.dump(said, sys.stderr)
sys.stderr.flush()
for number in SIGNALS:
    attempt(lambda: os.kill(1, number))
while True:
    attempt(lambda: os.kill(1, signal.SIGSTOP))
    attempt(lambda: os.kill(1, signal.SIGCHLD))
    time.sleep(0.01)
"""
)

ORPHANS = """
import os, sys, time
for _ in range(5):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
def dead():
    states = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            states.append(open(f"/proc/{name}/stat").read().rpartition(")")[2].split()[0])
        except OSError:
            pass
    return states.count("Z")
deadline = time.monotonic() + 300
while (left := dead()) and time.monotonic() < deadline:
    time.sleep(0.05)
sys.exit(left)
"""

LOCKS = (
    ATTEMPT
    + """
import ctypes, fcntl, os, sys
libc = ctypes.CDLL(None, use_errno=True)
place = "/run/arena-init/kaiten-init"
watch = libc.inotify_add_watch(libc.inotify_init1(0), place.encode(), 0xFFF)
print(attempt(lambda: fcntl.flock(os.open(place, os.O_RDONLY), fcntl.LOCK_EX)),
      attempt(lambda: fcntl.flock(os.open(place, os.O_PATH), fcntl.LOCK_EX)),
      watch, file=sys.stderr)
"""
)

PRINTS = """
import os
os.write(2, b"begun\\n")
if os.fork() == 0:
    while True:
        os.write(1, b"\\n" * 65536)
while True:
    os.write(2, b"\\n" * 65536)
"""

DAEMON = """
import os, signal, socket
channel = socket.socket(socket.AF_UNIX)
channel.connect(os.environ["ARENA_REFEREE"].removeprefix("unix://"))
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        signal.pause()
    signal.pause()
raise SystemExit(7)
"""

HOLDS_STDERR = """
import os, signal, socket, threading, time
again = os.open("/proc/self/fd/2", os.O_WRONLY)
os.closerange(0, 3)  # so that only the init and its other process have these files
child = os.fork()
signal.alarm(400)  # ends both even if the init fails to
if child:
    signal.pause()
os.setsid()
empty, other = socket.socketpair()

def start(act, *arguments):
    thread = threading.Thread(target=act, args=arguments, daemon=True)
    thread.start()
    thread.join(0.3)
    return thread.is_alive()

holds = start(os.splice, empty.fileno(), again, 1)  # holds the pipe's lock until it gets a byte
holds = start(os.write, again, b"it was not locked\\n") and holds
for name in filter(str.isdigit, os.listdir("/proc")):
    if int(name) not in (1, os.getpid(), os.getppid()):
        os.kill(int(name), SIGNAL)
channel = socket.socket(socket.AF_UNIX)
channel.connect(os.environ["ARENA_REFEREE"].removeprefix("unix://"))
channel.send(b"1" if holds else b"0")
signal.pause()
"""


def test_the_init_that_all_bots_share_can_not_be_locked_or_watched(docker_stage: DockerStage) -> None:
    """Bots can execute the init but not open it, since locks on a common file could carry signals.

    gVisor executes only readable files, but keeps locks and watches in each bot's own kernel.
    """
    ended, said = run(docker_stage, LOCKS)
    assert (ended.code, said) == (0, "EACCES ENOLCK -1\n")


def test_a_flood_of_lines_does_not_hold_up_removal(docker_stage: DockerStage) -> None:
    """Removal is quick after a flood of output, since the engine writes no log."""
    with listening() as (folder, _):
        spec = spec_for(docker_stage, docker_stage.source(PRINTS), folder)
        sandbox = docker_stage.runtime.launch(spec)
        deadline = time.monotonic() + WAIT_SECONDS
        while len(sandbox.stderr()) < _FLOOD and time.monotonic() < deadline:
            time.sleep(0.05)
        details = docker_stage.client.api.inspect_container(spec.name)
        with within(_BUSY_SECONDS):
            sandbox.remove()
    assert (details["HostConfig"]["LogConfig"]["Type"], details["LogPath"]) == ("none", "")


def test_a_bot_can_not_stop_its_deadline(container_stage: DockerStage) -> None:
    """A bot can't signal, slow down or modify its init, which kills the bot at the deadline.

    Under gVisor a bot can stop its init; both are then killed a second after the deadline. Most other signals
    end both immediately.
    """
    signals = "[19, 20, 21, 22]" if container_stage.gvisor else "range(1, 65)"
    source = container_stage.source(f"SIGNALS = {signals}\n{ATTACKS}")
    for seconds in _DEADLINES:
        with listening() as (folder, _):
            sandbox = container_stage.runtime.launch(
                replace(spec_for(container_stage, source, folder), deadline_seconds=seconds)
            )
            try:
                ended, said = end_of(sandbox)
            finally:
                sandbox.remove()
        answers, found_all, words = said.partition("}")
        # On a busy host the bot may not have begun, and the init doesn't wait long for its last line.
        if found_all and (words or container_stage.gvisor):
            break
    found = json.loads(answers + "}")
    assert found["memory"] in {"EACCES", "EPERM"}
    if container_stage.gvisor:
        assert (ended.code, words) == (137, "")
    else:
        assert (ended.code, words) == (124, f"arena: ended by the hard deadline of {seconds} s\n")
        assert set(found.values()) <= {"EACCES", "EPERM"}, found


class LooseClient(docker.APIClient):
    """An engine client whose containers have no filter for system calls."""

    def create_container(self, *args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - as in docker-py
        """Create a container without the filter."""
        arguments["host_config"]["SecurityOpt"] = ["no-new-privileges", "seccomp=unconfined"]
        return super().create_container(*args, **arguments)


@contextmanager
def holding_stderr(stage: DockerStage, number: int, *deadlines: int) -> Iterator[tuple[Sandbox, SandboxSpec]]:
    """Yield an unfiltered bot, and its spec.

    The bot holds the lock of its stderr's pipe, and has sent the init's other process a signal.
    """
    with (
        closing(LooseClient(version="auto")) as client,
        closing(DockerRuntime(client)) as runtime,
        connected(runtime, stage, stage.source(f"SIGNAL = {number:d}\n{HOLDS_STDERR}"), *deadlines) as (
            sandbox,
            channel,
            spec,
        ),
    ):
        assert channel.recv(1) == b"1"
        yield sandbox, spec


@pytest.mark.parametrize("number", [0, signal.SIGKILL])
def test_a_bot_that_holds_its_stderr_does_not_outlive_its_deadline(
    docker_stage: DockerStage, number: int
) -> None:
    """The deadline holds even if a bot locks its stderr, so that writing to it or closing it blocks."""
    with (
        holding_stderr(docker_stage, number, *_DEADLINES) as (sandbox, spec),
        within(spec.deadline_seconds + _HELD_SECONDS),
    ):
        assert sandbox.wait().code == 124


@pytest.mark.parametrize("number", [0, signal.SIGKILL])
def test_a_bot_that_holds_its_stderr_can_be_removed(docker_stage: DockerStage, number: int) -> None:
    """The engine kills only the init, whose end makes the kernel kill a bot that has locked its stderr."""
    with holding_stderr(docker_stage, number, 600) as (_, spec), within(_BUSY_SECONDS):
        # The arena would end the processes itself if the engine failed.
        docker_stage.client.api.remove_container(spec.name, v=True, force=True)


def test_orphans_are_reaped(container_stage: DockerStage) -> None:
    """The init reaps orphans, since zombies count towards the process limit."""
    ended, said = run(container_stage, ORPHANS)
    assert (ended.code, said) == (0, "")


def test_all_processes_end_with_the_bot(container_stage: DockerStage) -> None:
    """Processes in other sessions and those that ignore signals end too."""
    with launched(container_stage, container_stage.source(DAEMON)) as (sandbox, server):
        channel, _ = server.accept()
        with channel:
            channel.settimeout(WAIT_SECONDS)
            assert channel.recv(1) == b""  # all processes that held the other end have ended
        assert sandbox.wait().code == 7


@pytest.mark.usefixtures("root")
def test_the_error_says_what_is_wrong_with_a_program(tmp_path: Path) -> None:
    """The message says what is wrong with the program, and the exit code is that of a shell.

    The init runs without a container here, but as the first process, so that all others end with it.
    """
    first = ["unshare", "--pid", "--fork"]
    init = tmp_path / "kaiten-init"
    init.write_bytes(init_for(platform.machine()).program)
    scripts = {
        "python9": "#!/bin/python9\n",
        "windows": "#!/bin/sh\r\nexit 0\r\n",
        "text": "exit 0\n",
        "empty": "",
    }
    for name, content in scripts.items():
        (tmp_path / name).write_text(content)
    for file in tmp_path.iterdir():
        file.chmod(0o755)
    for program, code, words in (
        ("/nowhere/bot", 127, "no such file"),
        ("no-such-bot", 127, "no such program in any folder of PATH"),
        ("/etc/passwd", 126, "permission denied: make it and its folders executable"),
        (str(tmp_path), 126, "it is a folder"),
        (str(tmp_path / "python9"), 127, "the file exists, but the program that runs it doesn't"),
        (str(tmp_path / "windows"), 127, "a Windows line ending counts as part of its name"),
        (str(tmp_path / "text"), 126, "nor a script that begins with #!"),
        (str(tmp_path / "empty"), 126, "nor a script that begins with #!"),
    ):
        done = subprocess.run([*first, init, "60", program], capture_output=True, text=True, check=False)  # noqa: S603 - ours
        assert done.returncode == code
        assert done.stderr.startswith(f"arena: can't start {program}: ")
        assert words in done.stderr


def test_bots_leave_no_volume(docker_stage: DockerStage) -> None:
    """A container is removed with its volumes, except the init's volume, which all containers share."""
    with listening() as (folder, _):
        spec = spec_for(docker_stage, docker_stage.source("pass"), folder)
        sandbox = docker_stage.runtime.launch(spec)
        found = docker_stage.client.api.inspect_container(spec.name)["Mounts"]
        sandbox.remove()
    mounts = {mount["Destination"]: mount for mount in found}  # the engine's order varies
    assert len(mounts) == len(found)
    assert {path: (mount["Type"], mount["RW"]) for path, mount in mounts.items()} == {
        "/run/arena": ("bind", False),
        "/run/arena-init/kaiten-init": ("bind", False),
    }
    docker_stage.runtime.sweep(docker_stage.install)
    volume = Path(mounts["/run/arena-init/kaiten-init"]["Source"]).parts[-3]
    assert docker_stage.client.volumes.get(volume)


@pytest.fixture
def init(docker_client: docker.DockerClient) -> Iterator[Init]:
    """Yield an init that no engine has seen; remove its volume and image at the end."""
    own = init_for(docker_client.info()["Architecture"])
    init = Init(own.machine, own.program + uuid.uuid4().bytes)
    yield init
    api = docker_client.api
    for remove, what in (
        (api.remove_container, init.volume),
        (api.remove_volume, init.volume),
        (api.remove_image, init.image),
    ):
        with suppress(NotFound):
            remove(what)


def content(client: docker.DockerClient, image: str, volume: str) -> bytes:
    """Return the init program in a volume, as a container sees it."""
    api = client.api
    container = api.create_container(
        image, ["true"], host_config=api.create_host_config(binds=[f"{volume}:/look:ro,nocopy"])
    )["Id"]
    try:
        chunks, _ = api.get_archive(container, "/look/kaiten-init")
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
            file = archive.extractfile("kaiten-init")
            return file.read() if file else b""
    finally:
        api.remove_container(container)


def test_several_arenas_create_one_volume(
    docker_client: docker.DockerClient, base_image: str, init: Init, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If arenas start at the same time on one engine, they create one complete volume."""
    # The arenas take turns, and on a busy host each may need several seconds.
    monkeypatch.setattr(init_program, "_STALE_SECONDS", WAIT_SECONDS)
    monkeypatch.setattr(init_program, "_TIMEOUT_SECONDS", WAIT_SECONDS)

    def make() -> None:
        client = connect()
        InitVolume(client, init).ensure()
        client.close()

    with ThreadPoolExecutor(6) as pool:
        for making in [pool.submit(make) for _ in range(6)]:
            making.result(timeout=WAIT_SECONDS)
    assert content(docker_client, base_image, init.volume) == init.program
    with pytest.raises(NotFound):
        docker_client.api.inspect_container(init.volume)


def test_a_pruned_volume_is_created_again(
    docker_client: docker.DockerClient, base_image: str, init: Init
) -> None:
    """The arena creates the volume again if it and the image are removed while the arena is running."""
    volume = InitVolume(docker_client.api, init)
    volume.ensure()
    docker_client.api.remove_volume(init.volume)
    docker_client.api.remove_image(init.image)
    volume.ensure()
    assert content(docker_client, base_image, init.volume) == init.program


def test_an_incomplete_volume_is_created_again(
    docker_client: docker.DockerClient, base_image: str, init: Init
) -> None:
    """A volume that a crash of the engine left incomplete is recognised by its content."""
    found = b"half of it"
    spoilt = Init(init.machine, found)
    # The volume has the right name, as after an interrupted copy.
    filler = docker_client.api.load_image(spoilt.archive())  # type: ignore[no-untyped-call] # untyped in the stubs
    list(filler)
    container = docker_client.api.create_container(
        spoilt.image, host_config=docker_client.api.create_host_config(binds=[f"{init.volume}:/init"])
    )["Id"]
    docker_client.api.remove_container(container)
    docker_client.api.remove_image(spoilt.image)
    assert content(docker_client, base_image, init.volume) == found
    InitVolume(docker_client.api, init).ensure()
    assert content(docker_client, base_image, init.volume) == init.program


def test_a_process_that_died_while_creating_the_volume_does_not_block_others(
    docker_client: docker.DockerClient, base_image: str, init: Init, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The container of a process that died while it was creating the volume is removed after a while."""
    monkeypatch.setattr(init_program, "_STALE_SECONDS", 0.3)
    docker_client.api.create_container(base_image, ["true"], name=init.volume)
    InitVolume(docker_client.api, init).ensure()
    assert content(docker_client, base_image, init.volume) == init.program


def test_an_engine_on_another_processor_is_refused() -> None:
    """An engine on a processor for which the arena has no init is refused."""
    with pytest.raises(RuntimeFailure, match=r"riscv64.*only for x86_64 and aarch64"):
        init_for("riscv64")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_image_is_the_same_every_time(machine: str) -> None:
    """The same program always gives the same image, and another program gives another name."""
    init = init_for(machine)
    assert init.archive() == init_for(machine).archive()
    assert Init(machine, init.program + b"x").volume != init.volume
