"""A scheduler and workers as separate processes that tests can kill and restart."""

import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import httpx2

from arena.app.worker import work
from arena.cli.console import say
from arena.cli.operating import settings_of_arena
from arena.platform.settings import Address, Settings
from arena.protocol.match import RuntimeName
from arena.scheduler.cluster.certificates import make_keys
from arena.scheduler.cluster.member import Keys
from tests.cli import forked
from tests.folders import short_folder
from tests.patience import WAIT_SECONDS, wait_until
from tests.ports import free_port


class Hosts:
    """A cluster on one machine. Each process has its own folder, as if it ran on its own host.

    The path of ``folder`` must be short, because it will contain sockets.
    """

    def __init__(self, folder: Path, sandbox: RuntimeName, images: Path | None = None) -> None:
        self.folder = folder
        self.keys = folder / "keys"
        make_keys(self.keys, ("scheduler", "coordinator", "worker"), datetime.now(UTC))
        self.port = free_port()
        self._sandbox = sandbox
        self._images = images
        self._processes: dict[str, ForkServerProcess] = {}
        self._begun: dict[str, int] = {}

    def settings(self, name: str = "coordinator") -> Settings:
        """Return a coordinator's settings for this cluster, with additional settings."""
        return Settings(
            data_dir=self.folder / "coordinator",
            run_dir=self.folder / "r",
            sandbox=self._sandbox,
            executor=Address("127.0.0.1", self.port),
            images_url=None if self._images is None else str(self._images),
            cluster_ca=self.keys / name / "ca.pem",
            cluster_cert=self.keys / name / "member.pem",
            cluster_key=self.keys / name / "member.key",
        )

    def start(
        self,
        name: str,
        *arguments: str,
        key: str,
        program: Callable[[], int | None] = forked.arena_on_two_cores,
        **variables: str,
    ) -> None:
        """Start a command as a member of the cluster, with additional environment variables."""
        log = self.folder / f"{name}.log"
        log.touch()
        self._begun[name] = log.stat().st_size
        environment = self._environment(name, key) | variables
        self._processes[name] = forked.member(arguments, environment, log, program)

    def start_scheduler(self) -> None:
        """Start the scheduler, or restart it after it was killed."""
        self.start("scheduler", "scheduler", f"127.0.0.1:{self.port}", key="scheduler")

    def start_worker(self, name: str) -> None:
        """Start a worker, or restart it after it was killed."""
        self.start(name, "worker", key="worker")

    def ask(self, name: str, path: str) -> httpx2.Response | None:
        """Send a request to a process's ops endpoint. Return None if it isn't listening yet."""
        said = self.log(name).encode()[self._begun[name] :].decode()
        assert self._processes[name].is_alive(), said
        told = re.search(r'"event":"ops endpoint listening","address":"([^"]+)"', said)
        return None if told is None else httpx2.get(f"http://{told[1]}{path}", timeout=WAIT_SECONDS)

    def is_up(self, name: str) -> bool:
        """Return whether a process is ready."""
        answer = self.ask(name, "/readyz")
        return answer is not None and answer.status_code == httpx2.codes.OK

    def await_up(self, *names: str) -> None:
        """Wait until these processes are ready."""
        for name in names:
            wait_until(partial(self.is_up, name))

    def kill(self, name: str) -> None:
        """Kill a process with SIGKILL, as if its host had lost power."""
        process = self._processes.pop(name)
        process.kill()
        process.join()

    def process_of(self, worker: str) -> str:
        """Return the name of the process that runs the worker with this name."""
        (name,) = (name for name in self._processes if worker.endswith(f"-{self._install(name)}"))
        return name

    def freeze(self, name: str) -> None:
        """Stop a process with SIGSTOP, as if its host had become unreachable."""
        self._signal(name, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Resume a frozen process."""
        self._signal(name, signal.SIGCONT)

    def tell(self, name: str) -> None:
        """Send SIGTERM to a process."""
        self._processes[name].terminate()

    def ended(self, name: str) -> int:
        """Wait for a process to exit, and return its exit code."""
        process = self._processes.pop(name)
        process.join(WAIT_SECONDS)
        assert process.exitcode is not None, self.log(name)
        return process.exitcode

    def log(self, name: str) -> str:
        """Return everything that a process has logged."""
        return (self.folder / f"{name}.log").read_text()

    def close(self) -> None:
        """Stop all processes, with SIGKILL if SIGTERM doesn't stop them in time."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.join(WAIT_SECONDS)
            process.kill()
            process.join()

    def _install(self, name: str) -> str | None:
        """Return the id of a worker's installation, with which its name ends, or None if it has none yet."""
        file = self.folder / name / "install"
        return file.read_text().strip() if file.exists() else None

    def _signal(self, name: str, number: signal.Signals) -> None:
        pid = self._processes[name].pid
        assert pid is not None
        os.kill(pid, number)

    def _environment(self, name: str, key: str) -> dict[str, str]:
        data = self.folder / name
        images = {} if self._images is None else {"ARENA_IMAGES_URL": str(self._images)}
        return {
            **os.environ,
            **images,
            "ARENA_DATA_DIR": str(data),
            "ARENA_RUN_DIR": str(self.folder / "r"),
            "ARENA_SANDBOX": self._sandbox.value,
            "ARENA_EXECUTOR": f"dask://127.0.0.1:{self.port}",
            "ARENA_CLUSTER_CA": str(self.keys / key / "ca.pem"),
            "ARENA_CLUSTER_CERT": str(self.keys / key / "member.pem"),
            "ARENA_CLUSTER_KEY": str(self.keys / key / "member.key"),
            "ARENA_OPS_ADDRESS": "127.0.0.1:0",
        }


def work_and_name_threads() -> None:
    """Run a worker that lists its threads in each message."""
    work(
        settings_of_arena(),
        0,
        lambda text: say(f"{text}; threads: {[thread.name for thread in threading.enumerate()]}"),
    )


@contextmanager
def hosts(
    sandbox: RuntimeName = RuntimeName.PROCESS, images: Path | None = None, *, workers: int = 3
) -> Iterator[Hosts]:
    """Yield a running cluster with this many workers."""
    with short_folder() as folder:
        folder.chmod(0o711)
        with closing(Hosts(folder, sandbox, images)) as cluster:
            names = [f"worker{number}" for number in range(workers)]
            cluster.start_scheduler()
            for name in names:
                cluster.start_worker(name)
            cluster.await_up("scheduler", *names)
            yield cluster


def keys(folder: Path, name: str) -> Keys:
    """Return a member's certificate and key."""
    return Keys(
        ca=folder / name / "ca.pem", cert=folder / name / "member.pem", key=folder / name / "member.key"
    )
