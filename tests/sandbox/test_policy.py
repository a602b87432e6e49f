"""The launch template, compared with a committed copy."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.protocol.match import Limits
from arena.sandbox.docker.policy import (
    EngineHost,
    cgroup_parent,
    container_arguments,
    describe_limits,
)
from arena.sandbox.kernel.seccomp import profile
from arena.sandbox.runtime import INSTALL_LABEL, SandboxSpec, slot_owner

GOLDEN = Path(__file__).parent.parent / "golden" / "container_arguments.json"

SPEC = SandboxSpec(
    name="arena-a1-m7-1-2",
    source="sha256:" + "ab" * 32,
    socket_dir=Path("/run/kaiten/m7/2"),
    slot=2,
    deadline_seconds=600,
    limits=Limits(),
    labels={INSTALL_LABEL: "a1", "kaiten.match": "m7", "kaiten.attempt": "1", "kaiten.seat": "2"},
)
HOST = EngineHost(
    runtime="runc",
    cgroup_parent="/kaiten/a1",
    init_file="/var/lib/docker/volumes/kaiten-init-0123456789ab/_data/kaiten-init",
    uid=0,
    gid=0,
    disk="/dev/sda",
)
COMMAND = ("python3", "/bot/bot.py", "--name=a b")

FORBIDDEN = {
    "io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key",
    "ptrace", "process_vm_readv", "process_vm_writev", "mount", "umount2", "unshare", "setns",
    "pivot_root", "chroot", "bpf", "perf_event_open", "userfaultfd", "open_by_handle_at",
    "init_module", "finit_module", "kexec_load", "reboot", "clock_settime", "setuid", "capset",
    "clone3", "sync", "syncfs", "fsync", "fdatasync", "flock",
}  # fmt: skip


def readable(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with the seccomp profile decoded."""
    host_config = arguments["host_config"]
    options = [
        {"seccomp": json.loads(option.removeprefix("seccomp="))} if option.startswith("seccomp=") else option
        for option in host_config["SecurityOpt"]
    ]
    return arguments | {"host_config": host_config | {"SecurityOpt": options}}


def test_golden() -> None:
    """The arguments for a fixed spec equal the committed ones, so any change to a control is noticed."""
    assert readable(container_arguments(SPEC, HOST, COMMAND)) == json.loads(GOLDEN.read_text())


def test_every_limit_of_the_spec_is_used() -> None:
    """The container's arguments include each limit."""
    limits = Limits(cpus=1.5, memory_mib=64, pids=7, tmp_mib=3)
    found = container_arguments(replace(SPEC, limits=limits), HOST, COMMAND)["host_config"]
    assert found["NanoCpus"] == 1_500_000_000
    assert found["Memory"] == found["MemorySwap"] == 64 * 1024 * 1024
    assert found["PidsLimit"] == 7
    assert "size=3m" in found["Tmpfs"]["/tmp"]  # noqa: S108 - the container's
    assert {"Name": "fsize", "Soft": 3 * 1024 * 1024, "Hard": 3 * 1024 * 1024} in found["Ulimits"]


def test_a_bot_that_gives_way_has_the_lowest_weight() -> None:
    """A bot in a person's game has the lowest CPU weight, any other the engine's default."""
    assert "CpuShares" not in container_arguments(SPEC, HOST, COMMAND)["host_config"]
    found = container_arguments(replace(SPEC, low_priority=True), HOST, COMMAND)["host_config"]
    assert found["CpuShares"] == 2


def test_the_host_decides_runtime_parent_cores_and_user() -> None:
    """The host determines the runtime, control group and cores. Without root, bots run as the caller."""
    host = replace(HOST, runtime="crun", cgroup_parent="kaiten-a1.slice", uid=1000, gid=100, cores="1-3")
    found = container_arguments(SPEC, host, COMMAND)
    assert found["user"] == "1000:100"
    assert found["host_config"]["Runtime"] == "crun"
    assert found["host_config"]["CgroupParent"] == "kaiten-a1.slice"
    assert found["host_config"]["CpusetCpus"] == "1-3"


def test_an_unknown_disk_has_no_limits() -> None:
    """Without a known disk there are no limits on its rate, since the engine would refuse them."""
    found = container_arguments(SPEC, replace(HOST, disk=""), COMMAND)["host_config"]
    assert not [name for name in found if "Blkio" in name]


def test_gvisor_gets_processes_for_its_own_kernel() -> None:
    """The process limit is at least the number that gVisor needs; a higher limit is unchanged."""
    host = replace(HOST, runtime="runsc", gvisor=True)
    assert container_arguments(SPEC, host, COMMAND)["host_config"]["PidsLimit"] == 256
    assert "256 processes and threads" in describe_limits(SPEC, host, ())
    many = replace(SPEC, limits=Limits(pids=400))
    assert container_arguments(many, host, COMMAND)["host_config"]["PidsLimit"] == 400


@pytest.mark.parametrize(
    ("driver", "install", "parent"),
    [
        ("cgroupfs", "", "/kaiten"),
        ("cgroupfs", "1a2b", "/kaiten/1a2b"),
        ("systemd", "", "kaiten.slice"),
        ("systemd", "1a2b", "kaiten-1a2b.slice"),
    ],
)
def test_the_control_group_of_all_bots(driver: str, install: str, parent: str) -> None:
    """Each installation has a group within the common one, named in the driver's notation."""
    assert cgroup_parent(driver, install) == parent


def rules(host: EngineHost, name: str) -> list[dict[str, Any]]:
    """Return the rules for a system call on a host."""
    config = readable(container_arguments(SPEC, host, COMMAND))["host_config"]
    found: list[dict[str, Any]] = config["SecurityOpt"][1]["seccomp"]["syscalls"]
    return [rule for rule in found if name in rule["names"]]


def test_gvisor_gets_its_own_futexes() -> None:
    """Under gVisor all futex calls are allowed, since its futexes are private to the sandbox."""
    assert all(rule["args"] for rule in rules(HOST, "futex"))
    assert rules(replace(HOST, gvisor=True), "futex") == [{"names": ["futex"], "action": "SCMP_ACT_ALLOW"}]


def test_gvisor_lets_bots_call_select() -> None:
    """Bots under gVisor may call select, which asyncio and gRPC use. gVisor's name for it is "pselect"."""
    assert rules(replace(HOST, gvisor=True), "pselect") == [
        {"names": ["pselect"], "action": "SCMP_ACT_ALLOW"}
    ]


def test_slots_have_different_owners() -> None:
    """As root, every slot has its own uid and gid; otherwise all have the caller's."""
    assert [slot_owner(slot, 0, 0) for slot in (0, 5)] == [(64_000, 64_000), (64_005, 64_005)]
    assert slot_owner(5, 1000, 100) == (1000, 100)


def test_limits_in_words() -> None:
    """Without warnings the description lists the spec's limits."""
    assert describe_limits(SPEC, HOST, ()) == (
        "memory 256 MiB without swap",
        "0.4 CPU cores",
        "64 processes and threads",
        "/tmp 16 MiB, everything else read-only",  # noqa: S108 - words
        "no network",
        "no capabilities, no new privileges",
        "system calls limited to an allow-list",
        "user 64002",
    )


@pytest.mark.parametrize(
    ("warning", "control"),
    [
        ("Your kernel does not support memory limit capabilities. Discarded.", "memory 256 MiB without swap"),
        ("Your kernel does not support swap limit capabilities.", "memory 256 MiB without swap"),
        ("Your kernel does not support PIDs limit capabilities.", "64 processes and threads"),
        ("Your kernel does not support CPU CFS scheduler.", "0.4 CPU cores"),
    ],
)
def test_a_warning_is_named_at_its_control(warning: str, control: str) -> None:
    """A warning from the engine marks only the limit that it concerns."""
    words = describe_limits(SPEC, HOST, (warning,))
    assert [said for said in words if warning in said] == [
        f"{control} (not enforced by this host: {warning})"
    ]


def test_an_unknown_warning_is_not_lost() -> None:
    """A warning that matches no control is added at the end."""
    words = describe_limits(SPEC, HOST, ("The moon is full.",))
    assert words[-1] == "warning from the engine: The moon is full."
    assert words[:-1] == describe_limits(SPEC, HOST, ())


def test_calls_that_no_bot_may_make() -> None:
    """No system call that leads out of a sandbox is allowed under any condition."""
    allowed = {
        name for rule in profile()["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]
    }
    assert not allowed & FORBIDDEN
