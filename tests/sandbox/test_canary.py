"""The canary on the installed engine: every control of the template passes, and missing ones are reported."""

import copy
import json
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
import pytest

from arena.images.build.context import build_canary_image
from arena.protocol.match import Limits
from arena.protocol.sandbox_controls import CONTROL_NAMES
from arena.sandbox.builder import ImageBuilder
from arena.sandbox.canary.judge import judge
from arena.sandbox.docker import canary as docker_canary
from arena.sandbox.docker.canary import INSTALL, Canary, SlotOwner
from arena.sandbox.docker.engine import connect
from arena.sandbox.docker.runtime import DockerRuntime
from arena.sandbox.runtime import INSTALL_LABEL, RuntimeFailure, slot_owner
from tests.sandbox.hostile.loosening import NEWER_FUTEXES, allowing, open_disk, open_proc, unmasking
from tests.sandbox.stage import DockerStage

pytestmark = pytest.mark.docker

MIB = 1024 * 1024
SLOTS = 5

Change = Callable[[dict[str, Any]], object]


class WeakClient(docker.APIClient):
    """An engine client that removes a control from every container that it creates."""

    change: Change

    def create_container(self, *args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - as in docker-py
        """Create the container without the removed controls."""
        weaker = copy.deepcopy(arguments)
        if "canary" in str(arguments.get("name")):
            self.change(weaker)
        return super().create_container(*args, **weaker)


@pytest.fixture(scope="module")
def image(image_builder: ImageBuilder, base_image: str) -> str:
    """Return the ID of the canary's image."""
    assert base_image
    return build_canary_image(image_builder)


@pytest.fixture(autouse=True)
def _more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give probes more time than the arena does, since other tests are running."""
    monkeypatch.setattr(docker_canary, "_TIMEOUT_SECONDS", 90.0)
    monkeypatch.setattr(docker_canary, "_DEADLINE_TIMEOUT_SECONDS", 30.0)
    monkeypatch.setattr(docker_canary, "_STALE_SECONDS", 600)


@pytest.fixture
def run_dir(run_dir: Path) -> Path:
    """Return a folder for sockets that bots can enter."""
    run_dir.chmod(0o711)
    return run_dir


def missing(
    image: str,
    run_dir: Path,
    change: Change = lambda _: None,
    owner: SlotOwner = slot_owner,
    runtime: str | None = None,
) -> dict[str, str]:
    """Return the controls that fail in changed containers, with their observations.

    The canary must warn that it can't measure the host's delay if a container is gone or in another group.
    """
    weak = WeakClient(version="auto")
    weak.change = change
    install = uuid.uuid4().hex[:8]
    with (
        closing(weak),
        closing(connect()) as client,
        closing(DockerRuntime(weak, runtime=runtime, install=install)) as bots,
    ):
        group = bots.common_group(Limits(), SLOTS)
        group.apply()
        canary = Canary(client, bots, image=image, run_dir=run_dir, limits=Limits(), group=group, owner=owner)
        try:
            evidence = canary.check()
        finally:
            group.remove()
    findings = judge(evidence)
    assert [finding.control for finding in findings] == list(CONTROL_NAMES)
    lacking = {finding.control: finding.detail for finding in findings if not finding.held}
    warned = any("can't be measured" in warning for warning in evidence.trials["cpu"].warnings)
    ended = lacking.get("network") == "the probe did not respond"
    assert warned == ("all-bots-memory" in lacking or ended), evidence.trials["cpu"]
    return lacking


def host(**values: object) -> Change:
    """Return a change of these settings in the host config."""
    return lambda arguments: arguments["host_config"].update(values)


def ulimit(name: str, most: int) -> Change:
    """Return a change that raises a process limit."""

    def change(arguments: dict[str, Any]) -> None:
        limits = arguments["host_config"]["Ulimits"]
        limits[:] = [limit for limit in limits if limit["Name"] != name]
        limits.append({"Name": name, "Soft": most, "Hard": most})

    return change


def with_tmp(old: str, new: str) -> Change:
    """Return a change of the mount options of /tmp."""

    def change(arguments: dict[str, Any]) -> None:
        tmpfs = arguments["host_config"]["Tmpfs"]
        assert old in tmpfs["/tmp"]  # noqa: S108 - the container's
        tmpfs["/tmp"] = tmpfs["/tmp"].replace(old, new)  # noqa: S108 - as above

    return change


def with_new_privileges(arguments: dict[str, Any]) -> None:
    """Allow programs to gain privileges. runc then makes some calls itself before it starts the bot."""
    (option,) = (
        option for option in arguments["host_config"]["SecurityOpt"] if option.startswith("seccomp=")
    )
    profile = json.loads(option.removeprefix("seccomp="))
    names = ["setgroups", "setuid", "setgid", "setresuid", "setresgid", "capset"]
    profile["syscalls"].append({"names": names, "action": "SCMP_ACT_ALLOW"})
    for request in (8, 24, 47):  # PR_SET_KEEPCAPS, PR_CAPBSET_DROP, PR_CAP_AMBIENT
        argument = {"index": 0, "op": "SCMP_CMP_EQ", "value": request}
        profile["syscalls"].append({"names": ["prctl"], "action": "SCMP_ACT_ALLOW", "args": [argument]})
    arguments["host_config"]["SecurityOpt"] = [f"seccomp={json.dumps(profile)}"]


def with_open_socket_folder(arguments: dict[str, Any]) -> None:
    """Mount the socket's folder writable for everyone."""
    mount = arguments["host_config"]["Mounts"][0]
    mount["ReadOnly"] = False
    Path(mount["Source"]).chmod(0o777)


def on_the_host_network(arguments: dict[str, Any]) -> None:
    """Use the host's network. A bridge could deadlock Docker 20.10."""
    arguments["network_disabled"] = False
    arguments["host_config"]["NetworkMode"] = "host"


def without_deadline(arguments: dict[str, Any]) -> None:
    """Set the init's deadline to the maximum."""
    arguments["entrypoint"][1] = "3600"


def with_a_secret(arguments: dict[str, Any]) -> None:
    """Add a secret to the environment."""
    arguments["environment"]["HTTPS_PROXY"] = "http://user:password@proxy.example"


WEAKENED: dict[str, Change] = {
    "network": on_the_host_network,
    "read-only-root": host(ReadonlyRootfs=False),
    "tmp-size": with_tmp("size=16m", "size=64m"),
    "tmp-files": with_tmp("nr_inodes=1024", "nr_inodes=9999"),
    "tmp-noexec": with_tmp("noexec", "exec"),
    "socket-folder": with_open_socket_folder,
    "user": lambda arguments: arguments.update(user="65000:12345"),
    "capabilities": host(CapDrop=[]),
    "no-new-privileges": with_new_privileges,
    "system-calls": allowing("ptrace", "unshare", "io_uring_setup"),
    "shared-futexes": allowing("futex"),
    "page-cache": allowing("mincore"),
    "call-arguments": allowing("setsockopt"),
    "host-counters": open_proc("/proc/softirqs"),
    "terminals": unmasking("/dev/pts"),
    "memory": host(Memory=1024 * MIB, MemorySwap=1024 * MIB),
    "swap": host(MemorySwap=512 * MIB),
    "processes": host(PidsLimit=200),
    "cpu": host(NanoCpus=0),
    "disk-rate": host(BlkioDeviceReadBps=[]),
    "open-files": ulimit("nofile", 1000),
    "file-size": ulimit("fsize", 64 * MIB),
    "core-dumps": ulimit("core", 0),
    "shared-memory": host(IpcMode="private"),
    "log-size": host(LogConfig={"Type": "json-file", "Config": {}}),
    "environment": with_a_secret,
    "deadline": without_deadline,
    "all-bots-memory": host(CgroupParent="/kaiten-elsewhere"),
}

FALLS_WITH = {"no-new-privileges": ["call-arguments", "host-counters"]}
"""Linux refuses Landlock rules and seccomp filters to a process that may gain privileges."""


PARTS = 2


def test_the_template_passes_on_this_engine(
    image: str, run_dir: Path, docker_client: docker.DockerClient
) -> None:
    """With the unchanged template every control is tested and passes, and nothing is left behind."""
    assert missing(image, run_dir) == {}
    found = docker_client.api.containers(all=True, filters={"label": f"{INSTALL_LABEL}={INSTALL}"})
    # Other canaries may be running. Only this test's have their sockets in run_dir.
    mounted = [mount.get("Source", "") for container in found for mount in container["Mounts"]]
    assert not [source for source in mounted if source.startswith(str(run_dir))]
    assert list(run_dir.iterdir()) == []


@pytest.mark.parametrize("part", range(PARTS))
def test_controls_that_are_missing_are_named(
    part: int, image: str, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly the controls that were removed fail, so the check of each can fail."""
    lacking = list(WEAKENED)[part::PARTS]  # neighbours may affect each other
    if "deadline" in lacking:
        monkeypatch.setattr(
            docker_canary, "_DEADLINE_TIMEOUT_SECONDS", 2.0
        )  # the test waits until it has passed

    def weaken(arguments: dict[str, Any]) -> None:
        for control in lacking:
            WEAKENED[control](arguments)

    fallen = {other for control in lacking for other in FALLS_WITH.get(control, ())}
    assert missing(image, run_dir, weaken).keys() == {*lacking, *fallen}


@pytest.mark.soak
@pytest.mark.parametrize("control", WEAKENED)
def test_a_control_that_is_missing_is_named(control: str, image: str, run_dir: Path) -> None:
    """Each control also fails if no other is removed."""
    assert missing(image, run_dir, WEAKENED[control]).keys() == {control, *FALLS_WITH.get(control, ())}


def test_every_call_that_the_kernel_allowed_is_named(image: str, run_dir: Path) -> None:
    """The canary tries rare options, and calls that reveal the host's activity, one by one.

    ioctl is left out: together with fcntl it would send the probe a signal.
    """
    calls = allowing(
        *("bind", "clone", "fcntl", "fdatasync", "flock", "fsync", "getsockopt", "inotify_init1"),
        *("membarrier", "memfd_create", "mmap", "open", "openat", "pidfd_open", "prctl", "sched_setaffinity"),
        *("process_madvise", "sched_rr_get_interval", "setsockopt", "socket", "sysinfo", "timer_create"),
        *("futex", "futex_wake", "getpriority", "madvise", "sendfile", "sendto", "setpriority", "signalfd4"),
        *("chown", "fchown", "fchownat", "splice", "tee", "timerfd_settime", "prlimit64"),
    )

    def weaken(arguments: dict[str, Any]) -> None:
        calls(arguments)
        ulimit("memlock", MIB)(arguments)

    controls = missing(image, run_dir, weaken)
    futexes = "futex, futex_wake" if NEWER_FUTEXES else "futex"
    assert controls["shared-futexes"] == f"the kernel allowed: {futexes}"
    assert controls["page-cache"] == "the kernel allowed: madvise, mlock, process_madvise"
    assert controls["core-dumps"] == (
        "a crash left no core dump; the limits are 0 (soft) and 0 (hard), not 1 byte (-1 means unlimited)"
    )
    found = controls["call-arguments"]
    assert set(found.removeprefix("the kernel allowed: ").split(", ")) == {
        *("a lock", "bind without a name", "fcntl", "flock", "getsockopt", "mmap", "prctl"),
        *("sched_rr_get_interval", "setsockopt", "SO_PASSCRED", "socket", "timer_create"),
        *("clone with CLONE_PIDFD", "fdatasync", "fsync", "inotify_init", "MAP_HUGETLB", "membarrier"),
        *("memfd_create", "O_DIRECT", "pidfd_open", "sched_setaffinity", "sysinfo"),
        *("getpriority by user", "setpriority by id", "setpriority of a group", "MSG_OOB", "MADV_FREE"),
        *("MAP_DROPPABLE", "sendfile", "signalfd", "splice", "tee", "timerfd_settime", "chown", "fchown"),
    }


def test_every_call_that_only_the_init_refuses_is_named(image: str, run_dir: Path) -> None:
    """The canary also tries the calls that only the init's filter refuses.

    The test ignores `landlock_create_ruleset`, which not every kernel has.
    """
    found = missing(image, run_dir, open_disk)["call-arguments"]
    named = set(found.removeprefix("the kernel allowed: ").split(", "))
    assert named - {"landlock_create_ruleset"} == {"fstatfs", "huge pages", "statfs", "timer slack"}


@pytest.mark.usefixtures("root")
def test_sockets_of_other_slots_and_layers_out_of_reach_are_named(
    image: str, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two controls fail if slots share a user and the engine doesn't report the layers' folders.

    A bot can then connect to the socket of another slot with the same user.
    """

    def shared(_slot: int, uid: int, gid: int) -> tuple[int, int]:
        return slot_owner(0, uid, gid)

    def as_that_user(arguments: dict[str, Any]) -> None:
        arguments["user"] = ":".join(map(str, shared(0, 0, 0)))

    def inspect(client: docker.APIClient, name: str) -> dict[str, Any]:
        found: dict[str, Any] = docker.APIClient.inspect_image(client, name)  # type: ignore[no-untyped-call] # untyped in the stubs
        return {**found, "GraphDriver": None}

    monkeypatch.setattr(WeakClient, "inspect_image", inspect, raising=False)
    found = missing(image, run_dir, as_that_user, shared)
    assert found.keys() == {"other-sockets", "layers-in-memory"}
    assert "the storage driver is neither overlay2 nor btrfs" in found["layers-in-memory"]


def test_every_control_of_a_container_is_shown_to_fail() -> None:
    """Every control has a test in which it is removed."""
    assert {*WEAKENED, "other-sockets", "layers-in-memory"} == set(CONTROL_NAMES)


def test_a_missing_canary_image_is_an_arena_fault(run_dir: Path) -> None:
    """Without the image the check can't report anything, so it raises RuntimeFailure."""
    with pytest.raises(RuntimeFailure):
        missing("sha256:" + "0" * 64, run_dir)


def test_gvisor_is_judged_by_effect(gvisor_stage: DockerStage, image: str, run_dir: Path) -> None:
    """Under gVisor all controls except `tmp-files` pass, although some calls succeed in its own kernel."""
    assert gvisor_stage.gvisor
    assert missing(image, run_dir, runtime="runsc").keys() == {"tmp-files"}


# `deadline` takes over 20 s, since the canary waits for a container that doesn't end.
@pytest.mark.parametrize("control", ["memory", "cpu", "deadline", "tmp-size", "environment"])
def test_a_missing_control_is_named_under_gvisor_too(
    gvisor_stage: DockerStage, control: str, image: str, run_dir: Path
) -> None:
    """Controls that are tested by their effect can also fail under gVisor."""
    assert gvisor_stage.gvisor
    found = missing(image, run_dir, WEAKENED[control], runtime="runsc")
    assert found.keys() == {"tmp-files", control}, found
