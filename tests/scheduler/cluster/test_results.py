"""Results stay on a worker only until they have arrived, and arrive even if the connection is cut."""

import asyncio
import gc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from distributed import Scheduler, Security, Worker

from arena.scheduler.cluster.host import SEAT, MatchRunnerPlugin
from arena.scheduler.cluster.link import Link, OnProgress
from arena.scheduler.cluster.member import UNUSED_ADDRESS, configure_dask
from arena.scheduler.cluster.messages import EXTRA, Record, WorkerState, write
from arena.scheduler.cluster.workers import ClusterWorkers
from arena.scheduler.workers import Verdict
from tests.patience import WAIT_SECONDS, wait_until
from tests.scheduler.cluster.test_joining import CARD


class Runner:
    """Plays no matches, but returns a record for each."""

    def play(self, spec: bytes, session: str, key: str, progress: Callable[[bytes], None]) -> Record:  # noqa: ARG002 - as in MatchRunner
        """Return the record."""
        return Record(b"record")

    def stop(self, key: str) -> None:
        """Do nothing."""

    def stop_all(self) -> None:
        """Do nothing."""


@pytest.fixture
def _uncollected() -> Iterator[None]:
    """Collect no garbage, as between two of a coordinator's rare collections."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_uncollected")
@pytest.mark.parametrize("cuts", [0, 2])
def test_a_result_is_dropped_once_it_has_arrived(tmp_path: Path, cuts: int) -> None:
    """Otherwise, dask would play the match again on a worker that comes back at the same address.

    If the connection is cut while the result is fetched, the result arrives later.
    """
    configure_dask()
    asyncio.run(_results_left(tmp_path, cuts))


async def _results_left(folder: Path, cuts: int) -> None:
    async with (
        Scheduler(host="tcp://127.0.0.1:0", dashboard=False, dashboard_address=UNUSED_ADDRESS) as scheduler,
        Worker(
            scheduler.address,
            name="name",
            host="127.0.0.1",
            nthreads=5,
            resources={SEAT: 5},
            memory_limit=0,
            local_directory=str(folder),
            dashboard=False,
            dashboard_address=UNUSED_ADDRESS,
            plugins=(MatchRunnerPlugin(Runner()),),  # type: ignore[arg-type] # only these methods are called
            startup_information={EXTRA: lambda _: write(CARD)},
            metrics={EXTRA: lambda _: write(WorkerState(busy={}))},
        ) as worker,
    ):
        workers = await asyncio.to_thread(_played, scheduler.address, cuts)
        await asyncio.to_thread(wait_until, lambda: not worker.data and not scheduler.tasks, "no results")
        await asyncio.to_thread(workers.close)


def _played(address: str, cuts: int) -> ClusterWorkers:
    """Have a match played, and return the coordinator's side, which is still connected.

    The first ``cuts`` attempts to fetch its result fail.
    """

    def connect(session: str, on_progress: OnProgress) -> Link:
        link = Link(address, Security(require_encryption=False), session, on_progress)
        client, failures = link._client, iter(range(cuts))  # noqa: SLF001 - only this call must fail
        gather = client._gather  # noqa: SLF001 - as above

        async def flaky_gather(*args: object, **options: object) -> list[bytes]:
            if next(failures, None) is not None:
                raise OSError("the connection was cut")
            fetched: list[bytes] = await gather(*args, **options)  # type: ignore[no-untyped-call] # not in dask's annotations
            return fetched

        client._gather = flaky_gather  # type: ignore[method-assign] # noqa: SLF001 - as above
        return link

    workers = ClusterWorkers(connect, lambda _: None, lambda: datetime.now(UTC))
    workers.poll()
    reservation = workers.reserve(2)
    assert reservation is not None
    assert reservation.play(b"spec", lambda _: None).result(WAIT_SECONDS) == b"record"
    reservation.report(Verdict.VALID)
    return workers
