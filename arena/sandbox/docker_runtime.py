"""Runs bots in Docker containers by the launch template in ``policy``."""

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import docker
from docker.errors import APIError

from arena.match import Limits
from arena.sandbox.cap import Place, cap_for
from arena.sandbox.common_group import CommonGroup, Overruns, containers_below, end_container
from arena.sandbox.docker_engine import engine_errors, impatient, launch_errors
from arena.sandbox.docker_images import DockerImages
from arena.sandbox.docker_sandbox import DockerSandbox, remove_container
from arena.sandbox.errors import RuntimeTrouble
from arena.sandbox.image_source import ImageSource
from arena.sandbox.init_image import init_for
from arena.sandbox.init_volume import InitVolume
from arena.sandbox.policy import Host, cgroup_parent, container_arguments, limits_in_words, pids_limit
from arena.sandbox.runtime import INSTALL_LABEL, SandboxSpec, nobody


class DockerRuntime:
    """One container a bot.

    Args:
        client: From :func:`arena.sandbox.docker_engine.connect`; closed by ``close``.
        cores: Those that bots may use, such as ``1-3``; empty for all.
        runtime: What runs containers, by the engine's own name for it; its default without.
        install: The installation's id, so that its bots have a control group of their own; without it
            they share that of all installations.
        images: Has the submitted images, which are loaded as they are needed; None where there are none.

    Raises:
        RuntimeTrouble: The engine does not answer, or can't run bots this way.
    """

    def __init__(
        self,
        client: docker.APIClient,
        *,
        cores: str = "",
        runtime: str | None = None,
        install: str = "",
        images: ImageSource | None = None,
    ) -> None:
        with engine_errors("read what the engine is"):
            info = client.info()
        self._client = client
        self._images = DockerImages(client, images)
        chosen = _choose(info, runtime)
        gvisor = _is_gvisor(info["Runtimes"][chosen])
        init = init_for(info["Architecture"], readable=gvisor)
        self._init = InitVolume(client, init)
        # Whoever asks whether the engine is well must not wait for those who wait for the engine.
        self._asks = impatient(client)
        self._init_asked = InitVolume(self._asks, init)
        self._host = Host(
            runtime=chosen,
            gvisor=gvisor,
            cgroup_parent=cgroup_parent(info["CgroupDriver"], install),
            init_volume=init.volume,
            uid=os.geteuid(),
            gid=os.getegid(),
            cores=cores,
        )
        self._alone = bool(install)  # in the control group, which another engine's bots may share otherwise
        self._place = Place(
            parent=self._host.cgroup_parent,
            driver=info["CgroupDriver"],
            version=int(info["CgroupVersion"]),
        )

        self._overruns = Overruns(self._place)

    @property
    def host(self) -> Host:
        """What the template knows of the engine."""
        return self._host

    @property
    def describe(self) -> str:
        """See :class:`arena.sandbox.runtime.Runtime`."""
        return f"docker/{self._host.runtime}"

    def common_group(self, limits: Limits, slots: int) -> CommonGroup:
        """Return the control group of all bots, which is to hold what bots in so many slots use together."""
        return CommonGroup(self._place, cap_for(limits, slots, pids_limit(limits, self._host)))

    def trouble(self) -> str | None:
        """Return that the engine does not answer, or can't do what every bot needs, if so.

        An engine that is ending says for seconds that it is well, and does nothing more. One that hangs says
        nothing: it is waited for some seconds a call.
        """
        try:
            with engine_errors("reach the engine"):
                self._asks.ping()
            self._init_asked.ensure()
        except RuntimeTrouble as error:
            return str(error)
        return None

    def check_source(self, source: str) -> None:
        """Make sure that the image is here, loaded where it has to be, and can be run by the template.

        Raises:
            LaunchRefused: It starts nothing, or wants volumes.
            RuntimeTrouble: It is not here, or ``source`` is a name that others could move.
        """
        self._images.find(source)

    def launch(self, spec: SandboxSpec) -> DockerSandbox:
        """See :class:`arena.sandbox.runtime.Runtime`."""
        image = self._images.find(spec.source)
        if not spec.socket_dir.is_dir():
            raise RuntimeTrouble(f"{spec.socket_dir} is no folder; make it and open the socket first")
        self._init.ensure()
        sandbox = self._create(replace(spec, source=image.id), image.command)
        try:
            sandbox.start()
        except BaseException:
            self._init.forget()
            with contextlib.suppress(RuntimeTrouble):
                sandbox.remove()
            raise
        return sandbox

    def _create(self, spec: SandboxSpec, command: tuple[str, ...]) -> DockerSandbox:
        arguments = container_arguments(spec, self._host, command)
        with launch_errors(f"create container {spec.name}"):
            try:
                answer = self._client.create_container(**arguments)
            except APIError:
                raise  # nothing was made; the name may be another container's
            except BaseException:
                # The answer was lost, perhaps not the container.
                with contextlib.suppress(OSError):
                    self._client.remove_container(spec.name, v=True, force=True)
                raise
        warnings = tuple(answer.get("Warnings") or ())
        limits = limits_in_words(spec, self._host, warnings)
        return DockerSandbox(
            self._client,
            answer["Id"],
            spec.name,
            limits=limits,
            warnings=warnings,
            overruns=self._overruns.count,
        )

    def sweep(self, install: str, spare: Callable[[str], bool] = nobody) -> int:
        """Remove every container of an installation that nobody looks after, running ones too.

        What still runs in the control group of a container that the engine has forgotten goes as well.

        Raises:
            RuntimeTrouble: Some may be left.
        """
        # Before the engine is asked: it knows a container before that has a group.
        grouped = containers_below(self._place) if self._alone else frozenset()
        with engine_errors(f"list the containers of {install}"):
            found = self._client.containers(all=True, filters={"label": f"{INSTALL_LABEL}={install}"})
        left = [container for container in found if not spare(container["Names"][0].removeprefix("/"))]
        for container in left:
            remove_container(self._client, container["Id"], container["Id"])
        forgotten = grouped - {container["Id"] for container in found}
        if forgotten:
            with engine_errors("list all containers"):
                forgotten -= {container["Id"] for container in self._client.containers(all=True)}
        for container_id in forgotten:
            end_container(self._place, container_id)
        return len(left) + len(forgotten)

    def prune_images(self) -> int:
        """Remove what was loaded and is no longer kept; return how many images that were.

        Raises:
            RuntimeTrouble: Some may be left.
        """
        return self._images.prune()

    def close(self) -> None:
        """See :class:`arena.sandbox.runtime.Runtime`."""
        self._client.close()


def _choose(info: Mapping[str, Any], wanted: str | None) -> str:
    """Return the engine's name of what is to run containers."""
    known = info["Runtimes"]
    if wanted is None:
        return str(info["DefaultRuntime"])
    if wanted not in known:
        raise RuntimeTrouble(
            f"the engine has no container runtime {wanted!r}; it has {', '.join(sorted(known))}. "
            "Register it in the engine's daemon.json (scripts/gvisor does that for runsc), or name another "
            "in ARENA_CONTAINER_RUNTIME"
        )
    return wanted


def _is_gvisor(runtime: Mapping[str, Any]) -> bool:
    """Tell by what the engine calls, since it may be registered under any name."""
    return PurePosixPath(runtime.get("path", "")).name == "runsc" or "runsc" in runtime.get("runtimeType", "")
