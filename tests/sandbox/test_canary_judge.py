"""The canary's verdicts on evidence from hosts with cgroup v1 and v2."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from arena.protocol.match import Limits
from arena.protocol.sandbox_controls import CONTROL_NAMES, Finding
from arena.sandbox.canary.evidence import Evidence, ProbedEngine, ProbeResult, Share, last_observations
from arena.sandbox.canary.judge import judge, report_of
from arena.sandbox.docker.canary import share_between
from arena.sandbox.runtime import Exit

MIB = 1024 * 1024
HELD = Finding(control="all-bots-memory", held=True, detail="/kaiten/1 is limited")

SEEN: dict[str, Any] = {
    "errors": {},
    "interfaces": ["lo"],
    "route": "EAFNOSUPPORT",
    "written": ["/tmp"],  # noqa: S108 - the container's
    "reachable_sockets": [],
    "referee": "done",
    "foreign": "EACCES",
    "attacks": {"make": "EROFS", "bind": "EROFS", "chmod": "EROFS", "rename": "EROFS", "unlink": "EROFS"},
    "tmp_bytes": 16 * MIB,
    "tmp_files": 1023,
    "tmp_executed": "EACCES",
    "ids": [65000] * 6,
    "groups": [65000],
    "capabilities": {"CapInh": 0, "CapPrm": 0, "CapEff": 0, "CapBnd": 0, "CapAmb": 0},
    "no_new_privileges": 1,
    "kernel": "6.1.0-38-amd64",
    "calls": {"ptrace": "EPERM", "io_uring_setup": "ENOSYS", "AF_VSOCK": "EAFNOSUPPORT"},
    "futexes": {"futex": "EAGAIN", "futex_wake": "ENOSYS"},
    "page_cache": {"mincore": "ENOSYS", "madvise": "EPERM"},
    "options": {"setsockopt": "EPERM", "fcntl": "EPERM"},
    "host_files": ["/proc/cgroups"],
    "terminal": "ENOENT",
    "file_beyond": "EFBIG",
    "open_files": 254,
    "core_limits": [1, 1],
    "core_dumped": False,
    "environment": {"HOME": "/home", "PATH": "/bin"},
    "v1_memory": None,
    "v1_memory_and_swap": None,
    "v2_swap": None,
    "quota": None,
}
"""The probe's output if all controls pass, without control group values (gVisor doesn't show them either)."""

V1 = {"v1_memory": 256 * MIB, "v1_memory_and_swap": 256 * MIB, "quota": 0.4}
V2 = {"v2_swap": 0, "quota": 0.4}

GVISOR = {
    "kernel": "4.4.0",
    "route": "EHOSTUNREACH",
    "tmp_files": 2048,
    "calls": {"ptrace": "done", "unshare": "done", "AF_INET": "done", "io_uring_setup": "EINVAL"},
    "host_files": ["/proc/cpuinfo", "/proc/stat"],
    "terminal": "done",
    "futexes": {"futex": "done"},
    "page_cache": {"mincore": "done"},
    "options": {"fcntl": "done"},
    "written": ["/tmp", "/dev/shm"],  # noqa: S108 - the container's
}


CPU = ProbeResult(
    observations={},
    exit=Exit(None),
    in_time=True,
    share=Share(cores=0.4, throttled=10),
    shared_limit=HELD,
    disk_rate=32 * MIB,
)


def evidence(version: str = "1", trials: dict[str, ProbeResult] | None = None, **seen: object) -> Evidence:
    """Return evidence with which all controls pass, apart from these changes."""
    looked = ProbeResult(
        observations=SEEN | (V1 if version == "1" else V2) | seen,
        exit=Exit(0),
        in_time=True,
        memory=256 * MIB,
        memory_and_swap=256 * MIB,
        log_bytes=150_000,
    )
    all_trials = {
        "look": looked,
        "memory": ProbeResult(
            observations={"bytes": 240 * MIB}, exit=Exit(137, out_of_memory=True), in_time=True
        ),
        "processes": ProbeResult(observations={"processes": 63}, exit=Exit(0), in_time=True),
        "cpu": CPU,
        "deadline": ProbeResult(observations={}, exit=Exit(124), in_time=True),
    }
    return Evidence(
        engine=ProbedEngine(
            host="vm",
            version="24.0.7",
            kernel="6.1.0-38-amd64",
            cgroup_version=version,
            cgroup_driver="systemd",
        ),
        limits=Limits(),
        pids=64,
        owner=(65000, 65000),
        environment={"HOME": "/home", "PATH": "/bin", "LANG": "C"},
        deadline_seconds=1,
        strict_overcommit=False,
        not_cached_reason="",
        trials=all_trials | (trials or {}),
    )


def lacking(found: Evidence) -> dict[str, str]:
    """Return the failed controls with their observations."""
    findings = judge(found)
    assert tuple(finding.control for finding in findings) == CONTROL_NAMES
    return {finding.control: finding.detail for finding in findings if not finding.held}


def looked(found: Evidence, **changes: Any) -> Evidence:  # noqa: ANN401 - fields of a trial, by name
    """Return evidence with the first trial changed."""
    return replace(found, trials={**found.trials, "look": replace(found.trials["look"], **changes)})


@pytest.mark.parametrize("version", ["1", "2"])
def test_all_controls_pass(version: str) -> None:
    """Complete evidence passes every control, with cgroup v1 and v2."""
    assert lacking(evidence(version)) == {}


BROKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "an interface": ("network", {"interfaces": ["lo", "eth0"]}),
    "a route": ("network", {"route": "done"}),
    "a folder": ("read-only-root", {"written": ["/tmp", "/bot"]}),  # noqa: S108 - the container's
    "bytes": ("tmp-size", {"tmp_bytes": 32 * MIB}),
    "files": ("tmp-files", {"tmp_files": 2048}),
    "a program": ("tmp-noexec", {"tmp_executed": "done"}),
    "a socket that is out of reach": ("socket-folder", {"referee": "ECONNREFUSED"}),
    "a socket that can be removed": ("socket-folder", {"attacks": {**SEEN["attacks"], "unlink": "done"}}),
    "the engine's socket": ("other-sockets", {"reachable_sockets": ["/run/docker.sock"]}),
    "another slot's socket": ("other-sockets", {"foreign": "done"}),
    "another user": ("user", {"ids": [0] * 6}),
    "an extra group": ("user", {"groups": [65000, 0]}),
    "a capability": ("capabilities", {"capabilities": {**SEEN["capabilities"], "CapBnd": 1 << 21}}),
    "unreported capabilities": ("capabilities", {"capabilities": {}}),
    "new privileges": ("no-new-privileges", {"no_new_privileges": 0}),
    "a call": ("system-calls", {"calls": {"ptrace": "done"}}),
    "a call whose arguments the kernel reads": ("system-calls", {"calls": {"io_uring_setup": "EFAULT"}}),
    "a futex in a shared file": ("shared-futexes", {"futexes": {"futex": "done"}}),
    "a query of the page cache": ("page-cache", {"page_cache": {"mincore": "done", "madvise": "EPERM"}}),
    "a socket option": ("call-arguments", {"options": {"setsockopt": "done", "fcntl": "EPERM"}}),
    "a counter of the host": ("host-counters", {"host_files": ["/proc/cgroups", "/proc/softirqs"]}),
    "a terminal": ("terminals", {"terminal": "done"}),
    "open files": ("open-files", {"open_files": 512}),
    "a long file": ("file-size", {"file_beyond": "done"}),
    "a dump": ("core-dumps", {"core_dumped": True}),
    "unlimited dumps": ("core-dumps", {"core_limits": [-1, -1]}),
    "dumps only for programs": ("core-dumps", {"core_limits": [0, 1]}),
    "shared memory": ("shared-memory", {"written": ["/tmp", "/dev/shm"]}),  # noqa: S108 - the container's
    "a variable": ("environment", {"environment": {"HTTPS_PROXY": "http://u:p@proxy"}}),
    "a variable with another value": ("environment", {"environment": {"PATH": "/evil"}}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_action_that_succeeded_is_named(name: str) -> None:
    """If the probe succeeds at one attack, only the control against that attack fails."""
    control, seen = BROKEN[name]
    assert lacking(evidence(**seen)).keys() == {control}


ENDED: dict[str, tuple[str, str, ProbeResult]] = {
    "twice the memory": (
        "memory", "memory", ProbeResult(observations={"bytes": 512 * MIB}, exit=Exit(0), in_time=True),
    ),
    "memory beyond the limit": (
        "memory", "memory",
        ProbeResult(observations={"bytes": 400 * MIB}, exit=Exit(137, out_of_memory=True), in_time=True),
    ),
    "an early exit": (
        "memory", "memory", ProbeResult(observations={"bytes": 8 * MIB}, exit=Exit(139), in_time=True),
    ),
    "silence": ("memory", "memory", ProbeResult(observations={}, exit=Exit(1), in_time=True)),
    "processes": (
        "processes", "processes", ProbeResult(observations={"processes": 128}, exit=Exit(0), in_time=True),
    ),
    "all of the processor": ("cpu", "cpu", replace(CPU, share=Share(cores=1.9, throttled=0))),
    "no limit on the disk": ("disk-rate", "cpu", replace(CPU, disk_rate=None)),
    "a faster disk": ("disk-rate", "cpu", replace(CPU, disk_rate=33 * MIB)),
    "no deadline": ("deadline", "deadline", ProbeResult(observations={}, exit=Exit(None), in_time=False)),
    "a probe that exited by itself": (
        "deadline", "deadline", ProbeResult(observations={}, exit=Exit(1), in_time=True),
    ),
    "a shared group without limit": (
        "all-bots-memory", "cpu", replace(CPU, shared_limit=replace(HELD, held=False, detail="no")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDED)
def test_how_a_container_ended_is_judged(name: str) -> None:
    """If a container ends in an unexpected way, only the control that it tests fails."""
    control, task, trial = ENDED[name]
    assert lacking(evidence(trials={task: trial})).keys() == {control}


def test_controls_fail_if_the_container_could_not_be_watched() -> None:
    """Without readings of the container's control group, the controls that need them fail."""
    unseen = ProbeResult(observations={}, exit=Exit(None), in_time=True)
    assert lacking(evidence(trials={"cpu": unseen})).keys() == {"cpu", "disk-rate", "all-bots-memory"}


def test_layers_that_are_not_in_memory_are_named() -> None:
    """The observation says why layers are not in memory."""
    cold = replace(evidence(), not_cached_reason="/layer can't be read: Permission denied")
    assert lacking(cold) == {"layers-in-memory": cold.not_cached_reason}


def test_a_busy_host_is_judged_by_its_quota() -> None:
    """If the container was never throttled, a share below the limit proves nothing, so the quota counts."""
    idle = {"cpu": replace(CPU, share=Share(cores=0.1, throttled=0))}
    assert lacking(evidence("1", idle)) == {}
    assert lacking(evidence("2", idle, quota=-1)).keys() == {"cpu"}
    assert lacking(evidence("1", idle, quota=None)).keys() == {"cpu"}
    told = {"cpu": replace(idle["cpu"], cpus=0.4)}
    assert lacking(evidence("1", told, quota=None)) == {}


@pytest.mark.parametrize(
    ("version", "seen"),
    [
        ("1", {"v1_memory_and_swap": 512 * MIB}),
        ("1", {"v1_memory_and_swap": 2**63 - 4096}),
        ("2", {"v2_swap": -1}),
    ],
)
def test_swap_is_judged_by_the_control_group(version: str, seen: dict[str, Any]) -> None:
    """Any swap beyond the memory limit fails the control."""
    assert lacking(evidence(version, **seen)).keys() == {"swap"}


def test_strict_overcommit_fails_the_memory_control() -> None:
    """Untouched memory is outside a control group's limit, but counts towards the host's commit limit."""
    assert lacking(replace(evidence("2"), strict_overcommit=True)).keys() == {"memory"}


def test_swap_without_a_visible_control_group_is_judged_by_the_engine() -> None:
    """Only the engine's setting is known under gVisor, and on v1 without swap accounting, where it is -1."""
    blind = evidence("1", v1_memory=None, v1_memory_and_swap=None)
    assert lacking(blind) == {}
    assert lacking(looked(blind, memory_and_swap=-1)).keys() == {"swap"}
    assert lacking(looked(blind, memory=0, memory_and_swap=0)).keys() == {"swap"}


def test_calls_that_gvisors_kernel_answers_are_harmless() -> None:
    """Calls that gVisor handles never reach the host, so their controls pass. Only `tmp-files` fails."""
    blind = looked(evidence(), observations=SEEN | GVISOR)
    assert lacking(blind).keys() == {"tmp-files"}


@pytest.mark.parametrize(
    ("warning", "control"),
    [
        ("Your kernel does not support swap limit capabilities. Memory limited without swap.", "swap"),
        ("Your kernel does not support pids limit capabilities. PIDs limit discarded.", "processes"),
        ("Your kernel does not support CPU cfs quota. Quota discarded.", "cpu"),
        (
            "Your kernel does not support BPS Block I/O read limit. Block I/O BPS read limit discarded.",
            "disk-rate",
        ),
        ("Your kernel does not support memory limit capabilities. Limitation discarded.", "memory"),
    ],
)
def test_a_warning_of_the_engine_counts(warning: str, control: str) -> None:
    """A warning from the engine overrides the observation."""
    (detail,) = lacking(looked(evidence(), warnings=(warning,))).items()
    assert detail[0] == control
    assert warning in detail[1]


def test_no_control_passes_if_the_probe_prints_nothing() -> None:
    """If the probe prints nothing, only the control that the arena checks itself passes."""
    silent = {
        task: ProbeResult(observations={}, exit=Exit(None), in_time=False)
        for task in ("look", "memory", "processes", "cpu", "deadline")
    }
    found = lacking(evidence(trials=silent))
    assert set(found) == set(CONTROL_NAMES) - {"layers-in-memory"}  # checked by the arena
    assert found["network"] == "the probe did not respond"


def test_a_failed_attempt_is_reported_with_its_error() -> None:
    """If one attempt raises an error, its control fails with that error. The others pass as usual."""
    found = looked(evidence(), observations={**SEEN, **V1, "errors": {"tmp": "OSError(28)"}})
    observations = dict(found.trials["look"].observations)
    del observations["tmp_files"]
    assert lacking(looked(found, observations=observations)) == {
        "tmp-files": "the probe did not respond (tmp: OSError(28))"
    }


def test_the_report_says_where_and_when() -> None:
    """The report has the host, engine, runtime, control groups, time, findings and warnings."""
    checked = datetime(2026, 3, 1, tzinfo=UTC)
    report = report_of(looked(evidence("2"), warnings=("careful",)), "docker/runc", checked)
    assert (report.host, report.engine, report.cgroup) == ("vm", "24.0.7", "v2, systemd")
    assert (report.runtime, report.isolates, report.checked) == ("docker/runc", True, checked)
    assert report.warnings == ("careful",)
    assert all(finding.held for finding in report.findings)


def test_the_last_readable_line_counts() -> None:
    """The last complete line counts. Other output and a truncated line are ignored."""
    lines = [
        "noise",
        f"canary {json.dumps({'bytes': 1})}",
        f"canary {json.dumps({'bytes': 2})}",
        'canary {"by',
    ]
    assert last_observations("\n".join(lines)) == {"bytes": 2}
    assert last_observations("canary nothing\nTraceback") == {}


def test_a_share_is_the_use_between_two_readings() -> None:
    """A share is the use between two readings. A container that has ended reports nothing or zeros."""

    def usage(nanos: int, periods: int) -> dict[str, Any]:
        stats = {"cpu_usage": {"total_usage": nanos}, "throttling_data": {"throttled_periods": periods}}
        return {"cpu_stats": stats}

    before = usage(1_000_000_000, 3)
    assert share_between(before, usage(1_800_000_000, 8), 2.0) == Share(cores=0.4, throttled=5)
    for ended in (usage(0, 0), {"cpu_stats": {"cpu_usage": {"total_usage": 1_800_000_000}}}):
        assert share_between(before, ended, 2.0) is None
