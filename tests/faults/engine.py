"""A second Docker engine that a test may stop, while the host's own keeps running."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import docker
from docker.errors import DockerException
from requests.exceptions import RequestException

from arena.images.build.context import CANARY_IMAGE
from arena.languages.python import PYTHON
from arena.protocol.match import RuntimeName
from tests.faults.killing import installed
from tests.faults.processes import Popen, begin, below, bury, is_orphan, wait_until
from tests.faults.tally import Tally
from tests.folders import short_folder

_START_SECONDS: Final = 60.0


class Engine:
    """A second engine on this host, without network, which stores everything in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.address = f"unix://{folder / 'docker.sock'}"
        self._folder = folder
        self._process: Popen | None = None

    def start(self) -> None:
        """Start the engine, and wait until it responds."""
        words = {
            "host": self.address,
            "data-root": self._folder / "data",
            "exec-root": self._folder / "exec",
            "pidfile": self._folder / "pid",
            "bridge": "none",
            "iptables": "false",
            "ip6tables": "false",
        }
        log = self._folder / "log"
        # In a network namespace, since with `--bridge=none` it removes the bridge of the host's engine.
        own = [_program("unshare"), "--net", "--", _program("dockerd")]
        self._process = begin([*own, *(f"--{name}={value}" for name, value in words.items())], log)
        try:
            wait_until(self.answers, _START_SECONDS, "no engine responds")
        except TimeoutError as error:
            raise RuntimeError(f"{error}: {log.read_text()[-4_000:]}") from error

    def answers(self) -> bool:
        """Return True if the engine responds."""
        with suppress(DockerException, RequestException, OSError):
            client = docker.DockerClient(base_url=self.address, timeout=5)
            try:
                return bool(client.ping())
            finally:
                client.close()
        return False

    def stop(self, *, killed: bool) -> None:
        """Stop the engine: with all containers, as its service does, or with ``kill -9``, without them."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL if killed else signal.SIGTERM)
        self._process.wait(_START_SECONDS)
        # The engine's containerd ends with it. The next engine would mistake one that was left for its own.
        wait_until(self._is_alone, _START_SECONDS, "containerd is still running")

    def _is_alone(self) -> bool:
        bury()
        daemon = f"containerd --config {self._folder}"
        # A zombie counts as running until it is reaped. Zombies of shims don't matter.
        return not any(daemon in each.command or is_orphan(each) for each in below(os.getpid()))

    def close(self) -> None:
        """Stop the engine and its processes, and unmount its folders."""
        try:
            if self._process is not None and self._process.poll() is None:
                self.stop(killed=False)
        finally:
            for process in below(os.getpid()):
                if str(self._folder) in process.command:
                    process.kill()
        mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        for mount in sorted((each for each in mounts if each.startswith(str(self._folder))), reverse=True):
            subprocess.run(["umount", "--lazy", mount], check=False)  # noqa: S603, S607 - our own words
        shutil.rmtree(self._folder, ignore_errors=True)

    def take_images(self, *names: str) -> None:
        """Copy images from the host's engine, which saves a build."""
        program = _program("docker")
        with subprocess.Popen([program, "save", *names], stdout=subprocess.PIPE) as saved:  # noqa: S603 - Docker's own
            subprocess.run(  # noqa: S603 - as above
                [program, "--host", self.address, "load"], stdin=saved.stdout, check=True, capture_output=True
            )


def _program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if found is None:
        raise RuntimeError(f"{name} is not installed: apt-get install docker.io util-linux")
    return found


@contextmanager
def engine_alone() -> Iterator[Engine]:
    """Start an engine that the test may stop."""
    with short_folder() as folder:
        engine = Engine(folder)
        try:
            engine.start()
            yield engine
        finally:
            engine.close()


def stop_the_engine(tally: Tally, dice: random.Random, times: int) -> None:
    """Stop the engine in the middle of matches, alternately by SIGTERM and SIGKILL, and start it again."""
    with (
        engine_alone() as engine,
        installed(RuntimeName.DOCKER, variables={"DOCKER_HOST": engine.address}) as arena,
    ):
        engine.take_images(PYTHON.base_image, CANARY_IMAGE)
        for turn in range(1, times + 1):
            arena.queue(dice, 2, deals=24)
            if arena.ended:
                arena.start_and_claim()
            else:
                arena.wait_for_claim(arena.ledger.claims(), time.monotonic())
            time.sleep(dice.uniform(0, 3))
            engine.stop(killed=turn % 2 == 0)
            time.sleep(dice.uniform(0, 3))
            before = arena.ledger.claims()
            arena.queue(dice)  # so that there is a match to claim
            engine.start()
            tally.again.append(arena.wait_for_claim(before, time.monotonic()))
            tally.times = turn
        arena.play_out()
        tally.close(arena)
