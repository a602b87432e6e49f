"""Results stay on a worker only until they have arrived, and arrive even if the connection is cut."""

import asyncio
import gc
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from distributed import Scheduler, Security, Worker
from msgspec.structs import replace

from arena.scheduler.cluster.host import SEAT, MatchRunnerPlugin, play_here
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


def _worker(scheduler: Scheduler, folder: Path, name: str) -> Worker:
    return Worker(
        scheduler.address,
        name=name,
        host="127.0.0.1",
        nthreads=5,
        resources={SEAT: 5},
        memory_limit=0,
        local_directory=str(folder / name),
        dashboard=False,
        dashboard_address=UNUSED_ADDRESS,
        plugins=(MatchRunnerPlugin(Runner()),),  # type: ignore[arg-type] # only these methods are called
        startup_information={EXTRA: lambda _: write(replace(CARD, name=name))},
        metrics={EXTRA: lambda _: write(WorkerState(busy={}))},
    )


@pytest.mark.usefixtures("_uncollected")
def test_an_unreachable_worker_does_not_delay_other_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results of the others arrive although those of this worker can't be fetched, and so are lost."""
    configure_dask()
    monkeypatch.setattr("arena.scheduler.cluster.link._MAX_FETCH_SECONDS", 3.0)
    asyncio.run(_check_unreachable_worker(tmp_path))


async def _check_unreachable_worker(folder: Path) -> None:
    async with (
        Scheduler(host="tcp://127.0.0.1:0", dashboard=False, dashboard_address=UNUSED_ADDRESS) as scheduler,
        _worker(scheduler, folder, "cut-off") as cut_off,
        _worker(scheduler, folder, "other"),
    ):
        loop = asyncio.get_running_loop()

        def answers() -> None:
            link = Link(scheduler.address, Security(require_encryption=False), "s", lambda *_: None)
            with closing(link):
                members = {member.card.name: member for member in link.members()}
                asyncio.run_coroutine_threadsafe(_stop_listening(cut_off), loop).result(WAIT_SECONDS)
                lost: list[Future[bytes]] = []
                # The matches must end at different times, or dask would fetch their results together.
                for number in range(10):
                    lost.append(link.submit(members["cut-off"], 1, play_here, b"", "s", str(number)))
                    wait_until(lambda: len(cut_off.data) > number, "the end of the match")  # noqa: B023 - called immediately
                    time.sleep(0.2)
                assert link.submit(members["other"], 1, play_here, b"", "s", "t").result(WAIT_SECONDS)
                while lost:
                    with pytest.raises(TimeoutError, match="scheduler can't reach it"):
                        lost.pop().result(WAIT_SECONDS)
                wait_until(lambda: not scheduler.tasks, "no matches that dask could play again")

        await asyncio.to_thread(answers)


async def _stop_listening(worker: Worker) -> None:
    worker._stop_listeners()  # noqa: SLF001 - its other connections must stay


async def _results_left(folder: Path, cuts: int) -> None:
    async with (
        Scheduler(host="tcp://127.0.0.1:0", dashboard=False, dashboard_address=UNUSED_ADDRESS) as scheduler,
        _worker(scheduler, folder, "name") as worker,
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
        scheduler: Any = link._client.scheduler  # noqa: SLF001 - only this call must fail
        gather, failures = scheduler.gather, iter(range(cuts))

        async def flaky_gather(**options: object) -> dict[str, object]:
            if next(failures, None) is not None:
                raise OSError("the connection was cut")
            fetched: dict[str, object] = await gather(**options)
            return fetched

        scheduler.gather = flaky_gather
        return link

    workers = ClusterWorkers(connect, lambda _: None, lambda: datetime.now(UTC))
    workers.poll()
    reservation = workers.reserve(2)
    assert reservation is not None
    assert reservation.play(b"spec", lambda _: None).result(WAIT_SECONDS) == b"record"
    reservation.report(Verdict.VALID)
    return workers
