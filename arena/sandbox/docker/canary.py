"""Starts the canary's containers, watches them, and removes them."""

import json
import os
import secrets
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import docker

from arena.platform.cpu_time import unmeasured_reason
from arena.protocol.match import Limits
from arena.sandbox.canary.evidence import TASKS, Evidence, ProbedEngine, ProbeResult, Share, last_observations
from arena.sandbox.docker.engine import engine_errors
from arena.sandbox.docker.policy import container_arguments
from arena.sandbox.docker.sandbox import DockerSandbox
from arena.sandbox.kernel.cgroups import CommonGroup
from arena.sandbox.runtime import (
    INSTALL_LABEL,
    OPEN_FILES,
    SOCKET_NAME,
    TMP_FILES,
    LaunchRefused,
    RuntimeFailure,
    SandboxSpec,
    slot_owner,
)

if TYPE_CHECKING:
    from arena.sandbox.docker.runtime import DockerRuntime

_NANO: Final = 1e9


def share_between(before: dict[str, Any], after: dict[str, Any], seconds: float) -> Share | None:
    """Return a container's share of the processor between two readings of its usage, ``seconds`` apart.

    Return None if the container has ended, because its usage is then incomplete.
    """
    try:
        then, now = before["cpu_stats"], after["cpu_stats"]
        used = now["cpu_usage"]["total_usage"] - then["cpu_usage"]["total_usage"]
        throttled = now["throttling_data"]["throttled_periods"] - then["throttling_data"]["throttled_periods"]
    except KeyError:
        return None
    return Share(cores=used / _NANO / seconds, throttled=throttled) if used >= 0 else None


def _has_strict_overcommit() -> bool:
    """Return True if this host's ``vm.overcommit_memory`` is 2. Bots can't read it."""
    try:
        return Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "2"
    except OSError:  # this process can't read it either
        return False


INSTALL: Final = "canary"
"""Install label of the canary's containers, whichever installation or command started them."""

_PREFIX: Final = "canary-"
"""Prefix of the canary's socket folders."""

_SLOT: Final = 1_000
"""The canary's first slot: far above the slots of matches, so that the canary can run alongside them."""

_CPU_WAIT_WARNING: Final = (
    "on a busy host, bots may be counted as late, because the time they wait for a CPU can't be measured: "
    "{}. Run the arena on the engine's host, or give its container the host's PID namespace (pid: host) and "
    "/sys/fs/cgroup"
)

_DEADLINE_SECONDS: Final = 1
_TIMEOUT_SECONDS: Final = 20.0
"""Time limit for a probe on a busy host. A slower probe counts as not responding."""

_DEADLINE_TIMEOUT_SECONDS: Final = 10.0
"""Time limit for the probe that tests the deadline. If it is still running then, even on a busy host, the
deadline did not end it."""

_SHARE_SECONDS: Final = 1.0
_SHARE_ROUNDS: Final = 3
"""Maximum number of measurements. On a busy host, a container doesn't reach its quota immediately."""

_STALE_SECONDS: Final = 120
"""Age after which a canary's containers count as leftovers of a killed process."""

SlotOwner = Callable[[int, int, int], tuple[int, int]]


class Canary:
    """Tests the controls of one engine with one runtime.

    The caller closes ``client``. ``image`` is the id of the probe's image. No other user may write to
    ``run_dir``. ``group`` limits all bots together. ``owner`` returns the owner of a slot's socket.
    """

    def __init__(  # noqa: PLR0913 - the same dependencies as a match
        self,
        client: docker.APIClient,
        runtime: "DockerRuntime",
        *,
        image: str,
        run_dir: Path,
        limits: Limits,
        group: CommonGroup,
        owner: SlotOwner = slot_owner,
    ) -> None:
        self._client = client
        self._runtime = runtime
        self._image = image
        self._run_dir = run_dir
        self._limits = limits
        self._group = group
        self._owner = owner
        self._id = f"{int(time.time())}-{secrets.token_hex(4)}"

    def check(self) -> Evidence:
        """Test all controls, and return the evidence.

        Raises RuntimeFailure if the engine is not responding, or can't start containers.
        """
        engine = self._engine()
        self._sweep()
        arguments = container_arguments(self._spec("look", self._run_dir), self._runtime.host, ())
        with ThreadPoolExecutor(len(TASKS), thread_name_prefix="canary") as executor:
            trials = dict(zip(TASKS, executor.map(self._run_task, TASKS), strict=True))
        return Evidence(
            engine=engine,
            limits=self._limits,
            pids=arguments["host_config"]["PidsLimit"],
            owner=self._owner_of(_SLOT + TASKS.index("look")),
            environment=self._expected_environment(arguments),
            deadline_seconds=_DEADLINE_SECONDS,
            strict_overcommit=_has_strict_overcommit(),
            not_cached_reason=self._runtime.not_cached_reason(self._image),
            trials=trials,
        )

    def _engine(self) -> ProbedEngine:
        with engine_errors("query the engine"):
            info: dict[str, Any] = self._client.info()
        return ProbedEngine(
            host=info["Name"],
            version=info["ServerVersion"],
            kernel=info["KernelVersion"],
            cgroup_version=info.get("CgroupVersion", "1"),
            cgroup_driver=info["CgroupDriver"],
        )

    def _sweep(self) -> None:
        """Remove the leftovers of killed canaries."""
        self._runtime.sweep(INSTALL, _is_recent)
        for folder in self._run_dir.glob(f"{_PREFIX}*"):
            with suppress(FileNotFoundError):  # another canary has just removed its folder
                if time.time() - folder.stat().st_mtime > _STALE_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)

    def _expected_environment(self, arguments: dict[str, Any]) -> dict[str, str]:
        """Return a bot's complete environment. The engine sets HOSTNAME."""
        with engine_errors(f"inspect image {self._image}"):
            config = self._client.inspect_image(self._image)["Config"]  # type: ignore[no-untyped-call] # untyped in its stubs
        image = dict(line.split("=", 1) for line in config.get("Env") or ())
        return {**image, "HOSTNAME": arguments["hostname"], **arguments["environment"]}

    def _owner_of(self, slot: int) -> tuple[int, int]:
        return self._owner(slot, os.geteuid(), os.getegid())

    def _spec(self, task: str, folder: Path) -> SandboxSpec:
        return SandboxSpec(
            name=f"arena-canary-{self._id}-{task}",
            source=self._image,
            socket_dir=folder,
            slot=_SLOT + TASKS.index(task),
            limits=self._limits,
            deadline_seconds=_DEADLINE_SECONDS if task == "deadline" else int(3 * _TIMEOUT_SECONDS),
            labels={INSTALL_LABEL: INSTALL},
        )

    def _run_task(self, task: str) -> ProbeResult:
        with self._folder(task) as folder:
            spec = self._spec(task, folder)
            try:
                sandbox = self._runtime.launch(spec)
            except LaunchRefused as error:
                raise RuntimeFailure(f"the canary's image can't be started: {error}") from error
            try:
                if task == "cpu":
                    return self._measure_cpu(sandbox, spec.name)
                timeout = _DEADLINE_TIMEOUT_SECONDS if task == "deadline" else _TIMEOUT_SECONDS
                return self._await_end(sandbox, spec.name, timeout)
            finally:
                sandbox.remove()

    def _await_end(self, sandbox: DockerSandbox, name: str, timeout: float) -> ProbeResult:
        """Wait for a probe to end; remove it if it is still running after ``timeout`` seconds."""
        late = threading.Event()

        def end() -> None:
            late.set()
            with suppress(RuntimeFailure):  # wait() below fails, too
                sandbox.remove()

        timer = threading.Timer(timeout, end)
        timer.start()
        try:
            ended = sandbox.wait()
        finally:
            timer.cancel()
        observations = last_observations(sandbox.stderr())
        if late.is_set():
            return ProbeResult(
                observations=observations, exit=ended, in_time=False, warnings=sandbox.warnings
            )
        found = self._inspect(name)
        return ProbeResult(
            observations=observations,
            exit=ended,
            in_time=True,
            memory=found["HostConfig"]["Memory"],
            memory_and_swap=found["HostConfig"]["MemorySwap"],
            log_bytes=self._log_bytes(name, found),
            warnings=sandbox.warnings,
        )

    def _measure_cpu(self, sandbox: DockerSandbox, name: str) -> ProbeResult:
        """Measure the CPU share of a probe that runs a busy loop."""
        share: Share | None = None
        found = self._inspect(name)
        shared_limit = self._group.check(found["Id"])
        disk_rate = self._disk_rate(found)
        # Don't use the engine's timestamps, which it adds some time after each reading. On a busy host, they
        # may be closer together than the readings, which would make the share too large.
        begun = time.monotonic()
        before = self._usage(name)
        for _ in range(_SHARE_ROUNDS):
            time.sleep(_SHARE_SECONDS)
            share = share_between(before, self._usage(name), time.monotonic() - begun) or share
            if share is not None and (share.throttled or share.cores > self._limits.cpus):
                break  # seen enough
        unmeasured = unmeasured_reason(sandbox.cpu)
        sandbox.remove()
        return ProbeResult(
            observations={},
            exit=sandbox.wait(),
            in_time=True,
            cpus=found["HostConfig"]["NanoCpus"] / _NANO,
            share=share,
            shared_limit=shared_limit,
            disk_rate=disk_rate,
            warnings=(*sandbox.warnings, *([_CPU_WAIT_WARNING.format(unmeasured)] if unmeasured else [])),
        )

    def _inspect(self, name: str) -> dict[str, Any]:
        with engine_errors(f"inspect container {name}"):
            found: dict[str, Any] = self._client.inspect_container(name)
        return found

    def _log_bytes(self, name: str, found: dict[str, Any]) -> int:
        """Return the size of a container's stored stdout."""
        if found["HostConfig"]["LogConfig"]["Type"] == "none":
            return 0
        with engine_errors(f"read the log of container {name}"):
            kept: bytes = self._client.logs(name, stdout=True, stderr=False)
        return len(kept)

    def _usage(self, name: str) -> dict[str, Any]:
        """Return a running container's CPU usage so far, with a timestamp."""
        with engine_errors(f"read the usage of container {name}"):
            used: dict[str, Any] = self._client.stats(name, stream=False, one_shot=True)
        return used

    def _disk_rate(self, found: dict[str, Any]) -> int | None:
        """Return a container's limit on disk reads, from its control group or else from the engine."""
        with suppress(OSError):
            return self._group.disk_rate(found["Id"])
        kept = found["HostConfig"].get("BlkioDeviceReadBps") or ()
        return min((limit["Rate"] for limit in kept), default=None)

    @contextmanager
    def _folder(self, task: str) -> Iterator[Path]:
        """Create a socket folder as for a match; it also contains the task and another slot's socket."""
        slot = _SLOT + TASKS.index(task)
        mine, others = self._owner_of(slot), self._owner_of(slot + len(TASKS))
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._run_dir))
        try:
            folder.chmod(0o711)
            (folder / "task").write_text(json.dumps({"name": task, "limits": self._probe_limits()}))
            with _listening(folder / SOCKET_NAME, mine), _listening(folder / "other.sock", others):
                if os.geteuid() != 0:
                    (folder / "other.sock").unlink()  # without root, only the mount separates the bots
                yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _probe_limits(self) -> dict[str, int]:
        """Return the limits, keyed by the names that the probe uses."""
        mebibyte = 1024 * 1024
        limits = asdict(self._limits)
        return {
            "memory_bytes": limits["memory_mib"] * mebibyte,
            "tmp_bytes": limits["tmp_mib"] * mebibyte,
            "file_bytes": limits["tmp_mib"] * mebibyte,
            "tmp_files": TMP_FILES,
            "open_files": OPEN_FILES,
            "processes": limits["pids"],
        }


def _is_recent(name: str) -> bool:
    """Return True if the canary that started the container with this name may still be running."""
    return time.time() - int(name.split("-")[2]) < _STALE_SECONDS


@contextmanager
def _listening(path: Path, owner: tuple[int, int]) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.bind(str(path))
        except OSError as error:
            raise RuntimeFailure(
                f"can't create the socket {path}: {error}; choose another ARENA_RUN_DIR"
            ) from error
        server.listen()
        path.chmod(0o600)
        os.lchown(path, *owner)
        yield
