"""Each control of the launch template, tried from inside a container."""

import json
import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from arena.sandbox.docker.policy import slot_owner
from tests.sandbox.stage import LAUNCH_LIMITS, DockerStage, listening, run, spec_for

pytestmark = pytest.mark.docker


def report(stage: DockerStage, program: str, **options: Any) -> Any:  # noqa: ANN401 - whatever the program reports
    """Run a program that puts JSON on stderr through ``tell``, and return that."""
    prelude = "import json, os, sys\ndef tell(value): sys.stderr.write(json.dumps(value))\n"
    ended, said = run(stage, prelude + program, **options)
    assert ended.code == 0, said
    return json.loads(said)


def test_no_network_but_loopback(container_stage: DockerStage) -> None:
    """The container has a network of its own, which holds a loopback interface and no route."""
    program = """
try:
    routes = open("/proc/net/route").read().count("\\n")
    names = [line.partition(":")[0].strip() for line in open("/proc/net/dev").read().splitlines()[2:]]
except PermissionError:
    routes, names = "closed", os.listdir("/proc/net/dev_snmp6")
tell([os.readlink("/proc/self/ns/net"), names, routes])
"""
    own, interfaces, lines = report(container_stage, program)
    assert own != str(Path("/proc/self/ns/net").readlink())
    assert interfaces == ["lo"]
    assert lines == (1 if container_stage.gvisor else "closed")


def test_only_unix_sockets_can_be_made(container_stage: DockerStage) -> None:
    """Every other family is answered as by a kernel without it; vsock would pass by the network namespace.

    Of unix sockets there are streams and datagrams.
    """
    program = """
import errno, socket
def attempt(family, kind):
    try:
        socket.socket(family, kind).close()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "made"
families = ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG", "AF_UNIX"]
kinds = [socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET]
tell({name: sorted({attempt(getattr(socket, name), kind) for kind in kinds}) for name in families})
"""
    found = report(container_stage, program)
    assert "made" in found.pop("AF_UNIX")
    if container_stage.gvisor:
        # They are gVisor's own, on a network of its own; the host's kernel is asked for none.
        assert {name for name, answers in found.items() if "made" in answers} <= {
            "AF_INET", "AF_INET6", "AF_NETLINK",
        }  # fmt: skip
    else:
        assert set(map(tuple, found.values())) == {("EAFNOSUPPORT",)}


def test_only_tmp_can_be_written(container_stage: DockerStage) -> None:
    """Of all folders that can be seen, a file can be made in /tmp alone."""
    program = """
written = []
for folder, names, _ in os.walk("/"):
    if folder == "/proc":
        names[:] = ["self"]
    names[:] = [name for name in names if not os.path.islink(os.path.join(folder, name))]
    try:
        with open(os.path.join(folder, "kaiten-probe"), "x"):
            written.append(folder)
    except OSError:
        pass
tell(written)
"""
    assert report(container_stage, program) == ["/tmp"]  # noqa: S108 - the container's


def test_tmp_is_bounded(container_stage: DockerStage) -> None:
    """Neither bytes nor files beyond the limits fit into /tmp, and nothing in it can be executed.

    gVisor counts no files. What they take is memory of the bot's own.
    """
    program = """
import errno, subprocess
def until_refused(act):
    for number in range(2_000):
        try:
            act(number)
        except OSError as error:
            return number, errno.errorcode[error.errno]
    return number, "all"
def fill(number):
    with open(f"/tmp/big{number}", "wb", buffering=0) as file:
        if file.write(bytes(1 << 20)) < 1 << 20:
            raise OSError(errno.ENOSPC, "short")
mebibytes = until_refused(fill)
for name in os.listdir("/tmp"):
    os.unlink(f"/tmp/{name}")
files = until_refused(lambda number: open(f"/tmp/{number}", "x").close())
for name in os.listdir("/tmp"):
    os.unlink(f"/tmp/{name}")
with open("/tmp/run", "w") as file:
    file.write("#!/bin/sh\\n")
os.chmod("/tmp/run", 0o755)
try:
    subprocess.run(["/tmp/run"])
    executed = "yes"
except OSError as error:
    executed = errno.errorcode[error.errno]
tell([mebibytes, files, executed])
"""
    mebibytes, files, executed = report(container_stage, program, limits=replace(LAUNCH_LIMITS, tmp_mib=4))
    assert mebibytes == [4, "ENOSPC"]
    if not container_stage.gvisor:
        assert files[1] == "ENOSPC"
        assert 1_000 <= files[0] <= 1_024
    assert executed == "EACCES"


def test_the_socket_folder_is_read_only(container_stage: DockerStage) -> None:
    """The socket takes connections; it can't be removed or replaced, and nothing can be put beside it."""
    program = """
import errno, socket
path = os.environ["ARENA_REFEREE"].removeprefix("unix://")
with socket.socket(socket.AF_UNIX) as channel:
    channel.connect(path)
def attempt(act):
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
tell([
    attempt(lambda: os.unlink(path)),
    attempt(lambda: os.rename(path, path + "2")),
    attempt(lambda: open("/run/arena/file", "x")),
    attempt(lambda: socket.socket(socket.AF_UNIX).bind("/run/arena/other.sock")),
    attempt(lambda: os.chmod(path, 0o777)),
    attempt(lambda: os.listdir("/run/arena")),
])
"""
    unlink, rename, make, bind, chmod, listing = report(container_stage, program)
    # The folder is not the bot's either, and gVisor looks at that first.
    assert {unlink, rename, make, bind, chmod} <= (
        {"EROFS", "EACCES"} if container_stage.gvisor else {"EROFS"}
    )
    assert listing == "EACCES"


def test_user_and_privileges(container_stage: DockerStage) -> None:
    """A bot has its slot's uid and gid, no group more, no capability, and no way to gain one."""
    program = """
import ctypes
NO_NEW_PRIVS = 39
status = dict(line.rstrip().split(":", 1) for line in open("/proc/self/status"))
names = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "Seccomp"]
tell([
    os.getresuid(),
    os.getresgid(),
    os.getgroups(),
    ctypes.CDLL(None).prctl(NO_NEW_PRIVS, 0, 0, 0, 0),
    {name: int(status[name], 16) for name in names if name in status},
])
"""
    uids, gids, groups, no_new_privileges, status = report(container_stage, program, slot=3)
    uid, gid = slot_owner(3, os.geteuid(), os.getegid())
    assert uids == [uid] * 3
    assert gids == [gid] * 3
    assert set(groups) <= {gid}
    assert no_new_privileges == 1
    assert status.pop("Seccomp") == (2 if container_stage.filters_calls else 0)
    assert set(status) >= {"CapInh", "CapPrm", "CapEff", "CapBnd"}
    assert set(status.values()) == {0}


def test_counters_in_the_folders_of_processes_are_closed(docker_stage: DockerStage) -> None:
    """Of the files that a process has in /proc a bot reads what runtimes need, and no counter of the host's.

    No mount can cover these: each process has its own. Files elsewhere can still be moved between folders.
    """
    program = """
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
    closed, own, others, child = report(docker_stage, program)
    assert set(closed.values()) <= {"EACCES", "ENOENT"}
    assert set(own.values()) == {"read"}
    assert others == ["EACCES", "read", "read"]
    assert child == 1


def test_counters_of_the_host_are_refused(docker_stage: DockerStage) -> None:
    """As by a kernel that does not know these calls."""
    program = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(512)
x86 = os.uname().machine == "x86_64"
numbers = {
    "sysinfo": (99, 179, room),
    "inotify_init1": (294, 26, 0),
    "memfd_create": (319, 279, b"name", 0),
    "pidfd_open": (434, 434, os.getpid(), 0),
    "membarrier: all": (324, 283, 1, 0, 0),
    "membarrier: own": (324, 283, 16, 0, 0),
    "sched_setaffinity": (203, 122, 0, 128, room),
    "clone: a descriptor": (56, 220, 0x1000, 0, room, 0, 0),
    "mmap: a huge page": (9, 222, 0, 1 << 21, 3, 0x40022, -1, 0),
}
def attempt(on_x86, on_arm, *words):
    result = libc.syscall(ctypes.c_long(on_x86 if x86 else on_arm), *words)
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]
tell({name: attempt(*words) for name, words in numbers.items()})
"""
    found = report(docker_stage, program)
    assert found.pop("membarrier: own") == "done"
    assert found.pop("membarrier: all") == found.pop("sched_setaffinity") == "EPERM"
    assert found.pop("clone: a descriptor") == "EPERM"
    assert found.pop("mmap: a huge page") == "ENOMEM"
    assert set(found.values()) == {"ENOSYS"}


def test_files_can_not_be_locked(docker_stage: DockerStage) -> None:
    """All containers share the inode of eventfds. A filter doesn't see which file a lock is for."""
    program = """
import errno, fcntl, struct
def attempt(act, *words):
    try:
        act(*words)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
lock = struct.pack("hhxxxxqqixxxx", fcntl.F_RDLCK, os.SEEK_SET, 0, 1, 0)
own = open("/tmp/own", "x+").fileno()
names = ("GETLK", "SETLK", "SETLKW")
commands = [getattr(fcntl, f"F_{kind}{name}") for kind in ("", "OFD_") for name in names]
tell([
    *(attempt(fcntl.fcntl, file, command, lock) for file in (os.eventfd(0), own) for command in commands),
    attempt(fcntl.flock, own, fcntl.LOCK_SH),
])
"""
    assert set(report(docker_stage, program)) == {"ENOLCK"}


def test_nothing_is_flushed(docker_stage: DockerStage) -> None:
    """It succeeds even on a pipe, for which the kernel refuses it: no flush reaches the host's disk."""
    program = """
read, write = os.pipe()
for call in (os.fsync, os.fdatasync):
    for file in (read, os.open("/", os.O_RDONLY), os.open("/tmp", os.O_RDONLY)):
        call(file)
tell("done")
"""
    assert report(docker_stage, program) == "done"


def test_out_of_band_data_is_refused(docker_stage: DockerStage) -> None:
    """Neither sent nor received; the same calls without the flag work."""
    program = """
import errno, socket
one, other = socket.socketpair()
def attempt(act):
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
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
    assert report(docker_stage, program) == ["EPERM", "EPERM", "done", "done"] * 2


def test_forbidden_calls_are_refused(container_stage: DockerStage) -> None:
    """The calls by which sandboxes were left before are refused, or answered as by a kernel without them."""
    program = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
numbers = {
    "x86_64": dict(ptrace=101, mount=165, unshare=272, add_key=248, keyctl=250, bpf=321, userfaultfd=323,
                   perf_event_open=298, setns=308, io_uring_setup=425, clone3=435),
    "aarch64": dict(ptrace=117, mount=40, unshare=97, add_key=217, keyctl=219, bpf=280, userfaultfd=282,
                    perf_event_open=241, setns=268, io_uring_setup=425, clone3=435),
}[os.uname().machine]
def attempt(number):
    result = libc.syscall(ctypes.c_long(number), 0, 0, 0, 0, 0)
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]
tell({name: attempt(number) for name, number in numbers.items()})
"""
    if not container_stage.filters_calls:
        pytest.skip("gVisor answers these calls itself here; --oci-seccomp is not among its arguments")
    found = report(container_stage, program)
    without = {"io_uring_setup", "clone3"}
    if container_stage.gvisor:
        # Some of it refuse everything with EPERM. clone3, without which no thread starts there, is its own.
        del found["clone3"]
        assert set(found.values()) <= {"EPERM", "ENOSYS"}
        return
    assert {name for name, answer in found.items() if answer == "ENOSYS"} == without
    assert {name for name, answer in found.items() if answer == "EPERM"} == set(found) - without


def test_namespaces_can_not_be_cloned(container_stage: DockerStage) -> None:
    """A child process may be cloned, a child in a namespace of its own may not."""
    if not container_stage.filters_calls:
        pytest.skip("gVisor's namespaces are its own; --oci-seccomp is not among its arguments")
    program = """
import ctypes, errno, signal
libc = ctypes.CDLL(None, use_errno=True)
clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
def attempt(flags):
    child = libc.syscall(ctypes.c_long(clone), ctypes.c_ulong(flags | signal.SIGCHLD), 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    if child < 0:
        return errno.errorcode[ctypes.get_errno()]
    os.waitpid(child, 0)
    return "done"
tell([attempt(flags) for flags in (0, 0x10000000, 0x20000000, 0x40000000, 0x00020000)])
"""
    assert report(container_stage, program) == ["done"] + ["EPERM"] * 4


def test_processes_are_bounded(container_stage: DockerStage) -> None:
    """A bot gets no more processes than its limit, its init included, and lives on.

    gVisor is ended as a whole at that limit, which counts its own threads too.
    """
    program = """
import signal
children = []
try:
    while len(children) < 500:
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
except BlockingIOError:
    pass
tell(len(children))
"""
    limits = replace(LAUNCH_LIMITS, pids=12)
    if container_stage.gvisor:
        assert run(container_stage, f"import os\n{program}", limits=limits)[0].code not in {0, 1}
    else:
        assert report(container_stage, program, limits=limits) == 12 - 2


def test_cpu_is_bounded(container_stage: DockerStage) -> None:
    """A bot that spins in two processes gets no more than its share of one core, by the host's own count."""
    program = "import os\nos.fork()\nwhile True: pass"
    api = container_stage.client.api
    with listening() as (folder, _):
        limits = replace(LAUNCH_LIMITS, cpus=0.3)
        spec = spec_for(container_stage, container_stage.source(program), folder, limits=limits)
        sandbox = container_stage.runtime.launch(spec)
        try:
            # Each answer holds two looks, a second or more apart.
            seen = api.stats(spec.name, stream=False)
        finally:
            sandbox.remove()
    used = seen["cpu_stats"]["cpu_usage"]["total_usage"] - seen["precpu_stats"]["cpu_usage"]["total_usage"]
    between = datetime.fromisoformat(seen["read"]) - datetime.fromisoformat(seen["preread"])
    # On a busy machine a look is taken a while after its time was noted.
    assert 0 < used / 1e9 / between.total_seconds() < 0.6


def test_descriptors_and_core_dumps_are_bounded(container_stage: DockerStage) -> None:
    """The limits on open files, file size and core dumps hold, soft and hard."""
    program = """
import resource
tell([resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in ("NOFILE", "FSIZE", "CORE")])
"""
    size = LAUNCH_LIMITS.tmp_mib * 1024 * 1024
    assert report(container_stage, program) == [[256, 256], [size, size], [0, 0]]


def test_no_shared_memory(container_stage: DockerStage) -> None:
    """There is no /dev/shm to fill, nor any System V shared memory but gVisor's, in the bot's own memory."""
    program = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
made = libc.shmget(0, 4096, 0o1600)
tell([os.access("/dev/shm", os.W_OK), made, errno.errorcode.get(ctypes.get_errno())])
"""
    writable, made, error = report(container_stage, program)
    assert not writable
    if container_stage.filters_calls:
        assert (made, error) == (-1, "EPERM")


def test_the_container_tells_nothing_of_its_host(container_stage: DockerStage) -> None:
    """Host name and control groups carry no id of a container, an installation or a match."""
    program = """
import re, socket
groups = {line.strip().split(":", 2)[2] for line in open("/proc/self/cgroup")}
tell([socket.gethostname(), sorted(groups)])
"""
    name, groups = report(container_stage, program)
    assert name == "bot"
    assert groups == ([] if container_stage.gvisor else ["/"])


def test_a_flood_to_stdout_harms_nobody(container_stage: DockerStage) -> None:
    """Tens of megabytes to stdout pass by; the bot ends as ever."""
    ended, said = run(container_stage, "import sys\nfor _ in range(32): sys.stdout.write('x' * (1 << 20))")
    assert (ended.code, said) == (0, "")


def test_health_checks_and_users_of_the_image_are_ignored(container_stage: DockerStage) -> None:
    """An image that asks for root and for commands of its own gets neither."""
    image = container_stage.image(
        "USER 0:0\nSTOPSIGNAL SIGUSR1\nHEALTHCHECK --interval=1s CMD true\n"
        'ENTRYPOINT ["python3", "-c", "import os, sys; sys.stderr.write(str(os.getuid()))"]'
    )
    with listening() as (folder, _):
        spec = spec_for(container_stage, image, folder)
        sandbox = container_stage.runtime.launch(spec)
        try:
            state = container_stage.client.api.inspect_container(spec.name)
            assert "Health" not in state["State"]
            assert state["Config"]["StopSignal"] == "SIGKILL"
            assert sandbox.wait().code == 0
            assert sandbox.stderr() == str(slot_owner(0, os.geteuid(), os.getegid())[0])
        finally:
            sandbox.remove()
