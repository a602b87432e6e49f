"""This host: its runtime, slots, limits and sandbox controls."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import structlog

from arena.app.folders import INSTALL_SIZE, CannotStart, data_dir_lock, private_folder, utc_now
from arena.images.build.base import ensure_base_image
from arena.images.build.context import build_canary_image
from arena.languages.python import PYTHON
from arena.platform.settings import Settings
from arena.play.launcher import HostTooSmall
from arena.play.launcher.seats import MAX_RUN_DIR_LENGTH
from arena.play.launcher.slots import FULL_TABLE, RESERVE_MIB, SlotPool
from arena.protocol.match import Limits, RuntimeName
from arena.protocol.sandbox_controls import HostReport
from arena.sandbox.factory import open_builder, open_runtime
from arena.sandbox.runtime import BotsGroup, CanaryParts, ImageSource, Runtime

_MIB: Final = 1024 * 1024

_log = structlog.get_logger()


def sockets_folder(settings: Settings) -> Path:
    """Create the parent of the installations' socket folders, and return it.

    Raises CannotStart if it can't be created, other users can write to it, or its path is too long for the
    sockets in it.
    """
    folder = settings.sockets
    size, limit = len(os.fsencode(folder)), MAX_RUN_DIR_LENGTH - INSTALL_SIZE - 1
    if size > limit:
        raise CannotStart(
            f"the path of the socket folder {folder} is {size} bytes long (limit {limit}, to leave room for "
            "the names of sockets): set ARENA_RUN_DIR to a shorter path"
        )
    return private_folder(folder)


def _memory_mib() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _MIB


def slots_of_host() -> SlotPool:
    """Return this host's slots, all free.

    Raises CannotStart if the host has too little memory for a full table.
    """
    try:
        return SlotPool.for_host(len(os.sched_getaffinity(0)), _memory_mib(), Limits())
    except HostTooSmall as error:
        raise CannotStart(str(error)) from error


_BOTS_PER_PERSON: Final = FULL_TABLE - 1


def tables_for_people(settings: Settings) -> int:
    """Return how many people can play on this host at a time: the setting, or fewer if memory is short."""
    if settings.executor is not None:
        return 0
    spare = _memory_mib() - RESERVE_MIB - (slots_of_host().size + 1) * Limits().memory_mib
    return max(0, min(settings.person_games, spare // (_BOTS_PER_PERSON * Limits().memory_mib)))


def bots_of_host(settings: Settings) -> int:
    """Return the maximum number of bots on this host, including those playing against people."""
    return slots_of_host().size + _BOTS_PER_PERSON * tables_for_people(settings)


def limits_of_this_host() -> Limits:
    """Return a bot's limits on this host."""
    return replace(Limits(), cpus=slots_of_host().share)


def limits_of_bots(settings: Settings) -> Limits:
    """Return a bot's limits in an arena: this host's limits or, in a cluster, the defaults.

    In a cluster, the coordinator lowers each match's CPU limit to a slot's share on the match's worker.
    """
    return limits_of_this_host() if settings.executor is None else Limits()


def common_group(settings: Settings, runtime: Runtime) -> BotsGroup:
    """Return the control group that limits all bots on this host together."""
    return runtime.common_group(limits_of_this_host(), bots_of_host(settings))


def runtime_of(
    settings: Settings, install: str, images: Callable[[Settings], ImageSource] | None = None
) -> Runtime:
    """Return the runtime for bots.

    ``images`` opens the source of submitted images; it is None if no submitted bots will run. Raises
    RuntimeFailure if the engine is not responding or can't be used with these settings, and any error that
    ``images`` raises.
    """
    contained = settings.sandbox is not RuntimeName.PROCESS
    return open_runtime(
        settings.sandbox,
        install,
        cores=",".join(map(str, sorted(os.sched_getaffinity(0)))),
        container_runtime=settings.container_runtime,
        images=images(settings) if contained and images is not None else None,
    )


def examine_host(settings: Settings, say: Callable[[str], None]) -> HostReport:
    """Check which controls this host enforces, and return the report. An arena may be running.

    ``say`` receives progress messages. Raises RuntimeFailure, or CannotStart if the folder
    for sockets can't be created or its path is too long.
    """
    id_file = settings.data_dir / "install"
    installed = id_file.is_file()
    install = id_file.read_text().strip() if installed else secrets.token_hex(4)
    with closing(runtime_of(settings, install)) as runtime:
        group = common_group(settings, runtime)
        running = group.exists  # a running arena's group must not be changed
        if not running:
            group.apply()
        try:
            return examine(settings, runtime, say)
        finally:
            if not running:
                # An arena that has started in the meantime holds the lock, and its bots are in the group.
                locked = installed and (settings.data_dir / "lock").exists()
                lock = data_dir_lock(settings.data_dir, restoring=True) if locked else nullcontext()
                with suppress(CannotStart), lock:
                    group.remove()


def examine(settings: Settings, runtime: Runtime, say: Callable[[str], None]) -> HostReport:
    """Check which controls the host enforces; see :func:`examine_host`."""

    def canary() -> CanaryParts:
        with closing(open_builder(settings.sandbox)) as builder:
            ensure_base_image(builder, PYTHON, say)
            image = build_canary_image(builder)
        run_dir = sockets_folder(settings)
        say("testing the sandbox controls (this takes up to 15 s)")
        return CanaryParts(image, run_dir)

    report = runtime.examine(canary, limits_of_this_host(), bots_of_host(settings), utc_now)
    return replace(report, slots=slots_of_host().size)


@dataclass(frozen=True, slots=True)
class HostSetup:
    """A host that is ready to run bots."""

    swept: int  # number of leftover sandboxes from an earlier run that were removed
    run_dir: Path  # the folder for sockets


@contextmanager
def host_setup(
    settings: Settings, runtime: Runtime, install: str, *, plays: bool = True
) -> Iterator[HostSetup]:
    """Prepare the host for bots: create their control group, and clean up before and after.

    If ``plays`` is False, no bots will run here and no group is created. Raises RuntimeFailure, or
    CannotStart if a folder can't be created or its path is too long.
    """
    swept = runtime.sweep(install)
    run_dir = sockets_folder(settings) / install
    shutil.rmtree(run_dir, ignore_errors=True)  # left over from a killed run
    group = common_group(settings, runtime) if plays else None
    if group is not None:
        group.remove()  # left over from a killed run
        group.apply()
        slots, usual = slots_of_host(), Limits().cpus
        if slots.share < usual:
            _log.warning("cpu share reduced", slots=slots.size, cores_each=slots.share, usual=usual)
    try:
        yield HostSetup(swept, run_dir)
    finally:
        runtime.sweep(install)
        if group is not None:
            group.remove()
        shutil.rmtree(run_dir, ignore_errors=True)
