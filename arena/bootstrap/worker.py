"""A worker of a cluster: this host plays matches for a coordinator elsewhere. It opens no database."""

import asyncio
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

import msgspec

from arena import __version__
from arena.admission import StrangersRefused, admit
from arena.bootstrap.cluster import keys_of, need_cluster, need_shared_images
from arena.bootstrap.errors import CannotStart
from arena.bootstrap.folders import alone, install_id
from arena.bootstrap.ground import Ground, ground
from arena.bootstrap.host import examine, runtime_of, slots_of_host
from arena.bootstrap.intake import fetched_images
from arena.bootstrap.telling import told
from arena.controls import HostReport
from arena.launcher import sweeper
from arena.match import RuntimeName
from arena.monitoring.address import Address
from arena.monitoring.health import goes_round
from arena.monitoring.registry import new_registry
from arena.recurring import Recurring
from arena.sandbox import Runtime, RuntimeTrouble
from arena.sandbox.docker_runtime import DockerRuntime
from arena.settings import Settings

if TYPE_CHECKING:
    from arena.cluster.host import Post
    from arena.cluster.member import Standing
    from arena.cluster.seating import Seating

_NAME: Final = 64
_LOOK_SECONDS: Final = 1.0
_PRUNE_SECONDS: Final = 3600.0

Say = Callable[[str], None]


def work(settings: Settings, port: int, say: Say) -> None:
    """Play matches for whoever asks over the scheduler, until SIGTERM; what is under way then ends first.

    Args:
        settings: Those of this worker.
        port: Where the scheduler reaches it; 0 for a free one.
        say: Is told what goes on.

    Raises:
        CannotStart: Something is missing, or this host does not hold strangers' bots.
        ImageTrouble: The canary's image can't be made.
        RuntimeTrouble: The engine does not answer.
    """
    need_cluster()
    from arena.cluster.host import run_worker  # noqa: PLC0415 - see need_cluster
    from arena.cluster.member import Standing  # noqa: PLC0415 - as above
    from arena.cluster.seating import Seating  # noqa: PLC0415 - as above

    _check(settings)
    install = install_id(settings.data_dir)
    with (
        alone(settings.data_dir),
        closing(runtime_of(settings, install, fetched_images)) as runtime,
        ground(settings, runtime, install) as held,
    ):
        seating = Seating(runtime, install, held.run_dir, slots_of_host())
        standing = Standing("it is not known yet what this host can hold")
        with _told(settings, runtime, seating, standing):
            if held.swept:
                say(f"removed {held.swept} sandboxes that an earlier run had left")
            post = _post(settings, port, _admitted(settings, runtime, held, say))
            with _looked_after(runtime, install, seating):
                asyncio.run(run_worker(post, seating, standing, say))


def _check(settings: Settings) -> None:
    _scheduler_of(settings)
    if settings.database_url is not None:
        raise CannotStart(
            "a worker opens no database, and whoever takes it over should find none: unset "
            "ARENA_DATABASE_URL here, it is for the coordinator and the site alone"
        )
    need_shared_images(settings)


def _scheduler_of(settings: Settings) -> Address:
    if settings.executor is None:
        raise CannotStart("name the cluster's scheduler in ARENA_EXECUTOR, such as dask://192.0.2.1:8786")
    return settings.executor


def _told(
    settings: Settings, runtime: Runtime, seating: "Seating", standing: "Standing"
) -> AbstractContextManager[None]:
    """Return what answers supervisors and Prometheus."""
    from arena.cluster.gauges import HostGauges  # noqa: PLC0415 - see need_cluster

    registry = new_registry()
    registry.register(
        HostGauges(seating, slots_of_host().size, lambda: shutil.disk_usage(settings.data_dir).free)
    )
    return told(
        settings,
        alive={"main loop": goes_round(lambda: standing.turned, time.monotonic)},
        ready={"engine": runtime.trouble, "worker": lambda: standing.missing},
        registry=registry,
    )


def _admitted(settings: Settings, runtime: Runtime, held: Ground, say: Say) -> HostReport:
    """Try what this host can hold.

    Raises:
        CannotStart: It does not hold strangers' bots.
    """
    report = examine(settings, runtime, held.group, say)
    if settings.sandbox is RuntimeName.DOCKER:
        try:
            admit(report, settings.accept_missing)
        except StrangersRefused as error:
            raise CannotStart(str(error)) from error
    return report


def _post(settings: Settings, port: int, report: HostReport) -> "Post":
    """Return where this worker stands, and what it says of itself.

    Raises:
        CannotStart: The keys are missing or can't be read.
    """
    from arena.cluster.addresses import WrongCluster, address_of, security_of  # noqa: PLC0415 - see need_cluster
    from arena.cluster.host import Post  # noqa: PLC0415 - as above
    from arena.cluster.messages import Card  # noqa: PLC0415 - as above

    scheduler = _scheduler_of(settings)
    install, slots, host = install_id(settings.data_dir), slots_of_host(), socket.gethostname()
    card = Card(
        run="",
        name=f"{host[: _NAME - len(install) - 1]}-{install}",
        host=host[:_NAME],
        seats=slots.size,
        cpus=slots.share,
        runtime=settings.sandbox,
        report=msgspec.json.encode(report),
        accepted=tuple(sorted(settings.accept_missing)),
        version=__version__,
    )
    try:
        keys = keys_of(settings)
        return Post(
            scheduler=address_of(scheduler.host, scheduler.port, keys),
            host=scheduler.host,
            port=port,
            security=security_of(keys),
            card=card,
            folder=settings.data_dir.absolute() / "dask",
        )
    except WrongCluster as error:
        raise CannotStart(str(error)) from error


@contextmanager
def _looked_after(runtime: Runtime, install: str, seating: "Seating") -> Iterator[None]:
    """Sweep what matches leave, see whether a host that failed is well again, and prune images."""
    with (
        sweeper(runtime, install, seating),
        Recurring(seating.look, name="host", seconds=_LOOK_SECONDS, expected=(RuntimeTrouble,)),
        _pruner(runtime) if isinstance(runtime, DockerRuntime) else nullcontext(),
    ):
        yield


def _pruner(runtime: DockerRuntime) -> Recurring:
    """Return what lets the engine forget images that the store has forgotten."""

    def prune() -> None:
        runtime.prune_images()

    return Recurring(prune, name="pruner", seconds=_PRUNE_SECONDS, expected=(RuntimeTrouble,))
