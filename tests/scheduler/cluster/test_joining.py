"""A worker that rejoins while its scheduler still lists its previous connection."""

import asyncio
import signal
from pathlib import Path

import pytest
from distributed import Scheduler, Security, Worker

from arena.play.launcher.slots import SlotPool
from arena.protocol.match import RuntimeName
from arena.sandbox.process.runtime import ProcessRuntime
from arena.scheduler.cluster import host
from arena.scheduler.cluster.host import MatchRunner, WorkerOptions, run_worker
from arena.scheduler.cluster.member import UNUSED_ADDRESS, MemberHealth, configure_dask, wait_until
from arena.scheduler.cluster.messages import WorkerCard
from tests.patience import WAIT_SECONDS
from tests.ports import free_port

CARD = WorkerCard(
    run="run", name="name", host="host", seats=5, cpus=0.4, runtime=RuntimeName.PROCESS, report=b""
)


def test_a_worker_rejoins_at_its_port_once_its_previous_connection_is_gone(
    tmp_path: Path, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then, it reports that it can't join. dask itself would wait without a limit."""
    monkeypatch.setattr(host, "_JOIN_SECONDS", 1.0)
    configure_dask()
    asyncio.run(_rejoin(tmp_path, MatchRunner(ProcessRuntime(), "test", run_dir, SlotPool(5, 0.4))))


async def _rejoin(folder: Path, runner: MatchRunner) -> None:
    security, port = Security(require_encryption=False), free_port()
    health, said = MemberHealth("not started"), list[str]()
    async with (
        asyncio.timeout(WAIT_SECONDS),
        Scheduler(host="tcp://127.0.0.1:0", dashboard=False, dashboard_address=UNUSED_ADDRESS) as scheduler,
    ):
        previous = await Worker(
            scheduler.address,
            name="name",
            host="127.0.0.1",
            port=port,
            memory_limit=0,
            local_directory=str(folder / "previous"),
            dashboard=False,
            dashboard_address=UNUSED_ADDRESS,
        )
        # As after a network failure that only the worker has noticed.
        previous._stop_listeners()  # noqa: SLF001 - has no public version
        options = WorkerOptions(
            scheduler=scheduler.address,
            host="127.0.0.1",
            port=port,
            security=security,
            card=CARD,
            folder=folder / "worker",
        )
        worker = asyncio.create_task(run_worker(options, runner, health, said.append))
        await wait_until(lambda: "did not answer" in str(health.missing))
        assert not said
        await previous.close()
        await wait_until(lambda: health.missing is None)
        assert said == [f"name has joined {scheduler.address} with 5 slots"]
        signal.raise_signal(signal.SIGTERM)
        await worker
