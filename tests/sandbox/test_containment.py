"""Restrictions of the launch template that neither the canary nor the hostile bots test."""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from arena.sandbox.docker.init_program import init_for
from arena.sandbox.runtime import INSTALL_LABEL, slot_owner
from tests.sandbox.stage import ATTEMPT, DockerStage, end_of, listening, run, run_source, spec_for

pytestmark = pytest.mark.docker


PRELUDE = "import json, os, sys\ndef tell(value): sys.stderr.write(json.dumps(value))\n"


def report(stage: DockerStage, source: str) -> Any:  # noqa: ANN401 - any value that the program reports
    """Run a program that calls ``tell``, and return the JSON that it printed to stderr."""
    ended, said = run_source(stage, source)
    assert ended.code == 0, said
    return json.loads(said)


@pytest.fixture(scope="module")
def told(docker_stage: DockerStage) -> dict[str, Any]:
    """Run several programs in one container, and return what each told, or the error that ended it.

    Links in the image's root must not open what is closed to a bot.
    """
    programs = {
        "counters": COUNTERS,
        "flushes": FLUSHES,
        "times": TIMES,
        "out of band": OUT_OF_BAND,
        "slack": SLACK,
        "lazily freed": LAZILY_FREED,
    }
    program = f"{PRELUDE}PROGRAMS = {programs!r}\n{ONE_BY_ONE}"
    linked = docker_stage.image("USER root\nRUN ln -s /proc /counters && ln -s / /everything")
    found: dict[str, Any] = report(docker_stage, docker_stage.started_by(["python3", "-c", program], linked))
    return found


ONE_BY_ONE = (
    ATTEMPT
    + """
import traceback
told = {}
for name, program in PROGRAMS.items():
    try:
        exec(program, {"os": os, "attempt": attempt, "tell": lambda value: told.update({name: value})})
    except Exception:
        told[name] = traceback.format_exc()
tell(told)
"""
)

COUNTERS = """
import errno, threading
def attempt(path):
    try:
        with open(path, "rb") as file:
            return "read" if file.read(8) else "empty"
    except OSError as error:
        return errno.errorcode[error.errno]
closed = ["pagemap", "smaps", "smaps_rollup", "numa_maps", "schedstat", "sched", "io", "net/softnet_stat",
          "net/sockstat", "net/protocols", "task/%d/stat" % threading.get_native_id()]
os.mkdir("/tmp/folder")
open("/tmp/file", "x").close()
os.rename("/tmp/file", "/tmp/folder/file")
child = os.fork()
if child == 0:
    os._exit(attempt("/proc/self/smaps") == attempt("/proc/self/stat") == "EACCES")
tell([
    {name: attempt(f"/proc/self/{name}") for name in closed},
    {name: attempt(f"/proc/self/{name}") for name in ("maps", "stat", "status")},
    [attempt("/proc/1/stat"), attempt("/dev/urandom"), attempt("/usr/lib/os-release")],
    os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]),
])
"""


def test_counters_in_the_folders_of_processes_are_closed(told: dict[str, Any]) -> None:
    """A bot can read files of processes in /proc that runtimes need, but none with the host's counters.

    A mount can't cover these folders, which appear with each process. The rules don't prevent moving files.
    """
    closed, own, others, child = told["counters"]
    assert set(closed.values()) <= {"EACCES", "ENOENT"}
    assert set(own.values()) == {"read"}
    assert others == ["EACCES", "read", "read"]
    assert child == 1


FLUSHES = """
read, write = os.pipe()
for call in (os.fsync, os.fdatasync):
    for file in (read, os.open("/", os.O_RDONLY), os.open("/tmp", os.O_RDONLY)):
        call(file)
tell("done")
"""


def test_nothing_is_flushed(told: dict[str, Any]) -> None:
    """Flushing succeeds even on a pipe, which the kernel would refuse: the call never reaches the kernel."""
    assert told["flushes"] == "done"


TIMES = """
import ctypes, mmap
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
def times(path):
    status = os.stat(path)
    return status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns
def changed(path):
    before, file = times(path), os.open(path, os.O_RDONLY)
    start = libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_SHARED, file, ctypes.c_long(0))
    assert os.read(file, 4096) == ctypes.string_at(start, 4096)
    assert libc.msync(ctypes.c_void_p(start), ctypes.c_size_t(4096), 4) == 0
    os.close(file)
    return times(path) != before
with open("/tmp/own", "wb") as own:
    own.write(bytes(4096))
os.utime("/tmp/own", (0, 0))
tell([changed(os.path.realpath(os.__file__)), changed("/tmp/own")])
"""


def test_reading_a_file_of_the_image_leaves_no_trace(told: dict[str, Any]) -> None:
    """Its times don't change, so other bots with this layer can't notice. A bot's own file does change."""
    assert told["times"] == [False, True]


OUT_OF_BAND = """
import socket
one, other = socket.socketpair()
tell([
    attempt(lambda: one.send(b"x", socket.MSG_OOB)),
    attempt(lambda: one.sendmsg([b"x"], [], socket.MSG_OOB)),
    attempt(lambda: one.send(b"x")),
    attempt(lambda: one.sendmsg([b"x"])),
    attempt(lambda: other.recv(1, socket.MSG_OOB)),
    attempt(lambda: other.recvmsg(1, 0, socket.MSG_OOB)),
    attempt(lambda: other.recv(1)),
    attempt(lambda: other.recvmsg(1)),
])
"""


def test_out_of_band_data_is_refused(told: dict[str, Any]) -> None:
    """Out-of-band data can't be sent or received; the same calls work without the flag."""
    assert told["out of band"] == ["EPERM", "EPERM", "done", "done"] * 2


SLACK = """
import ctypes
prctl = ctypes.CDLL(None).prctl
get_slack, set_slack, get_thp, set_thp = 30, 29, 42, 41
tell([prctl(get_slack), prctl(set_slack, 50_000), prctl(get_thp, 0, 0, 0, 0), prctl(set_thp, 0, 0, 0, 0)])
"""


def test_sleeps_have_no_slack_and_memory_no_huge_pages(told: dict[str, Any]) -> None:
    """With slack, sleeps would end at other bots' timers. All containers share the huge page of zeros."""
    assert told["slack"] == [1, -1, 1, -1]


LAZILY_FREED = """
import mmap
memory = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
tell([
    attempt(lambda: memory.madvise(mmap.MADV_FREE)),
    attempt(lambda: mmap.mmap(-1, 4096, 8 | mmap.MAP_ANONYMOUS)),  # MAP_DROPPABLE
    attempt(lambda: memory.madvise(mmap.MADV_DONTNEED)),
])
"""


def test_memory_that_the_kernel_may_take_is_refused(told: dict[str, Any]) -> None:
    """By losing such memory, a bot could tell that the host was short of it, for example during an upload."""
    assert told["lazily freed"] == ["EINVAL", "EINVAL", "done"]


NAMESPACES = """
import os, sys, time
def times():
    return [os.stat(f"/proc/self/ns/{name}").st_ctime_ns for name in ("user", "time", "time_for_children")]
seen = [times()]
for _ in range(5):
    time.sleep(0.02)
    seen.append(times())
print(len({tuple(each) for each in seen}), file=sys.stderr)
"""
"""Prints how many different times the namespaces that all containers share had. A namespace gets a new time
when a process looks at it while no other holds it, so bots could signal by holding it."""


def test_a_bot_can_not_see_whether_others_hold_the_hosts_namespaces(docker_stage: DockerStage) -> None:
    """The bot's init holds the host's namespaces from the start, so their times don't change."""
    ended, said = run(docker_stage, NAMESPACES)
    assert (ended.code, said) == (0, "1\n")


def test_a_bot_can_not_see_how_long_others_have_run(docker_stage: DockerStage) -> None:
    """The arena holds the host's namespaces too, so their times are older than any bot."""
    look = 'import os, sys; print(os.stat("/proc/self/ns/user").st_ctime_ns, file=sys.stderr)'
    expected = Path("/proc/self/ns/user").stat().st_ctime_ns
    assert [int(run(docker_stage, look)[1]) for _ in range(2)] == [expected] * 2


@pytest.mark.usefixtures("root")
def test_a_namespace_that_nobody_holds_shows_each_look() -> None:
    """Without an init that holds it, a namespace has a new time at each look.

    The test uses a new namespace, since other processes may hold the host's.
    """
    looks = NAMESPACES.replace('("user", "time", "time_for_children")', '("time",)')
    words = ["unshare", "--time", "--fork", sys.executable, "-c", looks]
    done = subprocess.run(words, capture_output=True, check=True)  # noqa: S603 - ours
    assert int(done.stderr) > 1


REPORTS = """
import json, os, sys
json.dump([os.getuid(), os.stat("/run/arena-init/kaiten-init").st_size, sys.argv[1:]], sys.stderr)
"""


def test_settings_of_the_image_have_no_effect(container_stage: DockerStage) -> None:
    """An image's USER, HEALTHCHECK, STOPSIGNAL and labels have no effect, nor has its file for the init.

    Its entry point gets the image's arguments unchanged.
    """
    arguments = ["a b", "$HOME", "", "--"]
    # A unique label, since containers of another test that builds this image have its label.
    other = f"test-{uuid.uuid4().hex[:12]}"
    image = container_stage.image(
        "USER 0:0\nRUN mkdir -p /run/arena-init && echo x > /run/arena-init/kaiten-init\n"
        "STOPSIGNAL SIGUSR1\nHEALTHCHECK --interval=1s CMD true\n"
        f"LABEL {INSTALL_LABEL}={other}\n"
        f"ENTRYPOINT {json.dumps(['python3', '-c', REPORTS])}\nCMD {json.dumps(arguments)}"
    )
    with listening() as (folder, _):
        spec = spec_for(container_stage, image, folder)
        sandbox = container_stage.runtime.launch(spec)
        try:
            state = container_stage.client.api.inspect_container(spec.name)
            assert "Health" not in state["State"]
            assert state["Config"]["StopSignal"] == "SIGKILL"
            assert container_stage.runtime.sweep(other) == 0
            assert len(container_stage.leftovers()) == 1
            ended, said = end_of(sandbox)
        finally:
            sandbox.remove()
    assert ended.code == 0, said
    bot, _ = slot_owner(0, os.geteuid(), os.getegid())
    init = init_for(container_stage.client.info()["Architecture"])
    assert json.loads(said) == [bot, len(init.program), arguments]


def test_gvisor_applies_the_allow_list_too(gvisor_stage: DockerStage) -> None:
    """With `--oci-seccomp`, gVisor refuses calls off the list. The canary accepts gVisor without it too."""
    arguments = gvisor_stage.client.info()["Runtimes"]["runsc"].get("runtimeArgs") or ()
    if "--oci-seccomp" not in arguments:
        pytest.skip("gVisor answers these calls itself here; --oci-seccomp is not among its arguments")
    program = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
numbers = {
    "x86_64": dict(ptrace=101, mount=165, unshare=272, add_key=248, keyctl=250, setns=308, shmget=29),
    "aarch64": dict(ptrace=117, mount=40, unshare=97, add_key=217, keyctl=219, setns=268, shmget=194),
}[os.uname().machine]
def attempt(number):
    result = libc.syscall(ctypes.c_long(number), 0, 0, 0, 0, 0)
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]
tell({name: attempt(number) for name, number in numbers.items()})
"""
    assert set(report(gvisor_stage, gvisor_stage.source(PRELUDE + program)).values()) == {"EPERM"}
