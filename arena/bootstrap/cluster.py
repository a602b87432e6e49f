"""What members of a cluster are made of: addresses, keys, and whom a coordinator lets play."""

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
from arena.admission import Gate
from arena.bootstrap.errors import CannotStart
from arena.bootstrap.telling import told
from arena.controls import HostReport, unaccepted
from arena.match import RuntimeName
from arena.monitoring.address import Address
from arena.monitoring.health import goes_round
from arena.monitoring.registry import new_registry
from arena.settings import Settings
from arena.store import DatabaseUnavailable, Store

if TYPE_CHECKING:
    from arena.cluster.addresses import Keys
    from arena.cluster.rooms import Member
    from arena.cluster.workers import ClusterWorkers

_log = structlog.get_logger()


def need_cluster() -> None:
    """Make sure that what a cluster stands on is installed; one machine alone needs none of it.

    Raises:
        CannotStart: It isn't.
    """
    if find_spec("distributed") is None or find_spec("cryptography") is None:
        raise CannotStart(
            "a cluster needs packages that are not installed here: pip install 'kaiten-arena[cluster]', or "
            "in a checkout .venv/bin/uv pip install --require-hashes -r requirements-cluster.lock"
        )


def keys_of(settings: Settings) -> "Keys | None":
    """Return the keys of a member of a cluster, or None where none are named.

    Raises:
        CannotStart: Some are named and others are not.
    """
    from arena.cluster.addresses import Keys  # noqa: PLC0415 - only where it is installed

    ca, cert, key = settings.cluster_ca, settings.cluster_cert, settings.cluster_key
    if ca is None and cert is None and key is None:
        return None
    if ca is None or cert is None or key is None:
        raise CannotStart(
            "a member of a cluster needs all three of ARENA_CLUSTER_CA, ARENA_CLUSTER_CERT and "
            "ARENA_CLUSTER_KEY"
        )
    return Keys(ca=ca.absolute(), cert=cert.absolute(), key=key.absolute())


def make_cluster_keys(folder: Path, names: Sequence[str], now: datetime) -> tuple[Path, ...]:
    """Make members' keys; see :func:`arena.cluster.certificates.make_keys`.

    Raises:
        CannotStart: They can't be made.
    """
    need_cluster()
    from arena.cluster.certificates import KeysTrouble, make_keys  # noqa: PLC0415 - as above

    try:
        return make_keys(folder, names, now)
    except KeysTrouble as error:
        raise CannotStart(str(error)) from error


def need_shared_images(settings: Settings) -> None:
    """Make sure that it is said where the images are that all hosts share.

    Raises:
        CannotStart: It isn't.
    """
    if settings.sandbox is RuntimeName.DOCKER and settings.images_url is None:
        raise CannotStart(
            "in a cluster every host loads bots' images from one store: name it in ARENA_IMAGES_URL, the "
            "same for the coordinator and all workers, such as file:///srv/kaiten or s3://bucket/kaiten"
        )


def schedule(settings: Settings, address: Address, listening: Callable[[str], None]) -> None:
    """Run a scheduler until a signal says to end.

    Args:
        settings: Its keys, and where supervisors may ask.
        address: Where it listens.
        listening: Hears the address as others have to name it.

    Raises:
        CannotStart: It can't listen there, or must not without keys.
    """
    need_cluster()
    from arena.cluster.addresses import WrongCluster  # noqa: PLC0415 - only where it is installed
    from arena.cluster.member import Standing  # noqa: PLC0415 - as above
    from arena.cluster.scheduler import run_scheduler  # noqa: PLC0415 - as above

    standing = Standing("it does not listen yet")
    alive = {"main loop": goes_round(lambda: standing.turned, time.monotonic)}
    ready = {"scheduler": lambda: standing.missing}
    try:
        with told(settings, alive, ready, new_registry()):
            asyncio.run(run_scheduler(address.host, address.port, keys_of(settings), standing, listening))
    except (OSError, WrongCluster) as error:
        raise CannotStart(f"the scheduler can't listen at {address}: {error}") from error


@contextmanager
def workers_of_cluster(
    settings: Settings, scheduler: Address, store: Store, gate: Gate
) -> Iterator["ClusterWorkers"]:
    """Give those who play for a coordinator in a cluster.

    Args:
        settings: Those of the coordinator.
        scheduler: Where it is.
        store: Keeps what hosts were seen to hold.
        gate: Opened by the first host that holds strangers' bots; others are never used.

    Raises:
        CannotStart: The keys are missing or can't be read.
    """
    from arena.cluster.addresses import WrongCluster, address_of, security_of  # noqa: PLC0415 - as above
    from arena.cluster.link import Link  # noqa: PLC0415 - as above
    from arena.cluster.workers import cluster_workers  # noqa: PLC0415 - as above

    try:
        keys = keys_of(settings)
        address, security = address_of(scheduler.host, scheduler.port, keys), security_of(keys)
    except WrongCluster as error:
        raise CannotStart(str(error)) from error
    with cluster_workers(
        lambda session, heard: Link(address, security, session, heard),
        lambda member: admit_worker(member, settings.sandbox, store, gate),
        expected=(DatabaseUnavailable,),
    ) as workers:
        yield workers


def admit_worker(member: "Member", runtime: RuntimeName, store: Store, gate: Gate) -> bool:
    """Keep what a worker's host can hold, and tell whether it may be used: not one of another version.

    A worker refuses by itself to begin where strangers' bots can't be held. Whatever it says, none is used
    here that does not hold them: so a gate that is open for one is open for all.

    Args:
        member: The worker.
        runtime: How bots are run in this arena.
        store: Keeps the report.
        gate: Opened by a host that holds strangers' bots.
    """
    card = member.card
    if card.version != __version__:
        _log.error("worker refused: another version", worker=card.name, its=card.version, ours=__version__)
        return False
    try:
        report = msgspec.json.decode(card.report, type=HostReport)
    except msgspec.DecodeError as error:
        _log.error("worker refused: its report can't be read", worker=card.name, error=str(error))
        return False
    store.writes.record_host(report, card.accepted)
    missing = unaccepted(report, card.accepted)
    if card.runtime is not runtime:
        _log.error("worker refused: ARENA_SANDBOX differs", worker=card.name, its=card.runtime, ours=runtime)
        return False
    if missing and runtime is not RuntimeName.PROCESS:
        _log.error("worker refused: strangers' bots are not held there", worker=card.name, missing=missing)
        return False
    gate.decide(report, card.accepted)
    _log.info("a worker plays", worker=card.name, host=card.host, seats=card.seats)
    return True
