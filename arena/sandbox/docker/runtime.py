"""Runs bots in Docker containers, according to the launch template in ``policy``."""

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final

import docker
import structlog
from docker.errors import APIError

from arena.protocol.match import Limits
from arena.protocol.sandbox_controls import HostReport
from arena.sandbox.canary.judge import report_of
from arena.sandbox.docker.canary import Canary
from arena.sandbox.docker.engine import (
    PING_SECONDS,
    disk_of_engine,
    engine_errors,
    launch_errors,
    with_timeout,
)
from arena.sandbox.docker.images import (
    DockerImages,
    EngineImage,
    is_image_id,
)
from arena.sandbox.docker.init_program import InitVolume, init_for
from arena.sandbox.docker.policy import (
    EngineHost,
    cgroup_parent,
    container_arguments,
    describe_limits,
    pids_limit,
)
from arena.sandbox.docker.sandbox import DockerSandbox, remove_bot
from arena.sandbox.kernel.cgroups import (
    CgroupLocation,
    CommonGroup,
    SharedMemoryOverruns,
    cap_for,
    containers_below,
    end_container,
    reclaim_cache,
)
from arena.sandbox.kernel.page_cache import PageCacheWarmer
from arena.sandbox.runtime import (
    INSTALL_LABEL,
    CanaryParts,
    EngineUnavailable,
    ImageSource,
    RuntimeFailure,
    SandboxesLeft,
    SandboxSpec,
)

_log = structlog.get_logger()


class DockerRuntime:
    """Runs each bot in its own container.

    Raises RuntimeFailure if the engine is not responding, or can't run bots in containers.
    """

    isolates = True

    def __init__(
        self,
        client: docker.APIClient,  # from `arena.sandbox.docker.engine.connect`; closed by `close`
        *,
        cores: str = "",  # cores that bots may use, such as `1-3`; empty for all
        runtime: str | None = None,  # the engine's name for the container runtime; None: see `choose_runtime`
        # The installation's id, for its bots' own control group; without an id, all installations share one.
        install: str = "",
        images: ImageSource | None = None,  # the submitted images, loaded when needed; None if there are none
    ) -> None:
        with engine_errors("query the engine"):
            info = client.info()
        self._client = client
        self._images = DockerImages(client, images)
        self._page_cache_warmer = PageCacheWarmer()
        self._not_cached: dict[str, str] = {}
        chosen = choose_runtime(info, runtime)
        gvisor = _is_gvisor(info["Runtimes"][chosen])
        init = init_for(info["Architecture"], readable=gvisor)
        self._init = InitVolume(client, init)
        # Health checks must not wait for slow calls to the engine.
        self._health_client = with_timeout(client, PING_SECONDS)
        self._health_init = InitVolume(self._health_client, init)
        self.describe = f"docker/{chosen}"
        self.host = EngineHost(
            runtime=chosen,
            gvisor=gvisor,
            cgroup_parent=cgroup_parent(info["CgroupDriver"], install),
            init_file=init.file(info["DockerRootDir"]),
            uid=os.geteuid(),
            gid=os.getegid(),
            cores=cores,
            disk=disk_of_engine(client.base_url, info),
        )
        self._cores = int(info["NCPU"])
        self._own_group = bool(install)  # True if another engine's bots can't be in the control group
        self._location = CgroupLocation(
            parent=self.host.cgroup_parent,
            driver=info["CgroupDriver"],
            version=int(info["CgroupVersion"]),
            scope="docker",
        )
        self._overruns = SharedMemoryOverruns(self._location)
        self._namespaces = _open_namespaces()

    def common_group(self, limits: Limits, slots: int) -> CommonGroup:
        """Return the control group that all bots share, capped for ``slots`` bots with these limits."""
        return CommonGroup(self._location, cap_for(limits, slots, pids_limit(limits, self.host), self._cores))

    def examine(
        self, canary: Callable[[], CanaryParts], limits: Limits, slots: int, now: Callable[[], datetime]
    ) -> HostReport:
        """Check which controls this host has."""
        image, run_dir = canary()
        group = self.common_group(limits, slots)
        evidence = Canary(
            self._client, self, image=image, run_dir=run_dir, limits=limits, group=group
        ).check()
        return report_of(evidence, self.describe, now())

    def unavailable_reason(self) -> str | None:
        """Return why bots can't run, or None if no reason is known.

        An engine that is shutting down still answers pings for a few seconds, but does nothing else. If the
        engine hangs, each call to this method takes a few seconds.
        """
        try:
            with engine_errors("reach the engine"):
                self._health_client.ping()
            self._health_init.ensure()
            return self._images.unavailable_reason()
        except RuntimeFailure as error:
            return str(error)

    def has_source(self, source: str) -> bool:
        """Return True if the source is an image id."""
        return is_image_id(source)

    def is_missing(self, source: str) -> bool:
        """Return True if neither the engine nor the image store has the image. Raises RuntimeFailure."""
        return self._images.is_missing(source)

    def check_source(self, source: str) -> None:
        """Check that an image can be started with the launch template, and load the image if necessary.

        Raises the same errors as :meth:`DockerImages.find`.
        """
        self._images.find(source)

    def launch(self, spec: SandboxSpec) -> DockerSandbox:
        """Start a bot's container."""
        image = self._images.find(spec.source)
        if not spec.socket_dir.is_dir():
            raise RuntimeFailure(f"{spec.socket_dir} is not a folder; create it and open the socket first")
        self._init.ensure()
        self._warm(image)
        reclaim_cache(self._location)
        try:
            sandbox = self._create(replace(spec, source=image.id), image.command)
            self._start(sandbox)
        except BaseException:
            self._init.forget()
            raise
        return sandbox

    def _start(self, sandbox: DockerSandbox) -> None:
        try:
            sandbox.start()
        except BaseException:
            with contextlib.suppress(RuntimeFailure):
                sandbox.remove()
            raise

    def not_cached_reason(self, source: str) -> str:
        """Return why an image's layers are not all in memory, or "" if they are.

        Raises the same errors as ``launch``.
        """
        return self._warm(self._images.find(source))

    def _warm(self, image: EngineImage) -> str:
        cold = self._page_cache_warmer.warm(image.layers)
        if cold and self._not_cached.get(image.id) != cold:  # log once, not on every launch
            _log.warning("image not in memory", image=image.id, reason=cold)
        self._not_cached[image.id] = cold
        return cold

    def _create(self, spec: SandboxSpec, command: tuple[str, ...]) -> DockerSandbox:
        arguments = container_arguments(spec, self.host, command)
        with launch_errors(f"create container {spec.name}"):
            try:
                answer = self._client.create_container(**arguments)
            except APIError:
                raise  # nothing was created; the name may belong to another container
            except BaseException:
                # The response was lost; the container may exist.
                with contextlib.suppress(OSError):
                    self._client.remove_container(spec.name, v=True, force=True)
                raise
        warnings = tuple(answer.get("Warnings") or ())
        limits = describe_limits(spec, self.host, warnings)
        return DockerSandbox(
            self._client,
            self._location,
            answer["Id"],
            spec.name,
            limits=limits,
            cpu=self._location.cpu(answer["Id"], spec.limits.cpus),
            warnings=warnings,
            overruns=self._overruns.count,
        )

    def sweep(self, install: str, is_in_use: Callable[[str], bool] = lambda _: False) -> int:
        """Remove all of an installation's leftover containers, including running ones.

        Also kills the processes in control groups of containers that the engine has forgotten. Raises
        SandboxesLeft if containers may be left, or another RuntimeFailure.
        """
        # Read the groups before querying the engine, which lists a container before the container has a
        # group.
        grouped = containers_below(self._location) if self._own_group else frozenset()
        with engine_errors(f"list the containers of {install}"):
            found = self._client.containers(all=True, filters={"label": f"{INSTALL_LABEL}={install}"})
        names = {container["Id"]: container["Names"][0].removeprefix("/") for container in found}
        orphans = {id_: name for id_, name in names.items() if not is_in_use(name)}
        failures: dict[str, RuntimeFailure] = {}
        for id_, name in orphans.items():
            try:
                remove_bot(self._client, self._location, id_, name)
            except EngineUnavailable:  # further attempts would also time out
                raise
            except RuntimeFailure as error:
                failures[name] = error
        forgotten = grouped - names.keys()
        if forgotten:
            with engine_errors("list all containers"):
                forgotten -= {container["Id"] for container in self._client.containers(all=True)}
        for container_id in forgotten:
            end_container(self._location, container_id)
        if failures:
            raise SandboxesLeft("; ".join(map(str, failures.values())), frozenset(failures))
        return len(orphans) + len(forgotten)

    def prune_images(self) -> None:
        """Remove the engine's copies of images that are no longer stored."""
        self._images.prune()

    def close(self) -> None:
        """Close the connections to the engine."""
        self._client.close()
        self._overruns.close()
        for descriptor in self._namespaces:
            os.close(descriptor)
        self._namespaces = ()


def _open_namespaces() -> tuple[int, ...]:
    """Open the host's namespaces that containers share, which keeps their inodes.

    Otherwise, their creation times would tell bots how long others have been running without a pause.
    """
    shared = [Path("/proc/self/ns", name) for name in ("user", "time")]
    return tuple(os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in shared if path.exists())


_WRAPPERS: Final = ("container-runtime", "docker-runtime")
"""Parts of the names of GPU vendors' programs, such as ``nvidia-container-runtime``. They wrap runc, and add
the devices that the image's variables request."""


def choose_runtime(info: Mapping[str, Any], name: str | None) -> str:
    """Return the engine's name for the runtime: ``name``, or the engine's default, but runc for a wrapper."""
    known = info["Runtimes"]
    if name is None:
        default = str(info["DefaultRuntime"])
        options = known[default].get("options") or {}
        program = PurePosixPath(options.get("BinaryName") or known[default].get("path", "")).name
        is_wrapper = any(part in program for part in _WRAPPERS)
        return "runc" if is_wrapper and "runc" in known else default
    if name not in known:
        raise RuntimeFailure(
            f"the engine has no container runtime {name!r}; it has {', '.join(sorted(known))}. "
            "Register the missing one in the engine's daemon.json (scripts/gvisor does that for runsc), or "
            "set ARENA_CONTAINER_RUNTIME to another one"
        )
    return name


def _is_gvisor(runtime: Mapping[str, Any]) -> bool:
    """Return True if the runtime is gVisor, which may be registered under any name."""
    return PurePosixPath(runtime.get("path", "")).name == "runsc" or "runsc" in runtime.get("runtimeType", "")
