"""Members of a cluster: their addresses and keys, and the admission of workers."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import structlog

from arena import __version__
from arena.app.folders import CannotStart, utc_now
from arena.app.monitoring import health_server
from arena.db.errors import DatabaseUnavailable
from arena.db.store import Store
from arena.ops.health import loop_check, new_registry
from arena.platform.settings import Address, Settings
from arena.protocol.decoding import prepared
from arena.protocol.match import FORMAT, RuntimeName
from arena.protocol.sandbox_controls import Gate, HostReport, unaccepted

if TYPE_CHECKING:
    from arena.scheduler.cluster.capacity import ClusterMember
    from arena.scheduler.cluster.member import Keys
    from arena.scheduler.cluster.workers import ClusterWorkers

_log = structlog.get_logger()


def need_cluster() -> None:
    """Check that the packages for clusters are installed. An arena on a single machine doesn't need them.

    Raises CannotStart if they are missing.
    """
    if find_spec("distributed") is None or find_spec("cryptography") is None:
        raise CannotStart(
            "packages for clusters are not installed: run pip install 'kaiten-arena[cluster]' or, in a "
            "checkout, .venv/bin/uv pip install --require-hashes -r requirements-cluster.lock"
        )


def keys_of(settings: Settings) -> "Keys | None":
    """Return a cluster member's keys, or None if the settings specify none.

    Raises CannotStart if the settings specify only some of the files.
    """
    from arena.scheduler.cluster.member import Keys  # noqa: PLC0415 - an optional package

    ca, cert, key = settings.cluster_ca, settings.cluster_cert, settings.cluster_key
    if ca is None and cert is None and key is None:
        return None
    if ca is None or cert is None or key is None:
        raise CannotStart(
            "a cluster member needs all three of ARENA_CLUSTER_CA, ARENA_CLUSTER_CERT and ARENA_CLUSTER_KEY"
        )
    return Keys(ca=ca.absolute(), cert=cert.absolute(), key=key.absolute())


def make_cluster_keys(folder: Path, names: Sequence[str], now: datetime) -> tuple[Path, ...]:
    """Create members' keys; see :func:`arena.scheduler.cluster.certificates.make_keys`.

    Raises CannotStart if they can't be created.
    """
    need_cluster()
    from arena.scheduler.cluster.certificates import CertificateError, make_keys  # noqa: PLC0415 - as above

    try:
        return make_keys(folder, names, now)
    except CertificateError as error:
        raise CannotStart(str(error)) from error


def need_shared_images(settings: Settings) -> None:
    """Check that the settings specify the image store that all hosts share. Raises CannotStart."""
    if settings.sandbox is not RuntimeName.PROCESS and settings.images_url is None:
        raise CannotStart(
            "a cluster needs an image store that all its hosts share: set ARENA_IMAGES_URL to the same URL, "
            "such as file:///srv/kaiten or s3://bucket/kaiten, for the coordinator and all workers"
        )


def schedule(settings: Settings, address: Address, listening: Callable[[str], None]) -> None:
    """Run a scheduler until a shutdown signal arrives.

    ``listening`` is called with the address that other members must use. Raises CannotStart if the scheduler
    can't listen on the address, or if the address requires keys that the settings don't specify.
    """
    need_cluster()
    from arena.scheduler.cluster.member import MemberHealth, WrongCluster, run_scheduler  # noqa: PLC0415 - as above

    health = MemberHealth("not listening yet")
    alive = {"main loop": loop_check(lambda: health.last_tick, time.monotonic)}
    ready = {"scheduler": lambda: health.missing}
    try:
        with health_server(settings, alive, ready, new_registry()):
            asyncio.run(run_scheduler(address.host, address.port, keys_of(settings), health, listening))
    except (OSError, WrongCluster) as error:
        raise CannotStart(f"the scheduler can't listen on {address}: {error}") from error


@contextmanager
def workers_of_cluster(
    settings: Settings, scheduler: Address, store: Store, gate: Gate
) -> Iterator["ClusterWorkers"]:
    """Connect a coordinator to its cluster's workers, except those that :func:`refusal` rejects.

    Raises CannotStart if the keys are missing or can't be read.
    """
    from arena.scheduler.cluster.link import Link  # noqa: PLC0415 - as above
    from arena.scheduler.cluster.member import WrongCluster, address_of, security_of  # noqa: PLC0415 - as above
    from arena.scheduler.cluster.workers import cluster_workers  # noqa: PLC0415 - as above

    try:
        keys = keys_of(settings)
        address, security = address_of(scheduler.host, scheduler.port, keys), security_of(keys)
    except WrongCluster as error:
        raise CannotStart(str(error)) from error
    with cluster_workers(
        lambda session, on_progress: Link(address, security, session, on_progress),
        lambda member: refusal(member, settings.sandbox, store, gate),
        utc_now,
        expected=(DatabaseUnavailable,),
    ) as workers:
        yield workers


def refusal(member: "ClusterMember", runtime: RuntimeName, store: Store, gate: Gate) -> str | None:
    """Return why a worker is rejected, or None if it is admitted. Record a compatible worker's host report.

    A worker must have the coordinator's version and runtime and, unless bots run as plain processes, all
    controls that untrusted bots need. A worker that lacks controls refuses to start, but the coordinator
    doesn't rely on that. Because every admitted worker has these controls, the first one can open the gate
    for all.
    """
    card = member.card
    if card.version != __version__:
        return f"it runs arena version {card.version or 'unknown'}; the coordinator runs {__version__}"
    if card.format != FORMAT:  # same version number, different code
        return f"it plays matches in format {card.format}; the coordinator sends format {FORMAT}"
    if card.runtime is not runtime:
        # Don't record its report: the newest report decides whether uploads and challenges are admitted.
        return f"its ARENA_SANDBOX is {card.runtime}; the coordinator's is {runtime}"
    try:
        report = msgspec.json.decode(card.report, type=prepared(HostReport))
    except msgspec.DecodeError as error:
        return f"its report can't be read: {error}"
    store.activity.record_host(report, card.accepted)
    missing = unaccepted(report, card.accepted)
    if missing and runtime is not RuntimeName.PROCESS:
        return f"it lacks controls that untrusted bots need: {', '.join(missing)}"
    gate.decide(report, card.accepted)
    _log.info("worker admitted", worker=card.name, host=card.host, seats=card.seats)
    return None
