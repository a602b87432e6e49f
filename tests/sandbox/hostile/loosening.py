"""How controls of the launch template are taken away: changes of the engine's create call, in place."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from arena.sandbox.docker.policy import slot_owner
from tests.sandbox.hostile.attack import FIRST_SLOT, SEAT

Loosen = Callable[[dict[str, Any]], None]


def without(*names: str) -> Loosen:
    """Return what takes these out of the container's host config, so that the engine's defaults hold."""

    def loosen(arguments: dict[str, Any]) -> None:
        for name in names:
            del arguments["host_config"][name]

    return loosen


def with_(**values: object) -> Loosen:
    """Return what puts these into the container's host config."""
    return lambda arguments: arguments["host_config"].update(values)


def allowing(*names: str) -> Loosen:
    """Return what takes all rules on these system calls away and allows them, whatever their arguments."""
    return lambda arguments: _change_rules(arguments, names, allowed=True)


def open_proc(*paths: str) -> Loosen:
    """Return what lets a bot open all of /proc and /sys but the masks, of which these and those below go too.

    Without the calls for it the init can't close the files there.
    """

    def loosen(arguments: dict[str, Any]) -> None:
        _change_rules(arguments, ("landlock_create_ruleset",), allowed=False)
        unmasking(*paths)(arguments)

    return loosen


def open_disk(arguments: dict[str, Any]) -> None:
    """Let a bot ask how full the host's disk is: the init can't set its filter without the rule for that."""

    def change(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            rule for rule in rules if rule["names"] != ["prctl"] or rule["args"][0]["value"] != _SET_FILTER
        ]

    _change_profile(arguments, change)


_SET_FILTER: Final = 22


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
    """Let a bot see the host's processes, and open their files."""
    arguments["host_config"]["PidMode"] = "host"
    open_proc()(arguments)


def unmasking(*paths: str) -> Loosen:
    """Return what lets a bot see these paths and what is below them."""

    def loosen(arguments: dict[str, Any]) -> None:
        config = arguments["host_config"]
        config["MaskedPaths"] = [
            path
            for path in config["MaskedPaths"]
            if not any(path == open_ or path.startswith(f"{open_}/") for open_ in paths)
        ]

    return loosen


def without_crowd_limits(arguments: dict[str, Any]) -> None:
    """Take away what bounds processes; in gVisor each takes so much memory that its limit is one too."""
    config = arguments["host_config"]
    for name in ("PidsLimit", *(("Memory", "MemorySwap") if config["Runtime"] == "runsc" else ())):
        del config[name]


def give_folder(arguments: dict[str, Any]) -> None:
    """Let the attacker's socket folder be its own, and let it write there."""
    mount = arguments["host_config"]["Mounts"][0]
    mount["ReadOnly"] = False
    uid, gid = map(int, arguments["user"].split(":"))
    os.chown(mount["Source"], uid, gid)


def share_inits_folder(arguments: dict[str, Any]) -> None:
    """Mount the folder of the init's volume, and not just its file."""
    mount = arguments["host_config"]["Mounts"][1]
    for end in ("Source", "Target"):
        mount[end] = str(Path(mount[end]).parent)


def share_folder_and_user(arguments: dict[str, Any]) -> None:
    """Mount the folder of the whole match too, and run the attacker as its neighbour."""
    config = arguments["host_config"]
    folder = Path(config["Mounts"][0]["Source"]).parent
    config["Mounts"] += [{"Type": "bind", "Source": str(folder), "Target": "/run/match", "ReadOnly": True}]
    arguments["user"] = f"{slot_owner(FIRST_SLOT + SEAT + 1, 0, 0)[0]}"


def connect(arguments: dict[str, Any]) -> None:
    """Put the attacker into the engine's own network."""
    arguments["network_disabled"] = False
    arguments["host_config"]["NetworkMode"] = "bridge"
    arguments["host_config"]["SecurityOpt"] = ["no-new-privileges", "seccomp=unconfined"]


def share_queues(arguments: dict[str, Any]) -> None:
    """Let bots use the host's message queues, by the calls for that.

    Landlock refuses to open POSIX queues, as it does the files of /proc.
    """
    config = arguments["host_config"]
    config["IpcMode"] = "host"
    config["Ulimits"] = [limit for limit in config["Ulimits"] if limit["Name"] != "msgqueue"]
    allowing(*_QUEUES)(arguments)
    open_proc()(arguments)


_QUEUES: Final = (
    "mq_open",
    "mq_timedreceive",
    "mq_timedsend",
    "mq_unlink",
    "msgctl",
    "msgget",
    "msgrcv",
    "msgsnd",
)


def share_network(arguments: dict[str, Any]) -> None:
    """Put bots into the host's network, which holds its abstract sockets too, and let them read its files."""
    arguments["network_disabled"] = False
    arguments["host_config"]["NetworkMode"] = "host"
    open_proc()(arguments)


@contextmanager
def huge_pages() -> Iterator[None]:
    """Reserve a few of the host's pages, which most hosts have none of."""
    pool = Path("/proc/sys/vm/nr_hugepages")
    before = pool.read_text()
    pool.write_text(str(int(before) + _HUGE_PAGES))
    try:
        yield
    finally:
        pool.write_text(before)


_HUGE_PAGES: Final = 4
