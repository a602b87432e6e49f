"""How controls of the launch template are taken away: changes of the engine's create call, in place."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena.sandbox import slot_owner
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
