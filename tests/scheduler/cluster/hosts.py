"""A scheduler and workers as separate processes, that can be killed and started again."""

import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import httpx2

from arena.cli.main import main
from arena.platform.settings import Address, Settings
from arena.protocol.match import RuntimeName
from arena.scheduler.cluster.certificates import make_keys
from arena.scheduler.cluster.member import Keys
from tests.cli import forked
from tests.ports import free_port

WAIT_SECONDS = 120


class Hosts:
    """Where each process has a folder of its own, as if it had a host of its own.

    Args:
        folder: For all of them; short, since sockets lie below it.
        sandbox: How bots are run.
        images: Where their images are, for Docker.
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
        """Return the settings of a coordinator in this cluster, with these keys."""
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
        program: Callable[[], int | None] = main,
        **variables: str,
    ) -> None:
        """Start a command as a member of the cluster, with these variables of its environment besides."""
        log = self.folder / f"{name}.log"
        log.touch()
        self._begun[name] = log.stat().st_size
        environment = self._environment(name, key) | variables
        self._processes[name] = forked.member(arguments, environment, log, program)

    def start_scheduler(self) -> None:
        """Start the scheduler, again after it was killed."""
        self.start("scheduler", "scheduler", f"127.0.0.1:{self.port}", key="scheduler")

    def start_worker(self, name: str) -> None:
        """Start a worker, again after it was killed."""
        self.start(name, "worker", key="worker")

    def ask(self, name: str, path: str) -> httpx2.Response | None:
        """Ask a process how it is, as a supervisor does; None before it can be asked."""
        said = self.log(name).encode()[self._begun[name] :].decode()
        assert self._processes[name].is_alive(), said
        told = re.search(r'"event":"ops endpoint listening","address":"([^"]+)"', said)
        return None if told is None else httpx2.get(f"http://{told[1]}{path}", timeout=WAIT_SECONDS)

    def is_up(self, name: str) -> bool:
        """Whether a process is a member."""
        answer = self.ask(name, "/readyz")
        return answer is not None and answer.status_code == httpx2.codes.OK

    def await_up(self, *names: str) -> None:
        """Wait until these are members."""
        for name in names:
            wait_until(partial(self.is_up, name))

    def kill(self, name: str) -> None:
        """End a process without a word, as if its host had lost its power."""
        process = self._processes.pop(name)
        process.kill()
        process.join()

    def process_of(self, worker: str) -> str:
        """Return the name of the process that is the worker with this name."""
        (name,) = (name for name in self._processes if worker.endswith(f"-{self._install(name)}"))
        return name

    def freeze(self, name: str) -> None:
        """Stop a process without ending it, as if its host could not be reached any more."""
        self._signal(name, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Let it go on where it was stopped."""
        self._signal(name, signal.SIGCONT)

    def tell(self, name: str) -> None:
        """Ask a process to end."""
        self._processes[name].terminate()

    def ended(self, name: str) -> int:
        """Wait until a process has ended, and return its exit code."""
        process = self._processes.pop(name)
        process.join(WAIT_SECONDS)
        assert process.exitcode is not None, self.log(name)
        return process.exitcode

    def log(self, name: str) -> str:
        """Return all that a process has said."""
        return (self.folder / f"{name}.log").read_text()

    def close(self) -> None:
        """End all, and what killed workers have left: the next one in its place would sweep it."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.join(WAIT_SECONDS)
            process.kill()
            process.join()

    def _install(self, name: str) -> str | None:
        """Return the id of a worker's installation, of which its name ends; None where there is none."""
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


@contextmanager
def hosts(
    sandbox: RuntimeName = RuntimeName.PROCESS, images: Path | None = None, *, workers: int = 3
) -> Iterator[Hosts]:
    """Give a cluster that runs, with this many workers."""
    folder = Path(tempfile.mkdtemp(prefix="kc-"))
    folder.chmod(0o711)
    cluster = Hosts(folder, sandbox, images)
    try:
        names = [f"worker{number}" for number in range(workers)]
        cluster.start_scheduler()
        for name in names:
            cluster.start_worker(name)
        cluster.await_up("scheduler", *names)
        yield cluster
    finally:
        cluster.close()
        shutil.rmtree(folder, ignore_errors=True)


def keys(folder: Path, name: str) -> Keys:
    """Return a member's keys."""
    return Keys(
        ca=folder / name / "ca.pem", cert=folder / name / "member.pem", key=folder / name / "member.key"
    )


def wait_until(condition: Callable[[], object], seconds: float = WAIT_SECONDS) -> None:
    """Wait until something is so.

    Raises:
        TimeoutError: It isn't, after so long.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.05)
