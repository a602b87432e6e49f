"""The sandbox controls, and a host's report about them.

The names are stable: operators write them into ``ARENA_ACCEPT_MISSING``.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A security measure that isolates a bot."""

    stops: str  # what it prevents, in one line
    fix: str  # how to enable it on a host, in one line


_TEMPLATE: Final = "Look for an engine plugin or wrapper that overrides the arena's container settings."

CONTROLS: Final = {
    "network": Control(
        stops="Reaching the internet, the local network, cloud metadata or services on this host.",
        fix=_TEMPLATE,
    ),
    "read-only-root": Control(
        stops="Writing outside /tmp: filling the disk, changing programs.",
        fix=_TEMPLATE,
    ),
    "tmp-size": Control(
        stops="Filling memory or disk through /tmp.",
        fix="Use a container runtime that honours the size of a tmpfs.",
    ),
    "tmp-files": Control(
        stops="Using up inodes with many small files in /tmp.",
        fix="runsc ignores the limit and keeps the files in the bot's own memory; accept that, or use runc.",
    ),
    "tmp-noexec": Control(
        stops="Running programs that a bot wrote or unpacked.",
        fix="Use a container runtime that honours noexec. Low risk: a bot can run any code anyway.",
    ),
    "socket-folder": Control(
        stops="Removing, replacing or shadowing the referee's socket.",
        fix="Keep ARENA_RUN_DIR on a local file system, and let runsc open host sockets (--host-uds=open).",
    ),
    "other-sockets": Control(
        stops="Talking to the referee as another bot, or to the engine.",
        fix="Run the arena as root, so that each slot's socket has its own user.",
    ),
    "user": Control(
        stops="Running as root, or as a user that the image chose.",
        fix=_TEMPLATE,
    ),
    "capabilities": Control(
        stops="Root's additional privileges: mounts, devices, raw packets, other processes.",
        fix=_TEMPLATE,
    ),
    "no-new-privileges": Control(
        stops="Gaining privileges through a setuid program in the image.",
        fix="Use a kernel and a container runtime that support no_new_privs.",
    ),
    "system-calls": Control(
        stops="Reaching rarely used kernel code: io_uring, vsock, namespaces, keys, ptrace, eBPF.",
        fix="Use an engine and a kernel with seccomp (docker info lists it under Security Options).",
    ),
    "shared-futexes": Control(
        stops="Signalling to a bot in another container through futexes in a file that both map.",
        fix="Use an engine whose seccomp compares arguments: Docker 20.10 with runc 1.1 does.",
    ),
    "page-cache": Control(
        stops="Finding out which shared files other bots have read, and changing what the host caches.",
        fix="Use an engine and a kernel with seccomp (docker info lists it under Security Options).",
    ),
    "layers-in-memory": Control(
        stops="Finding out, by timing reads, which files of an image other bots have read.",
        fix="Use overlay2 or btrfs, and run the arena as root. In a container, the arena needs a mount "
        "of overlay2's layers.",
    ),
    "call-arguments": Control(
        stops="Using file locks, leases, rare options, or memory that no limit covers (socket filters).",
        fix="Use an engine whose seccomp compares arguments: Docker 20.10 with runc 1.1 does.",
    ),
    "host-counters": Control(
        stops="Observing visitors, the arena and other bots through counters in /proc and /sys.",
        fix="Use Linux 5.13 or later with landlock among its security modules (the kernel's lsm= option).",
    ),
    "terminals": Control(
        stops="Using up this host's pseudo-terminals.",
        fix=_TEMPLATE,
    ),
    "memory": Control(
        stops="Using up this host's memory.",
        fix="Enable the kernel's memory cgroup (on a Raspberry Pi, boot with cgroup_enable=memory), and set "
        "vm.overcommit_memory to 0 or 1.",
    ),
    "swap": Control(
        stops="Spilling into swap when memory is used up, which slows the whole host.",
        fix="Boot with swapaccount=1, or switch swap off (swapoff -a).",
    ),
    "processes": Control(
        stops="Fork bombs and thread bombs.",
        fix="Enable the kernel's pids cgroup.",
    ),
    "cpu": Control(
        stops="Taking other bots' share of the processor, which makes them late.",
        fix="Use a kernel with CONFIG_CFS_BANDWIDTH.",
    ),
    "disk-rate": Control(
        stops="Reading from the disk so fast that other programs wait for it.",
        fix="Keep the engine's images on one local disk, with a file system such as ext4, XFS or btrfs.",
    ),
    "open-files": Control(
        stops="Opening many files, and flooding the referee with connections.",
        fix=_TEMPLATE,
    ),
    "file-size": Control(
        stops="Single files larger than /tmp.",
        fix="Use a container runtime that honours the file size limit.",
    ),
    "core-dumps": Control(
        stops="Passing core dumps to the host: they fill the disk, or a root program reads them.",
        fix="Use a container engine and runtime that apply ulimits and seccomp profiles.",
    ),
    "shared-memory": Control(
        stops="Keeping memory outside the bot's limit, or sharing it with another bot.",
        fix=_TEMPLATE,
    ),
    "log-size": Control(
        stops="Filling the disk by printing.",
        fix="Use an engine that supports the log driver none.",
    ),
    "environment": Control(
        stops="Reading the operator's secrets, such as a proxy's password, from the environment.",
        fix="Remove settings that add variables to containers, such as the daemon's proxies.",
    ),
    "deadline": Control(
        stops="Running forever after the arena has died.",
        fix="Check that the arena's init exists and can be mounted into containers.",
    ),
    "all-bots-memory": Control(
        stops="All bots together using up this host's memory.",
        fix="Run the arena as root on the engine's host, so it can limit the bots' shared control group.",
    ),
}
"""By name, in display order."""

CONTROL_NAMES: Final = tuple(CONTROLS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of an attempt to break one control."""

    control: str  # name of the control
    held: bool  # whether the attempt failed
    detail: str  # what was observed, in one line


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReport:
    """A report on one host's controls."""

    host: str  # name of the machine that bots run on
    isolates: bool  # False for plain processes
    runtime: str  # the isolation, such as `docker/runc`
    engine: str  # version of the engine; empty without an engine
    cgroup: str  # version and driver of the control groups, such as `v2, systemd`; empty if the host has none
    checked: datetime  # when, in UTC
    findings: tuple[Finding, ...]  # one per control, in the order of `CONTROLS`; empty without isolation
    warnings: tuple[str, ...]  # the engine's warnings when it created the containers, and the canary's own
    slots: int | None = None  # maximum number of running bots; None in reports from earlier versions


def missing(report: HostReport) -> tuple[str, ...]:
    """Return the names of all controls that did not pass."""
    held = {finding.control for finding in report.findings if finding.held}
    return tuple(name for name in CONTROL_NAMES if name not in held)


def unaccepted(report: HostReport, accepted: Collection[str]) -> tuple[str, ...]:
    """Return the names of the missing controls that keep untrusted bots out; empty if the bots may play.

    ``accepted`` lists the controls whose absence the operator accepts. It is ignored if bots aren't isolated.
    """
    if not report.isolates:
        return missing(report)
    return tuple(name for name in missing(report) if name not in accepted)


class UntrustedBotsRefused(Exception):
    """Untrusted bots are refused. The message says why and what the operator can do."""


class Gate:
    """Keeps untrusted bots from playing until a host's report opens it. Thread-safe.

    If ``own`` is True, all bots are the operator's, and the gate is open from the start.
    """

    def __init__(self, *, own: bool = False) -> None:
        self.house_only = not own  # whether only house bots may play
        self.decided = own  # whether a report has arrived, or none is needed

    def decide(self, report: HostReport, accepted: Collection[str]) -> None:
        """Open or close the gate, given a host's report and the controls accepted as missing."""
        self.house_only = bool(unaccepted(report, accepted))
        self.decided = True


def admit(report: HostReport | None, accepted: Collection[str]) -> None:
    """Raise UntrustedBotsRefused unless untrusted bots may play on a host.

    ``report`` is None if the host was never checked. ``accepted`` lists the controls whose absence the
    operator accepts.
    """
    if report is None:
        raise UntrustedBotsRefused(
            "untrusted bots are refused: this host has not been checked yet. Start the arena to check it"
        )
    if not report.isolates:
        raise UntrustedBotsRefused(
            f"untrusted bots are refused: {report.host} runs bots as plain processes, without "
            "isolation. Use containers (ARENA_SANDBOX=docker)"
        )
    names = unaccepted(report, accepted)
    if names:
        raise UntrustedBotsRefused(_refusal_text(report, names, accepted))


def _refusal_text(report: HostReport, names: tuple[str, ...], accepted: Collection[str]) -> str:
    seen = {finding.control: finding.detail for finding in report.findings}
    lines = [
        f"  {name}: {seen.get(name, 'not tried')}. Stops: {CONTROLS[name].stops} {CONTROLS[name].fix}"
        for name in names
    ]
    value = ",".join(name for name in CONTROLS if name in names or name in accepted)
    return "\n".join(
        [
            f"untrusted bots are refused: {report.host} ({report.runtime}) lacks the following controls:",
            *lines,
            f"Fix the host and restart the arena, or accept what is missing: ARENA_ACCEPT_MISSING={value}",
        ]
    )
