"""Removes controls of the launch template, by changing the arguments of the engine's create call in place."""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from arena.sandbox.runtime import slot_owner
from tests.sandbox.hostile.attack import FIRST_SLOT, SEAT

Loosen = Callable[[dict[str, Any]], None]

NEWER_FUTEXES: Final = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (6, 7)
"""True if the kernel has ``futex_wake``, ``futex_wait`` and ``futex_requeue``."""


def without(*names: str) -> Loosen:
    """Return a function that removes these entries of the host config; the engine's defaults then apply."""

    def loosen(arguments: dict[str, Any]) -> None:
        for name in names:
            del arguments["host_config"][name]

    return loosen


def with_(**values: object) -> Loosen:
    """Return a function that sets these entries of the host config."""
    return lambda arguments: arguments["host_config"].update(values)


def without_limit(name: str) -> Loosen:
    """Return a function that removes a process limit; the engine's default then applies."""

    def loosen(arguments: dict[str, Any]) -> None:
        limits = arguments["host_config"]["Ulimits"]
        limits[:] = [limit for limit in limits if limit["Name"] != name]

    return loosen


def allowing(*names: str) -> Loosen:
    """Return a function that removes all rules on these system calls and allows them with any arguments."""
    return lambda arguments: _change_rules(arguments, names, allowed=True)


def open_proc(*paths: str) -> Loosen:
    """Return a function that opens /proc and /sys to a bot, and unmasks these paths and those below them.

    The init can't set up Landlock there if the system calls for it are refused. Other masks stay.
    """

    def loosen(arguments: dict[str, Any]) -> None:
        _change_rules(arguments, ("landlock_create_ruleset",), allowed=False)
        unmasking(*paths)(arguments)

    return loosen


def open_disk(arguments: dict[str, Any]) -> None:
    """Let a bot ask how full the host's disk is, by removing the rule that lets the init set its filter."""

    def change(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            rule for rule in rules if rule["names"] != ["prctl"] or rule["args"][0]["value"] != _SET_FILTER
        ]

    _change_profile(arguments, change)


_SET_FILTER: Final = 22


def without_init(arguments: dict[str, Any]) -> None:
    """Start a bot directly, without the init and its filter, and let it make the call for filters."""
    arguments["entrypoint"] = arguments["entrypoint"][2:]
    allowing("seccomp")(arguments)


def _change_rules(arguments: dict[str, Any], names: tuple[str, ...], *, allowed: bool) -> None:
    def change(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
        kept = [{**rule, "names": [name for name in rule["names"] if name not in names]} for rule in rules]
        added = [{"names": [*names], "action": "SCMP_ACT_ALLOW"}] if allowed else []
        return [rule for rule in kept if rule["names"]] + added

    _change_profile(arguments, change)


def _change_profile(
    arguments: dict[str, Any], change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> None:
    options = arguments["host_config"]["SecurityOpt"]
    (place,) = (n for n, option in enumerate(options) if option.startswith("seccomp="))
    profile = json.loads(options[place].removeprefix("seccomp="))
    profile["syscalls"] = change(profile["syscalls"])
    options[place] = f"seccomp={json.dumps(profile)}"


def of_all_processes(arguments: dict[str, Any]) -> None:
    """Let a bot see the host's processes, and open what its neighbour's user may open in /proc and /sys."""
    arguments["host_config"]["PidMode"] = "host"
    share_user(arguments)
    open_proc("/proc", "/sys")(arguments)


def without_filter(arguments: dict[str, Any]) -> None:
    """Let a bot make all system calls, and lock memory, which `io_uring` needs."""
    with_(SecurityOpt=["no-new-privileges", "seccomp=unconfined"])(arguments)
    without_limit("memlock")(arguments)


def unmasking(*paths: str) -> Loosen:
    """Return a function that unmasks these paths and those below them."""

    def loosen(arguments: dict[str, Any]) -> None:
        config = arguments["host_config"]
        config["MaskedPaths"] = [
            path
            for path in config["MaskedPaths"]
            if not any(path == open_ or path.startswith(f"{open_}/") for open_ in paths)
        ]

    return loosen


def without_crowd_limits(arguments: dict[str, Any]) -> None:
    """Remove the limits on processes.

    Under gVisor the memory limit is one of them, because each process needs much memory.
    """
    config = arguments["host_config"]
    for name in ("PidsLimit", *(("Memory", "MemorySwap") if config["Runtime"] == "runsc" else ())):
        del config[name]


def give_folder(arguments: dict[str, Any]) -> None:
    """Make the attacker the owner of its socket folder, and mount the folder writable."""
    mount = arguments["host_config"]["Mounts"][0]
    mount["ReadOnly"] = False
    uid, gid = map(int, arguments["user"].split(":"))
    os.chown(mount["Source"], uid, gid)


def share_inits_folder(arguments: dict[str, Any]) -> None:
    """Mount the folder of the init's volume, not only its file."""
    mount = arguments["host_config"]["Mounts"][1]
    for end in ("Source", "Target"):
        mount[end] = str(Path(mount[end]).parent)


def share_folder_and_user(arguments: dict[str, Any]) -> None:
    """Mount the folder of the whole match too, and run the attacker as its neighbour's user."""
    config = arguments["host_config"]
    folder = Path(config["Mounts"][0]["Source"]).parent
    config["Mounts"] += [{"Type": "bind", "Source": str(folder), "Target": "/run/match", "ReadOnly": True}]
    arguments["user"] = f"{slot_owner(FIRST_SLOT + SEAT + 1, 0, 0)[0]}"


def share_user(arguments: dict[str, Any]) -> None:
    """Run the attacker as its neighbour's user, who then owns its socket too."""
    user = slot_owner(FIRST_SLOT + SEAT + 1, 0, 0)
    arguments["user"] = ":".join(map(str, user))
    for path in Path(arguments["host_config"]["Mounts"][0]["Source"]).iterdir():
        os.lchown(path, *user)


def share_identity(arguments: dict[str, Any]) -> None:
    """Run the attacker as its neighbour's user, and let it see the host's process ids and boot id."""
    share_user(arguments)
    arguments["host_config"]["PidMode"] = "host"
    open_proc("/proc/sys")(arguments)


def connect(arguments: dict[str, Any]) -> None:
    """Connect the attacker to the engine's default network, without a filter for system calls."""
    arguments["network_disabled"] = False
    arguments["host_config"]["NetworkMode"] = "bridge"
    arguments["host_config"]["SecurityOpt"] = ["no-new-privileges", "seccomp=unconfined"]


def share_ipc(arguments: dict[str, Any]) -> None:
    """Let bots use the host's System V objects and POSIX message queues.

    This also removes Landlock, which refuses to open POSIX queues as well as the files of /proc.
    """
    config = arguments["host_config"]
    config["IpcMode"] = "host"
    without_limit("msgqueue")(arguments)
    allowing(*_IPC)(arguments)
    open_proc()(arguments)


_IPC: Final = (
    "mq_open",
    "mq_timedreceive",
    "mq_timedsend",
    "mq_unlink",
    "msgctl",
    "msgget",
    "msgrcv",
    "msgsnd",
    "semctl",
    "semget",
    "shmat",
    "shmctl",
    "shmdt",
    "shmget",
)


def share_network(arguments: dict[str, Any]) -> None:
    """Put bots into the host's network, where its abstract sockets are, and let them read /proc/net."""
    arguments["network_disabled"] = False
    arguments["host_config"]["NetworkMode"] = "host"
    open_proc()(arguments)


@contextmanager
def huge_pages() -> Iterator[None]:
    """Reserve a few huge pages, since most hosts have none."""
    pool = Path("/proc/sys/vm/nr_hugepages")
    before = pool.read_text()
    pool.write_text(str(int(before) + _HUGE_PAGES))
    try:
        yield
    finally:
        pool.write_text(before)


_HUGE_PAGES: Final = 4
