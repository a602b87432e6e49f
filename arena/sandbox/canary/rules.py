"""How each control is judged by what was seen of it. Pure.

A rule may raise KeyError, TypeError or ValueError where its evidence is not there.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from arena.sandbox.canary.evidence import Evidence, Trial

_MIB: Final = 1024 * 1024
NO_ANSWER: Final = "the probe did not answer"

_REFUSED: Final = frozenset({"EPERM", "EACCES", "ENOSYS", "EAFNOSUPPORT"})
"""Answers of a filter, or of a kernel that has no such thing."""

_MEMORY_SLACK: Final = 16 * _MIB
"""A step of the probe, and what its Python needs."""

_SHARE_SLACK: Final = 1.25
"""A quota is counted by periods of 100 ms, and the measurement begins and ends within one."""

_DEADLINE_SLACK: Final = 3.0
"""Seconds that a busy engine may take to see an end."""

Verdict = tuple[bool, str]
"""Whether it is held, and what was seen."""


def _look(evidence: Evidence) -> dict[str, Any]:
    return dict(evidence.trials["look"].said or {})


def _own_kernel(evidence: Evidence) -> bool:
    """Whether the container runs on a kernel of its own, as in gVisor or a virtual machine."""
    return bool(_look(evidence)["kernel"] != evidence.engine.kernel)


def _network(evidence: Evidence) -> Verdict:
    seen = _look(evidence)
    outside = [name for name in seen["interfaces"] if name != "lo"]
    if outside:
        return False, f"there is an interface beside loopback: {', '.join(outside)}"
    if seen["route"] == "done":
        return False, "there is a route to the outside"
    return True, f"loopback alone; a way out was refused with {seen['route']}"


def _read_only_root(evidence: Evidence) -> Verdict:
    seen = _look(evidence)
    written = [path for path in seen["written"] if path != "/tmp" and not path.startswith("/dev")]  # noqa: S108 - the container's
    if written:
        return False, f"could be written: {', '.join(written[:5])}"
    return True, "nothing but /tmp could be written"


def _at_most(what: str, key: str, most: Callable[[Evidence], int], evidence: Evidence) -> Verdict:
    """Judge a number that the probe reached while it tried to get twice what it may."""
    got, limit = int(_look(evidence)[key]), most(evidence)
    return got <= limit, f"{got} {what}, of {limit} allowed"


def _tmp_size(evidence: Evidence) -> Verdict:
    got = int(_look(evidence)["tmp_bytes"]) / _MIB
    return got <= evidence.limits.tmp_mib, f"{got:g} MiB, of {evidence.limits.tmp_mib} allowed"


def _tmp_noexec(evidence: Evidence) -> Verdict:
    answer = _look(evidence)["tmp_executed"]
    return answer != "done", "a program in /tmp ran" if answer == "done" else f"refused with {answer}"


def _socket_folder(evidence: Evidence) -> Verdict:
    seen = _look(evidence)
    if seen["referee"] != "done":
        return False, f"the referee's socket can't be reached ({seen['referee']})"
    done = [name for name, answer in seen["attacks"].items() if answer == "done"]
    if done:
        return False, f"possible in the socket's folder: {', '.join(done)}"
    return True, "the socket takes calls; its folder can't be changed"


def _other_sockets(evidence: Evidence) -> Verdict:
    seen = _look(evidence)
    if seen["dialled"]:
        return False, f"could be dialled: {', '.join(seen['dialled'])}"
    if seen["foreign"] == "done":
        return False, "another slot's socket could be dialled"
    if seen["foreign"] == "ENOENT":
        return True, "no other socket can be seen; all bots share one user, so only the mounts part them"
    return True, f"another slot's socket was refused with {seen['foreign']}; no other can be seen"


def _user(evidence: Evidence) -> Verdict:
    seen = _look(evidence)
    uid, gid = evidence.owner
    if seen["ids"] != [uid] * 3 + [gid] * 3 or not set(seen["groups"]) <= {gid}:
        return False, f"user and groups are {seen['ids']} and {seen['groups']}, not {uid}:{gid} alone"
    return uid != 0, f"user {uid}, group {gid}, no group more"


def _capabilities(evidence: Evidence) -> Verdict:
    sets = _look(evidence)["capabilities"]
    left = {name: f"{bits:x}" for name, bits in sets.items() if bits}
    if left or not {"CapPrm", "CapEff", "CapBnd"} <= sets.keys():
        return False, f"capabilities are left: {left or 'nobody can tell'}"
    return True, "none, and none can be gained"


def _no_new_privileges(evidence: Evidence) -> Verdict:
    answer = _look(evidence)["no_new_privileges"]
    return answer == 1, f"the kernel says {answer} (1 is on)"


def _system_calls(evidence: Evidence) -> Verdict:
    passed = [name for name, answer in _look(evidence)["calls"].items() if answer not in _REFUSED]
    if _own_kernel(evidence):
        kernel = _look(evidence)["kernel"]
        return True, f"calls end in a kernel of the sandbox's own ({kernel}), not in the host's"
    if passed:
        return False, f"these reach the kernel: {', '.join(passed)}"
    return True, "all that were tried were refused"


def _memory(evidence: Evidence) -> Verdict:
    trial, limit = evidence.trials["memory"], evidence.limits.memory_mib * _MIB
    got = int(_said(trial)["bytes"])
    words = f"{got // _MIB} MiB could be taken, of {evidence.limits.memory_mib} allowed"
    if got > limit + _MEMORY_SLACK or got < limit // 4 or trial.exit.code == 0:
        return False, words
    return True, f"{words}; {'ended for it' if trial.exit.out_of_memory else f'exit {trial.exit.code}'}"


def _swap(evidence: Evidence) -> Verdict:
    """By what the container's own control group shows, else by what the engine has set."""
    seen, trial = _look(evidence), evidence.trials["look"]
    if seen["v2_swap"] is not None:
        return seen["v2_swap"] == 0, f"memory.swap.max is {seen['v2_swap']} (-1 is no limit)"
    if seen["v1_memory_and_swap"] is not None:
        extra = seen["v1_memory_and_swap"] - seen["v1_memory"]
        return extra <= 0, f"memory and swap may be {max(extra, 0) // _MIB} MiB more than memory alone"
    extra = trial.memory_and_swap - trial.memory
    held = trial.memory > 0 and trial.memory_and_swap > 0 and extra <= 0
    return (
        held,
        f"by the engine: memory {trial.memory // _MIB} MiB, with swap {trial.memory_and_swap // _MIB}",
    )


def _processes(evidence: Evidence) -> Verdict:
    got = int(_said(evidence.trials["processes"])["processes"])
    return 1 < got <= evidence.pids, f"{got} processes, of {evidence.pids} allowed"


def _cpu(evidence: Evidence) -> Verdict:
    trial, limit = evidence.trials["cpu"], evidence.limits.cpus
    share = trial.share
    if share is None:
        return False, NO_ANSWER
    words = f"{share.cores:.2f} cores, of {limit:g} allowed"
    if share.cores > limit * _SHARE_SLACK:
        return False, words
    if share.throttled:
        return True, words
    # On a busy host it may not even get its share. Then what was set has to do.
    quota = _look(evidence)["quota"]
    set_to = trial.cpus if quota is None else quota
    held = 0 < set_to <= limit * _SHARE_SLACK
    return held, f"{words}, never held back; the quota is {set_to:g} (0 and -1 are none)"


def _file_size(evidence: Evidence) -> Verdict:
    answer = _look(evidence)["file_beyond"]
    most = f"{evidence.limits.tmp_mib} MiB"
    return answer == "EFBIG", f"a file larger than {most}: {'made' if answer == 'done' else answer}"


def _core_dumps(evidence: Evidence) -> Verdict:
    seen = _look(evidence)
    if seen["core_dumped"] or seen["core_limit"]:
        return (
            False,
            f"a crash was dumped: {seen['core_dumped']}; limit {seen['core_limit']} bytes (-1 is none)",
        )
    return True, "a crash left nothing"


def _shared_memory(evidence: Evidence) -> Verdict:
    seen = _look(evidence)
    folders = [path for path in seen["written"] if path.startswith("/dev")]
    if _own_kernel(evidence):
        return True, "shared memory, where there is any, is the sandbox's own and counts as its memory"
    if folders:
        return False, f"there is shared memory: {', '.join(folders)}"
    return True, "none could be had"


def _log_size(evidence: Evidence) -> Verdict:
    """The log is that of a container that has printed three times as much as may be kept."""
    _look(evidence)["errors"]
    kept = evidence.trials["look"].log_bytes
    return kept <= _LOG_MOST, f"{kept // 1024} KiB were kept of 3 MiB that were printed"


_LOG_MOST: Final = 3 * _MIB // 2
"""None is kept by the template. An engine that puts a bounded log of 1 MB in its place does no harm."""


def _environment(evidence: Evidence) -> Verdict:
    seen = _look(evidence)
    strange = {name for name, value in seen["environment"].items() if evidence.environment.get(name) != value}
    if strange:
        # Names alone: a value may be a secret.
        return False, f"variables that no bot should see: {', '.join(sorted(strange))}"
    return True, f"{len(seen['environment'])} variables, all of them known"


def _deadline(evidence: Evidence) -> Verdict:
    trial, seconds = evidence.trials["deadline"], evidence.deadline_seconds
    if not trial.in_time:
        return False, f"a container with a deadline of {seconds} s ran on"
    if trial.seconds is None or trial.exit.code in {0, 1}:
        return False, f"it ended by itself, with exit code {trial.exit.code}"
    held = seconds / 2 <= trial.seconds <= seconds + _DEADLINE_SLACK
    return held, f"ended after {trial.seconds:.1f} s, with a deadline of {seconds} s"


def _all_bots_memory(evidence: Evidence) -> Verdict:
    found = evidence.trials["cpu"].together
    return (False, NO_ANSWER) if found is None else (found.held, found.detail)


def _said(trial: Trial) -> dict[str, Any]:
    return dict(trial.said or {})


RULES: Final[dict[str, Callable[[Evidence], Verdict]]] = {
    "network": _network,
    "read-only-root": _read_only_root,
    "tmp-size": _tmp_size,
    "tmp-files": partial(_at_most, "files", "tmp_files", lambda evidence: evidence.tmp_files),
    "tmp-noexec": _tmp_noexec,
    "socket-folder": _socket_folder,
    "other-sockets": _other_sockets,
    "user": _user,
    "capabilities": _capabilities,
    "no-new-privileges": _no_new_privileges,
    "system-calls": _system_calls,
    "memory": _memory,
    "swap": _swap,
    "processes": _processes,
    "cpu": _cpu,
    "open-files": partial(_at_most, "open files", "open_files", lambda evidence: evidence.open_files),
    "file-size": _file_size,
    "core-dumps": _core_dumps,
    "shared-memory": _shared_memory,
    "log-size": _log_size,
    "environment": _environment,
    "deadline": _deadline,
    "all-bots-memory": _all_bots_memory,
}
"""One a control."""
