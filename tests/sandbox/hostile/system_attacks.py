"""The attacks on the system that the bots run on: numbers 1 to 9 and 21 to 27 of the reference."""

import os
from pathlib import Path
from typing import Any, Final

from arena.match import Clock, Fault, Limits
from arena.sandbox import slot_owner
from tests.sandbox.hostile.allowed import beyond_allowed
from tests.sandbox.hostile.attack import FIRST_SLOT, QUICK, SEAT, Attack, Control, FaultAt, Outcome
from tests.sandbox.hostile.site import shown, unescaped
from tests.sandbox.hostile.system import crowding, dawdling, escaping, filling, probing, talking

_LIMITS: Final = Limits()
_LOG_MIB: Final = 4
_PATIENT: Final = Clock(start_millis=10_000, move_millis=10_000, bank_millis=10_000)


def _without(*names: str) -> Any:  # noqa: ANN401 - a function
    """Return what takes these out of the container's host config, so that the engine's defaults hold."""

    def loosen(arguments: dict[str, Any]) -> None:
        for name in names:
            del arguments["host_config"][name]

    return loosen


def _with(**values: object) -> Any:  # noqa: ANN401 - a function
    """Return what puts these into the container's host config."""
    return lambda arguments: arguments["host_config"].update(values)


def _too_many(what: str, most: float) -> Any:  # noqa: ANN401 - a function
    """Return what says that the bot told of more than this."""

    def achieved(outcome: Outcome) -> str:
        # Whoever ended before it could tell got nothing.
        count = outcome.told.get(what, 0)
        return f"{count} {what}" if count > most else ""

    return achieved


def _unlimited_tmp(outcome: Outcome) -> str:
    written, files = outcome.told["mebibytes"], outcome.told["files"]
    if written > _LIMITS.tmp_mib:
        return f"{written} MiB in /tmp"
    # gVisor does not count files.
    return f"{files} files in /tmp" if files > 1024 and outcome.runtime != "runsc" else ""


def _listed(name: str) -> Any:  # noqa: ANN401 - a function
    """Return what names the things in a list that the bot told."""
    return lambda outcome: ", ".join(map(str, outcome.told[name]))


def _log(outcome: Outcome) -> str:
    printed = outcome.told["mebibytes"]
    if printed < 2 * _LOG_MIB:
        raise ValueError(f"it printed no more than {printed} MiB")
    if len(outcome.record.seats[SEAT].stderr) > 64 * 1024:
        return "more of its stderr kept than 64 KiB"
    used = outcome.peak.disk / 1024 / 1024
    return f"{used:.1f} MiB of disk" if used > _LOG_MIB else ""


def _unpunished(what: str) -> Any:  # noqa: ANN401 - a function
    """Return what says that the bot did it without a fault."""
    return lambda outcome: "" if outcome.faults else f"{what} without a fault"


def _survivors(outcome: Outcome) -> str:
    if outcome.told["daemons"] < 1:
        raise ValueError("it left no daemons")
    return ", ".join(what for what in outcome.left if "hostile-daemon" in what)


def _give_folder(arguments: dict[str, Any]) -> None:
    """Let the attacker's socket folder be its own, and let it write there."""
    mount = arguments["host_config"]["Mounts"][0]
    mount["ReadOnly"] = False
    uid, gid = map(int, arguments["user"].split(":"))
    os.chown(mount["Source"], uid, gid)


def _share_folder_and_user(arguments: dict[str, Any]) -> None:
    """Mount the folder of the whole match too, and run the attacker as its neighbour."""
    config = arguments["host_config"]
    folder = Path(config["Mounts"][0]["Source"]).parent
    config["Mounts"] += [{"Type": "bind", "Source": str(folder), "Target": "/run/match", "ReadOnly": True}]
    arguments["user"] = f"{slot_owner(FIRST_SLOT + SEAT + 1, 0, 0)[0]}"


def _connect(arguments: dict[str, Any]) -> None:
    """Put the attacker into the engine's own network."""
    arguments["network_disabled"] = False
    arguments["host_config"]["NetworkMode"] = "bridge"
    arguments["host_config"]["SecurityOpt"] = ["no-new-privileges", "seccomp=unconfined"]


def _network(outcome: Outcome) -> str:
    told = outcome.told
    return ", ".join([*told["made"], *told["answered"], *(set(told["interfaces"]) - {"lo"})])


def _timeouts(*turns: int) -> tuple[FaultAt, ...]:
    return tuple(FaultAt(2, turn, Fault.TIMEOUT) for turn in turns)


ATTACKS: Final = (
    Attack(
        number=1,
        name="fork bomb",
        program=crowding.fork_bomb,
        verdicts="NC",
        achieved=_too_many("processes", _LIMITS.pids),
        control=Control(name="pids limit", template=_without("PidsLimit")),
    ),
    Attack(
        number=2,
        name="thread bomb",
        program=crowding.thread_bomb,
        verdicts="NC",
        achieved=_too_many("threads", _LIMITS.pids),
        control=Control(name="pids limit", template=_without("PidsLimit")),
    ),
    Attack(
        number=3,
        name="heap bomb",
        program=filling.heap_bomb,
        verdicts="C",
        faults=(FaultAt(2, 3, Fault.CRASH),),
        achieved=_too_many("mebibytes", _LIMITS.memory_mib),
        control=Control(name="memory limit", template=_without("Memory", "MemorySwap")),
    ),
    Attack(
        number=4,
        name="tmpfs fill",
        program=filling.fill_tmp,
        verdicts="NC",
        achieved=_unlimited_tmp,
        control=Control(name="size of /tmp", template=_with(Tmpfs={"/tmp": "rw"})),  # noqa: S108 - its
    ),
    Attack(
        number=5,
        name="writes all over the root fs",
        program=filling.write_everywhere,
        verdicts="N",
        achieved=_listed("written"),
        control=Control(name="read-only root", template=_with(ReadonlyRootfs=False)),
    ),
    Attack(
        number=6,
        name="stdout and stderr flood",
        program=filling.flood_output,
        verdicts="N",
        achieved=_log,
        control=Control(name="log limit", template=_without("LogConfig")),
    ),
    Attack(
        number=7,
        name="CPU spin",
        program=dawdling.spin,
        verdicts="T",
        faults=_timeouts(3, 4, 5),
        clock=QUICK,
        # In half a second six periods of 0.1 s can have begun, each with its share.
        achieved=_too_many("cores", 1.2 * _LIMITS.cpus + 0.1),
        control=Control(name="CPU share", template=_without("NanoCpus")),
    ),
    Attack(
        number=8,
        name="sleeps over the soft limit",
        program=dawdling.sleep_over,
        verdicts="T",
        # Two pauses are paid from the bank, the third is not.
        faults=_timeouts(5, 6, 7),
        clock=QUICK,
        achieved=_unpunished("slept"),
        control=Control(name="bank", clock=Clock(start_millis=10_000, move_millis=1_000, bank_millis=60_000)),
    ),
    Attack(
        number=9,
        name="stops itself",
        program=dawdling.stop_itself,
        verdicts="T",
        faults=_timeouts(3, 4, 5),
        clock=QUICK,
        achieved=_unpunished("stopped"),
        control=Control(name="clock", clock=_PATIENT),
    ),
    Attack(
        number=21,
        name="replaces the socket",
        program=escaping.replace_socket,
        verdicts="N",
        achieved=_listed("done"),
        control=Control(name="read-only folder of root's", template=_give_folder),
    ),
    Attack(
        number=22,
        name="dials another bot's socket",
        program=escaping.dial_neighbours,
        verdicts="N",
        achieved=_listed("reached"),
        control=Control(name="folder and user of its own", template=_share_folder_and_user),
    ),
    Attack(
        number=23,
        name="network scan",
        program=escaping.scan_network,
        verdicts="N",
        achieved=_network,
        control=Control(name="no network, unix sockets only", template=_connect),
    ),
    Attack(
        number=24,
        name="harvests /proc, /sys, environment",
        program=probing.harvest,
        verdicts="N",
        achieved=lambda outcome: beyond_allowed(outcome.told),
        control=Control(name="pid namespace", template=_with(PidMode="host")),
    ),
    Attack(
        number=25,
        name="forbidden system calls",
        program=probing.forbidden_calls,
        verdicts="N",
        achieved=_listed("done"),
        control=Control(
            name="list of system calls",
            template=_with(SecurityOpt=["no-new-privileges", "seccomp=unconfined"]),
        ),
    ),
    Attack(
        number=26,
        name="daemons that heed no signal",
        program=crowding.leave_daemons,
        verdicts="N",
        achieved=_survivors,
        control=Control(name="removal", removal=True),
    ),
    Attack(
        number=27,
        name="HTML and bidi characters in text",
        program=talking.markup,
        verdicts="N",
        achieved=shown,
        control=Control(name="escaping on the site", within=unescaped),
    ),
)
