"""What this host runs bots with, and what it can hold."""

import os
import secrets
import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Final

import docker
import structlog

from arena.bootstrap.chances import utc_now
from arena.bootstrap.errors import CannotStart
from arena.bootstrap.folders import private_folder
from arena.controls import HostReport
from arena.images import build_canary_image, ensure_base_image
from arena.languages import PYTHON
from arena.launcher import HostTooSmall, SlotPool
from arena.match import Limits, RuntimeName
from arena.sandbox import Runtime
from arena.sandbox.canary import Canary, report_of
from arena.sandbox.common_group import CommonGroup
from arena.sandbox.docker_engine import connect, engine_errors
from arena.sandbox.docker_runtime import DockerRuntime
from arena.sandbox.image_source import ImageSource
from arena.sandbox.process_runtime import ProcessRuntime
from arena.settings import Settings

_MIB: Final = 1024 * 1024

_log = structlog.get_logger()


def slots_of_host() -> SlotPool:
    """Return the seats of this host, all free.

    Raises:
        CannotStart: It has too little memory for a full table.
    """
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _MIB
    try:
        return SlotPool.for_host(len(os.sched_getaffinity(0)), memory, Limits())
    except HostTooSmall as error:
        raise CannotStart(str(error)) from error


def limits_of_this_host() -> Limits:
    """Return what a bot may use on this host."""
    return replace(Limits(), cpus=slots_of_host().share)


def limits_of_bots(settings: Settings) -> Limits:
    """Return what a bot may use in an arena: on this host what a slot has here, in a cluster the usual.

    There each worker gives it no more than a slot of its own has.
    """
    return limits_of_this_host() if settings.executor is None else Limits()


def warn_of_few_cores() -> None:
    """Log it where bots get less of a processor than usual."""
    slots, wanted = slots_of_host(), Limits().cpus
    if slots.share < wanted:
        _log.warning(
            "few cores: bots get less than their usual share",
            slots=slots.size,
            cores_each=slots.share,
            usual=wanted,
        )


def common_group(runtime: Runtime) -> CommonGroup | None:
    """Return the control group of all bots together; plain processes have none."""
    return (
        runtime.common_group(limits_of_this_host(), slots_of_host().size)
        if isinstance(runtime, DockerRuntime)
        else None
    )


def runtime_of(
    settings: Settings, install: str, images: Callable[[Settings], ImageSource] | None = None
) -> Runtime:
    """Return what runs the bots.

    Args:
        settings: Those of the arena.
        install: The installation's id.
        images: Gives where submitted images are kept; None where none of them will be run.

    Raises:
        RuntimeTrouble: The engine does not answer, or can't be used as the settings say.
    """
    if settings.sandbox is RuntimeName.PROCESS:
        return ProcessRuntime()
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    return DockerRuntime(
        connect(),
        cores=cores,
        runtime=settings.container_runtime,
        install=install,
        images=None if images is None else images(settings),
    )


def engine_client() -> docker.DockerClient:
    """Return a client for building images; the caller closes it."""
    with engine_errors("reach the engine"):
        return docker.from_env()


def examine_host(settings: Settings, say: Callable[[str], None]) -> HostReport:
    """Try what this host can hold, beside an arena or without one; nothing is kept.

    Args:
        settings: Those of the arena.
        say: Is told what takes time.

    Raises:
        CannotStart: The folder for sockets can't be made.
        ImageTrouble: The canary's image can't be made.
        RuntimeTrouble: The engine does not answer.
    """
    kept = settings.data_dir / "install"
    install = kept.read_text().strip() if kept.is_file() else secrets.token_hex(4)
    with closing(runtime_of(settings, install)) as runtime:
        group = common_group(runtime)
        # That of a running arena is looked at as it is.
        own = None if group is None or group.exists else group
        if own is not None:
            own.hold()
        try:
            return examine(settings, runtime, group, say)
        finally:
            if own is not None:
                own.remove()


def examine(
    settings: Settings, runtime: Runtime, group: CommonGroup | None, say: Callable[[str], None]
) -> HostReport:
    """Try what the host can hold; see :func:`examine_host`."""
    if not isinstance(runtime, DockerRuntime) or group is None:
        return HostReport(
            host=socket.gethostname(),
            isolates=False,
            runtime=runtime.describe,
            engine="",
            cgroup="",
            checked=utc_now(),
            findings=(),
            warnings=(),
            slots=slots_of_host().size,
        )
    with closing(engine_client()) as client:
        ensure_base_image(client, PYTHON, say)
        image = build_canary_image(client)
        run_dir = private_folder(settings.sockets)
        canary = Canary(
            client.api, runtime, image=image, run_dir=run_dir, limits=limits_of_this_host(), group=group
        )
        evidence = canary.check()
    return replace(report_of(evidence, runtime.describe, utc_now()), slots=slots_of_host().size)
