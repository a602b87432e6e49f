"""The controls that hold a bot, and what is known of whether a host can hold them. Pure data.

The names are stable: operators write them into ``ARENA_ACCEPT_MISSING``.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One thing that a bot must not be able to do.

    Attributes:
        name: Short and stable.
        stops: What it keeps a bot from, in a line.
        mend: What to do about a host that does not hold it, in a line.
    """

    name: str
    stops: str
    mend: str


_TEMPLATE: Final = (
    "The launch template asks for it; look for a plugin or wrapper of the engine that undoes it."
)

CONTROLS: Final = (
    Control(
        name="network",
        stops="Reaching the internet, the local network, cloud metadata or services of this host.",
        mend=_TEMPLATE,
    ),
    Control(
        name="read-only-root",
        stops="Writing anywhere but to /tmp: filling the disk, changing what is run.",
        mend=_TEMPLATE,
    ),
    Control(
        name="tmp-size",
        stops="Filling memory or disk through /tmp.",
        mend="Use a container runtime that honours the size of a tmpfs.",
    ),
    Control(
        name="tmp-files",
        stops="Using up inodes through masses of small files in /tmp.",
        mend="runsc ignores the limit and keeps the files in the bot's own memory; accept that, or use runc.",
    ),
    Control(
        name="tmp-noexec",
        stops="Running programs that a bot has written or unpacked itself.",
        mend="Use a container runtime that honours noexec; a bot can compute what it likes either way.",
    ),
    Control(
        name="socket-folder",
        stops="Removing, replacing or shadowing the socket of the referee.",
        mend="Keep ARENA_RUN_DIR on a local file system, and let runsc open host sockets (--host-uds=open).",
    ),
    Control(
        name="other-sockets",
        stops="Talking to the referee in another bot's name, or to the engine.",
        mend="Run the arena as root, so that each slot's socket belongs to a user of its own.",
    ),
    Control(
        name="user",
        stops="Running as root, or as a user whom the image chose.",
        mend=_TEMPLATE,
    ),
    Control(
        name="capabilities",
        stops="All that root may do beyond other users: mounts, devices, raw packets, other processes.",
        mend=_TEMPLATE,
    ),
    Control(
        name="no-new-privileges",
        stops="Gaining rights through a setuid program in the image.",
        mend="Use a kernel and a container runtime that know no_new_privs.",
    ),
    Control(
        name="system-calls",
        stops="Reaching rarely used kernel code: io_uring, vsock, namespaces, keys, ptrace, eBPF.",
        mend="Use an engine and a kernel with seccomp (docker info lists it under Security Options).",
    ),
    Control(
        name="memory",
        stops="Using up this host's memory.",
        mend="Give the kernel its memory cgroup; on a Raspberry Pi boot with cgroup_enable=memory.",
    ),
    Control(
        name="swap",
        stops="Going on in swap when the memory is used up, which makes the whole host slow.",
        mend="Boot with swapaccount=1, or switch swap off (swapoff -a).",
    ),
    Control(
        name="processes",
        stops="Fork bombs and thread bombs.",
        mend="Let the kernel have the pids cgroup.",
    ),
    Control(
        name="cpu",
        stops="Taking the other bots' share of the processor, so that they are late.",
        mend="Use a kernel with CONFIG_CFS_BANDWIDTH; for a rootless engine delegate the cpu controller.",
    ),
    Control(
        name="open-files",
        stops="Using up the host's file table, and floods of connections.",
        mend=_TEMPLATE,
    ),
    Control(
        name="file-size",
        stops="Single files larger than /tmp.",
        mend="Use a container runtime that honours the limit on file size.",
    ),
    Control(
        name="core-dumps",
        stops="Handing crashes to the host: disk space, and a root program that reads what a bot wrote.",
        mend="Write core into /proc/sys/kernel/core_pattern: a pipe there takes every crash.",
    ),
    Control(
        name="shared-memory",
        stops="Keeping memory outside of the bot's own limit, or sharing it with another bot.",
        mend=_TEMPLATE,
    ),
    Control(
        name="log-size",
        stops="Filling the disk by printing.",
        mend="Use an engine that has the log driver none.",
    ),
    Control(
        name="environment",
        stops="Reading the operator's secrets, such as a proxy's password, from the environment.",
        mend="Remove what adds variables to containers, such as proxies in the daemon's configuration.",
    ),
    Control(
        name="deadline",
        stops="Running on for ever when the arena is gone.",
        mend="See that the arena's own init is there and can be mounted into containers.",
    ),
    Control(
        name="all-bots-memory",
        stops="All bots together using up this host's memory.",
        mend="Run the arena as root beside the engine, so that it can limit the bots' common control group.",
    ),
)
"""All of them, in the order in which they are shown."""

CONTROL_NAMES: Final = tuple(control.name for control in CONTROLS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What became of trying to break one control.

    Attributes:
        control: Its name.
        held: Whether it could not be broken.
        detail: What was seen, in a line.
    """

    control: str
    held: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReport:
    """What one host can hold.

    Attributes:
        host: Name of the machine that bots run on.
        isolates: Whether bots are held at all: plain processes are not.
        runtime: What holds them, such as ``docker/runc``.
        engine: Version of the engine; empty without one.
        cgroup: Version of the control groups and who drives them, such as ``v2, systemd``; empty without.
        checked: When, in UTC.
        findings: One a control, in the order of ``CONTROLS``; none where nothing isolates.
        warnings: What the engine said when it made the containers.
        slots: So many bots run there at a time; None in a report that was made before this was noted.
    """

    host: str
    isolates: bool
    runtime: str
    engine: str
    cgroup: str
    checked: datetime
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    slots: int | None = None


def missing(report: HostReport) -> tuple[str, ...]:
    """Return the names of all controls that a host was not seen to hold."""
    held = {finding.control for finding in report.findings if finding.held}
    return tuple(name for name in CONTROL_NAMES if name not in held)


def unaccepted(report: HostReport, accepted: Collection[str]) -> tuple[str, ...]:
    """Return the names of the controls for which strangers' bots are refused; none where they may play.

    Args:
        report: Of the host.
        accepted: Names of controls whose absence the operator accepts. It means nothing where
            nothing isolates.
    """
    if not report.isolates:
        return missing(report)
    return tuple(name for name in missing(report) if name not in accepted)
