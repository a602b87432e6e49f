"""Derives findings from evidence, without I/O."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final

from arena.protocol.sandbox_controls import CONTROL_NAMES, Finding, HostReport
from arena.sandbox.canary.evidence import Evidence
from arena.sandbox.runtime import DISK_READ_BYTES_PER_SECOND, OPEN_FILES, TMP_FILES

_MIB: Final = 1024 * 1024
NO_ANSWER: Final = "the probe did not respond"

_REFUSED: Final = frozenset({"EPERM", "EACCES", "ENOSYS", "EAFNOSUPPORT"})
"""Errors from a filter, or from a kernel without the feature."""

_MEMORY_SLACK: Final = 16 * _MIB
"""One step of the probe plus the memory of its interpreter."""

_SHARE_SLACK: Final = 1.25
"""A quota's periods last 100 ms, and the measurement may begin and end in the middle of one."""

_DEADLINE_EXIT_CODE: Final = 124
"""The exit code of the init (``docker/init/kaiten-init.c``) at the deadline."""

Verdict = tuple[bool, str]
"""A control's result: True if it passed, and what was observed."""


def _look_observations(evidence: Evidence) -> Mapping[str, Any]:
    return evidence.trials["look"].observations


def _network(evidence: Evidence) -> Verdict:
    seen = _look_observations(evidence)
    outside = [name for name in seen["interfaces"] if name != "lo"]
    if outside:
        return False, f"there are non-loopback interfaces: {', '.join(outside)}"
    if seen["route"] == "done":
        return False, "there is a route to the outside"
    return True, f"only loopback; connecting to the outside was refused with {seen['route']}"


def _read_only_root(evidence: Evidence) -> Verdict:
    seen = _look_observations(evidence)
    written = [path for path in seen["written"] if path != "/tmp" and not path.startswith("/dev")]  # noqa: S108 - in the container
    if written:
        return False, f"these paths could be written to: {', '.join(written[:5])}"
    return True, "only /tmp could be written to"


def _at_most(what: str, key: str, limit: int, evidence: Evidence) -> Verdict:
    """Judge the number that the probe reached in its attempt to get twice the limit."""
    got = int(_look_observations(evidence)[key])
    return got <= limit, f"{got} {what} ({limit} allowed)"


def _tmp_size(evidence: Evidence) -> Verdict:
    got = int(_look_observations(evidence)["tmp_bytes"]) / _MIB
    return got <= evidence.limits.tmp_mib, f"{got:g} MiB ({evidence.limits.tmp_mib} allowed)"


def _attempt_refused(key: str, success: str, evidence: Evidence) -> Verdict:
    """Judge one of the probe's attempts, which must fail. ``success`` is the observation if it succeeds."""
    answer = _look_observations(evidence)[key]
    return answer != "done", success if answer == "done" else f"refused with {answer}"


def _socket_folder(evidence: Evidence) -> Verdict:
    seen = _look_observations(evidence)
    if seen["referee"] != "done":
        return False, f"the referee's socket can't be reached ({seen['referee']})"
    done = [name for name, answer in seen["attacks"].items() if answer == "done"]
    if done:
        return False, f"these attacks on the socket's folder succeeded: {', '.join(done)}"
    return True, "the socket accepts connections; its folder can't be changed"


def _other_sockets(evidence: Evidence) -> Verdict:
    seen = _look_observations(evidence)
    if seen["reachable_sockets"]:
        return False, f"bots can connect to these sockets: {', '.join(seen['reachable_sockets'])}"
    if seen["foreign"] == "done":
        return False, "bots can connect to another slot's socket"
    if seen["foreign"] == "ENOENT":
        return True, "no other sockets can be seen; all bots share one user, so only the mounts separate them"
    return (
        True,
        f"connecting to another slot's socket failed with {seen['foreign']}; no other sockets are visible",
    )


def _user(evidence: Evidence) -> Verdict:
    seen = _look_observations(evidence)
    uid, gid = evidence.owner
    if seen["ids"] != [uid] * 3 + [gid] * 3 or not set(seen["groups"]) <= {gid}:
        return False, f"user and groups are {seen['ids']} and {seen['groups']}, not only {uid}:{gid}"
    return uid != 0, f"user {uid}, group {gid}, no other groups"


def _capabilities(evidence: Evidence) -> Verdict:
    sets = _look_observations(evidence)["capabilities"]
    left = {name: f"{bits:x}" for name, bits in sets.items() if bits}
    if left or not {"CapPrm", "CapEff", "CapBnd"} <= sets.keys():
        return False, f"capabilities remain: {left or 'unknown'}"
    return True, "none, and none can be gained"


def _no_new_privileges(evidence: Evidence) -> Verdict:
    answer = _look_observations(evidence)["no_new_privileges"]
    return answer == 1, f"the kernel reports {answer} (1 means on)"


def _system_calls(evidence: Evidence) -> Verdict:
    passed = [
        name for name, answer in _look_observations(evidence)["calls"].items() if answer not in _REFUSED
    ]
    if passed:
        return False, f"these calls reach the kernel: {', '.join(passed)}"
    return True, "all attempted calls were refused"


def _calls_refused(key: str, evidence: Evidence) -> Verdict:
    """Judge a group of the probe's calls. They must all fail."""
    done = [name for name, answer in _look_observations(evidence)[key].items() if answer == "done"]
    if done:
        return False, f"the kernel allowed: {', '.join(done)}"
    return True, "all attempted calls were refused"


def _layers_in_memory(evidence: Evidence) -> Verdict:
    return (
        not evidence.not_cached_reason,
        evidence.not_cached_reason or "the image layers that containers share are all in memory",
    )


def _host_counters(evidence: Evidence) -> Verdict:
    readable = [path for path in _look_observations(evidence)["host_files"] if path not in _HARMLESS]
    if readable:
        return False, f"these files could be read: {', '.join(readable[:5])}"
    return True, f"of the files about the host, only {', '.join(sorted(_HARMLESS))} could be read"


_HARMLESS: Final = frozenset({"/proc/cgroups"})


def _memory(evidence: Evidence) -> Verdict:
    if evidence.strict_overcommit:
        return False, "a bot could reserve all of this host's memory (vm.overcommit_memory is 2)"
    trial, limit = evidence.trials["memory"], evidence.limits.memory_mib * _MIB
    got = int(trial.observations["bytes"])
    words = f"{got // _MIB} MiB could be allocated ({evidence.limits.memory_mib} allowed)"
    if got > limit + _MEMORY_SLACK or got < limit // 4 or trial.exit.code == 0:
        return False, words
    end = "the kernel killed the process" if trial.exit.out_of_memory else f"exit code {trial.exit.code}"
    return True, f"{words}; {end}"


def _swap(evidence: Evidence) -> Verdict:
    """Judge by the container's control group, or by the engine's setting if the group can't be read."""
    seen, trial = _look_observations(evidence), evidence.trials["look"]
    if seen["v2_swap"] is not None:
        return seen["v2_swap"] == 0, f"memory.swap.max is {seen['v2_swap']} (-1 means unlimited)"
    if seen["v1_memory_and_swap"] is not None:
        extra = seen["v1_memory_and_swap"] - seen["v1_memory"]
        return extra <= 0, f"up to {max(extra, 0) // _MIB} MiB of swap may be used"
    extra = trial.memory_and_swap - trial.memory
    held = trial.memory > 0 and trial.memory_and_swap > 0 and extra <= 0
    memory, with_swap = trial.memory // _MIB, trial.memory_and_swap // _MIB
    return held, f"the engine's limits: {memory} MiB of memory, {with_swap} MiB with swap"


def _processes(evidence: Evidence) -> Verdict:
    got = int(evidence.trials["processes"].observations["processes"])
    return 1 < got <= evidence.pids, f"{got} processes ({evidence.pids} allowed)"


def _cpu(evidence: Evidence) -> Verdict:
    trial, limit = evidence.trials["cpu"], evidence.limits.cpus
    share = trial.share
    if share is None:
        return False, NO_ANSWER
    words = f"{share.cores:.2f} cores ({limit:g} allowed)"
    if share.cores > limit * _SHARE_SLACK:
        return False, words
    if share.throttled:
        return True, words
    # On a busy host, the container may not even get its share. In that case, judge by the configured quota.
    quota = _look_observations(evidence)["quota"]
    set_to = trial.cpus if quota is None else quota
    held = 0 < set_to <= limit * _SHARE_SLACK
    return held, f"{words}, never throttled; the quota is {set_to:g} (0 and -1 mean unlimited)"


def _disk_rate(evidence: Evidence) -> Verdict:
    rate = evidence.trials["cpu"].disk_rate
    if evidence.trials["cpu"].share is None:
        return False, NO_ANSWER
    if rate is None:
        return False, "nothing limits how fast a bot reads from the disk"
    return (
        rate <= DISK_READ_BYTES_PER_SECOND,
        f"{rate / _MIB:g} MiB per second ({DISK_READ_BYTES_PER_SECOND / _MIB:g} allowed)",
    )


def _file_size(evidence: Evidence) -> Verdict:
    answer = _look_observations(evidence)["file_beyond"]
    max_size = f"{evidence.limits.tmp_mib} MiB"
    result = "created" if answer == "done" else f"refused with {answer}"
    return answer == "EFBIG", f"a file larger than {max_size} was {result}"


def _core_dumps(evidence: Evidence) -> Verdict:
    seen = _look_observations(evidence)
    # Only the limit 1 also keeps the kernel from passing dumps to a program on the host.
    soft, hard = seen["core_limits"]
    if seen["core_dumped"] or (soft, hard) != (1, 1):
        left = "a core dump" if seen["core_dumped"] else "no core dump"
        limits = f"{soft} (soft) and {hard} (hard)"
        return False, f"a crash left {left}; the limits are {limits}, not 1 byte (-1 means unlimited)"
    return True, "a crash left no core dump"


def _shared_memory(evidence: Evidence) -> Verdict:
    folders = [path for path in _look_observations(evidence)["written"] if path.startswith("/dev")]
    if folders:
        return False, f"there is shared memory: {', '.join(folders)}"
    return True, "no shared memory"


def _log_size(evidence: Evidence) -> Verdict:
    """Judge the log of a container that printed 3 MiB."""
    _look_observations(evidence)["errors"]  # KeyError if there are no observations: then the log is empty too
    kept = evidence.trials["look"].log_bytes
    return kept <= _MAX_LOG_BYTES, f"the engine stored {kept // 1024} KiB of the 3 MiB printed"


_MAX_LOG_BYTES: Final = 3 * _MIB // 2
"""The container arguments turn logging off. An engine that still keeps a log of about 1 MB is harmless."""


def _environment(evidence: Evidence) -> Verdict:
    seen = _look_observations(evidence)
    strange = {name for name, value in seen["environment"].items() if evidence.environment.get(name) != value}
    if strange:
        # Only names, because a value may be a secret.
        return False, f"variables that no bot should see: {', '.join(sorted(strange))}"
    return True, f"{len(seen['environment'])} variables, all of them expected"


def _deadline(evidence: Evidence) -> Verdict:
    trial, seconds = evidence.trials["deadline"], evidence.deadline_seconds
    if not trial.in_time:
        return False, f"a container with a deadline of {seconds} s kept running"
    if trial.exit.code != _DEADLINE_EXIT_CODE:
        return False, f"the deadline did not end the container: exit code {trial.exit.code}"
    return True, f"ended by its deadline of {seconds} s"


def _all_bots_memory(evidence: Evidence) -> Verdict:
    found = evidence.trials["cpu"].shared_limit
    return (False, NO_ANSWER) if found is None else (found.held, found.detail)


RULES: Final[dict[str, Callable[[Evidence], Verdict]]] = {
    "network": _network,
    "read-only-root": _read_only_root,
    "tmp-size": _tmp_size,
    "tmp-files": partial(_at_most, "files", "tmp_files", TMP_FILES),
    "tmp-noexec": partial(_attempt_refused, "tmp_executed", "a program in /tmp ran"),
    "socket-folder": _socket_folder,
    "other-sockets": _other_sockets,
    "user": _user,
    "capabilities": _capabilities,
    "no-new-privileges": _no_new_privileges,
    "system-calls": _system_calls,
    "shared-futexes": partial(_calls_refused, "futexes"),
    "page-cache": partial(_calls_refused, "page_cache"),
    "layers-in-memory": _layers_in_memory,
    "call-arguments": partial(_calls_refused, "options"),
    "host-counters": _host_counters,
    "terminals": partial(_attempt_refused, "terminal", "a terminal was opened"),
    "memory": _memory,
    "swap": _swap,
    "processes": _processes,
    "cpu": _cpu,
    "disk-rate": _disk_rate,
    "open-files": partial(_at_most, "open files", "open_files", OPEN_FILES),
    "file-size": _file_size,
    "core-dumps": _core_dumps,
    "shared-memory": _shared_memory,
    "log-size": _log_size,
    "environment": _environment,
    "deadline": _deadline,
    "all-bots-memory": _all_bots_memory,
}
"""The function that judges each control."""

_ANSWERS: Final = "the sandbox's kernel ({}) handles these calls, not the host's"
_OWN_KERNEL: Final = {
    "system-calls": "calls reach the sandbox's kernel ({}), not the host's",
    "shared-futexes": _ANSWERS,
    "page-cache": _ANSWERS,
    "call-arguments": _ANSWERS,
    "host-counters": "/proc and /sys belong to the sandbox's kernel",
    "core-dumps": "the sandbox's kernel ({}) handles crashes, not the host's",
    "terminals": "any terminals belong to the sandbox's kernel",
    "shared-memory": "any shared memory belongs to the sandbox and counts as its memory",
}
"""Controls that always pass in a sandbox with its own kernel, such as gVisor or a VM, and why."""


_WARNINGS: Final = {
    "swap": ("swap",),
    "disk-rate": ("block i/o", "blkio"),
    "processes": ("pids",),
    "cpu": ("cpu", "cfs"),
    "system-calls": ("seccomp",),
    "memory": ("memory",),
}
"""Words that identify the engine's warnings about a control; the first match counts."""


def judge(evidence: Evidence) -> tuple[Finding, ...]:
    """Return a finding for every control, in the order of CONTROL_NAMES."""
    warned = _engine_warnings(evidence)
    findings = []
    for name in CONTROL_NAMES:
        held, detail = _verdict(name, evidence)
        if name in warned:
            held, detail = False, f"{detail}; the engine warns: {warned[name]}"
        findings.append(Finding(control=name, held=held, detail=detail))
    return tuple(findings)


def report_of(evidence: Evidence, runtime: str, checked: datetime) -> HostReport:
    """Return a host's report.

    ``runtime`` is the runtime's name, such as ``docker/runc``; ``checked`` is in UTC.
    """
    engine = evidence.engine
    warnings = {warning for trial in evidence.trials.values() for warning in trial.warnings}
    return HostReport(
        host=engine.host,
        isolates=True,
        runtime=runtime,
        engine=engine.version,
        cgroup=f"v{engine.cgroup_version}, {engine.cgroup_driver}",
        checked=checked,
        findings=judge(evidence),
        warnings=tuple(sorted(warnings)),
    )


def _verdict(name: str, evidence: Evidence) -> Verdict:
    try:
        held, detail = RULES[name](evidence)
        if (
            name in _OWN_KERNEL
            and (kernel := _look_observations(evidence)["kernel"]) != evidence.engine.kernel
        ):
            held, detail = True, _OWN_KERNEL[name].format(kernel)
    except (KeyError, TypeError, ValueError):
        # The probe was cut short, or it couldn't try this control; it reported the error if possible.
        found = _look_observations(evidence).get("errors", {})
        errors = "; ".join(f"{part}: {error}" for part, error in found.items())
        return False, f"{NO_ANSWER} ({errors})" if errors else NO_ANSWER
    return held, detail


def _engine_warnings(evidence: Evidence) -> dict[str, str]:
    found: dict[str, str] = {}
    for warning in evidence.trials["look"].warnings:
        for name, words in _WARNINGS.items():
            if any(word in warning.lower() for word in words):
                found.setdefault(name, warning)
                break
    return found
