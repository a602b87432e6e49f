"""A cluster worker: plays matches on this host for a remote coordinator, without a database."""

import asyncio
import shutil
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from typing import TYPE_CHECKING, Final

import msgspec

from arena import __version__
from arena.app.cluster import keys_of, need_cluster, need_shared_images
from arena.app.folders import CannotStart, data_dir_lock, install_id
from arena.app.host import examine, host_setup, runtime_of, slots_of_host
from arena.app.intake import fetched_images
from arena.app.monitoring import health_server
from arena.ops.health import loop_check, new_registry
from arena.platform.files import Disk
from arena.platform.periodic import PeriodicTask
from arena.platform.settings import Address, Settings
from arena.play.launcher.slots import sweeper
from arena.protocol.match import FORMAT
from arena.protocol.sandbox_controls import HostReport, UntrustedBotsRefused, admit
from arena.sandbox.runtime import Runtime, RuntimeFailure
from arena.scheduler.metrics import HostGauges
from arena.scheduler.workers import load_monitor

if TYPE_CHECKING:
    from arena.scheduler.cluster.host import MatchRunner, WorkerOptions
    from arena.scheduler.cluster.member import MemberHealth

_MAX_NAME_LENGTH: Final = 64
_POLL_SECONDS: Final = 1.0
_PRUNE_SECONDS: Final = 3600.0

Say = Callable[[str], None]


def work(settings: Settings, port: int, say: Say) -> None:
    """Play matches from the scheduler until SIGTERM arrives, then finish those in progress.

    The scheduler connects to ``port``; 0 means any free port. ``say`` receives progress messages. Raises
    RuntimeFailure, or CannotStart if this host can't be a worker, for example because it lacks
    a control that untrusted bots need.
    """
    need_cluster()
    from arena.scheduler.cluster.host import MatchRunner, run_worker  # noqa: PLC0415 - see need_cluster
    from arena.scheduler.cluster.member import MemberHealth  # noqa: PLC0415 - as above

    scheduler = _scheduler_of(settings)
    install = install_id(settings.data_dir)
    with (
        data_dir_lock(settings.data_dir),
        closing(runtime_of(settings, install, fetched_images)) as runtime,
        host_setup(settings, runtime, install) as setup,
    ):
        slots = slots_of_host()
        disk = Disk(settings.data_dir, settings.least_free)
        runner = MatchRunner(runtime, install, setup.run_dir, slots, has_room=disk.has_room)
        health = MemberHealth("this host's controls have not been checked yet")
        with _health_server(settings, runtime, runner, health):
            if setup.swept:
                say(f"removed sandboxes left over from an earlier run: {setup.swept}")
            options = _worker_options(settings, scheduler, port, _check_host(settings, runtime, say))
            with (
                sweeper(runtime, install, runner.owns, slots),
                PeriodicTask(runner.poll, name="host", seconds=_POLL_SECONDS, expected=(RuntimeFailure,)),
                # Remove images from the engine if the store no longer has them.
                PeriodicTask(
                    runtime.prune_images, name="pruner", seconds=_PRUNE_SECONDS, expected=(RuntimeFailure,)
                ),
                load_monitor(slots),
            ):
                asyncio.run(run_worker(options, runner, health, say))


def _scheduler_of(settings: Settings) -> Address:
    """Return the scheduler's address. Raises CannotStart if the settings are unsuitable for a worker."""
    if settings.executor is None:
        raise CannotStart(
            "set ARENA_EXECUTOR to the address of the cluster's scheduler, such as dask://192.0.2.1:8786"
        )
    if settings.database_url is not None:
        raise CannotStart(
            "a worker needs no database, and its host should not have a database password: unset "
            "ARENA_DATABASE_URL, which is only for the coordinator and the site"
        )
    need_shared_images(settings)
    return settings.executor


def _health_server(
    settings: Settings, runtime: Runtime, runner: "MatchRunner", health: "MemberHealth"
) -> AbstractContextManager[None]:
    registry = new_registry()
    registry.register(
        HostGauges(runner, slots_of_host().size, lambda: shutil.disk_usage(settings.data_dir).free)
    )
    return health_server(
        settings,
        alive={"main loop": loop_check(lambda: health.last_tick, time.monotonic)},
        ready={
            "engine": runtime.unavailable_reason,
            "worker": lambda: health.missing or runner.state().trouble,
        },
        registry=registry,
    )


def _check_host(settings: Settings, runtime: Runtime, say: Say) -> HostReport:
    """Check this host's controls. Raises CannotStart if the host lacks a control that untrusted bots need."""
    report = examine(settings, runtime, say)
    if runtime.isolates:
        try:
            admit(report, settings.accept_missing)
        except UntrustedBotsRefused as error:
            raise CannotStart(str(error)) from error
    for warning in report.warnings:
        say(f"warning: {warning}")
    return report


def _worker_options(settings: Settings, scheduler: Address, port: int, report: HostReport) -> "WorkerOptions":
    """Return this worker's options: its card, and how to reach the scheduler.

    Raises CannotStart if the keys are missing or can't be read.
    """
    from arena.scheduler.cluster.host import WorkerOptions  # noqa: PLC0415 - as above
    from arena.scheduler.cluster.member import WrongCluster, address_of, security_of  # noqa: PLC0415 - as above
    from arena.scheduler.cluster.messages import WorkerCard  # noqa: PLC0415 - as above

    # The engine's host: in a container, this process has another hostname.
    install, slots, host = install_id(settings.data_dir), slots_of_host(), report.host
    card = WorkerCard(
        run="",
        name=f"{host[: _MAX_NAME_LENGTH - len(install) - 1]}-{install}",
        host=host[:_MAX_NAME_LENGTH],
        seats=slots.size,
        cpus=slots.share,
        runtime=settings.sandbox,
        report=msgspec.json.encode(report),
        accepted=tuple(sorted(settings.accept_missing)),
        version=__version__,
        format=FORMAT,
    )
    try:
        keys = keys_of(settings)
        return WorkerOptions(
            scheduler=address_of(scheduler.host, scheduler.port, keys),
            host=scheduler.host,
            port=port,
            security=security_of(keys),
            card=card,
            folder=settings.data_dir.absolute() / "dask",
        )
    except WrongCluster as error:
        raise CannotStart(str(error)) from error
