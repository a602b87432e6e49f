"""Runs bots in Docker containers by the launch template in ``policy``."""

import contextlib
import os
from collections.abc import Callable

import docker
from docker.errors import APIError

from arena.sandbox.docker_engine import engine_errors, launch_errors
from arena.sandbox.docker_images import DockerImages
from arena.sandbox.docker_sandbox import DockerSandbox, remove_container
from arena.sandbox.errors import RuntimeTrouble
from arena.sandbox.policy import Host, container_arguments, limits_in_words
from arena.sandbox.runtime import INSTALL_LABEL, SandboxSpec, nobody


class DockerRuntime:
    """One container a bot.

    Args:
        client: From :func:`arena.sandbox.docker_engine.connect`; closed by ``close``.
        cores: Those that bots may use, such as ``1-3``; empty for all.

    Raises:
        RuntimeTrouble: The engine does not answer.
    """

    def __init__(self, client: docker.APIClient, *, cores: str = "") -> None:
        with engine_errors("read what the engine is"):
            info = client.info()
        self._client = client
        self._images = DockerImages(client)
        self._host = Host(
            runtime=info["DefaultRuntime"],
            cgroup_driver=info["CgroupDriver"],
            uid=os.geteuid(),
            gid=os.getegid(),
            cores=cores,
        )

    @property
    def describe(self) -> str:
        """See :class:`arena.sandbox.runtime.Runtime`."""
        return f"docker/{self._host.runtime}"

    def check_source(self, source: str) -> None:
        """Make sure that the image is here and can be run by the template.

        Raises:
            LaunchRefused: It starts nothing, or wants volumes.
            RuntimeTrouble: It is not here, or ``source`` is a name that others could move.
        """
        self._images.find(source)

    def launch(self, spec: SandboxSpec) -> DockerSandbox:
        """See :class:`arena.sandbox.runtime.Runtime`."""
        self.check_source(spec.source)
        if not spec.socket_dir.is_dir():
            raise RuntimeTrouble(f"{spec.socket_dir} is no folder; make it and open the socket first")
        sandbox = self._create(spec)
        try:
            sandbox.start()
        except BaseException:
            with contextlib.suppress(RuntimeTrouble):
                sandbox.remove()
            raise
        return sandbox

    def _create(self, spec: SandboxSpec) -> DockerSandbox:
        arguments = container_arguments(spec, self._host)
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
        return DockerSandbox(
            self._client, answer["Id"], spec.name, limits_in_words(spec, self._host, warnings)
        )

    def sweep(self, install: str, spare: Callable[[str], bool] = nobody) -> int:
        """Remove every container of an installation that nobody looks after, running ones too.

        Raises:
            RuntimeTrouble: Some may be left.
        """
        with engine_errors(f"list the containers of {install}"):
            found = self._client.containers(all=True, filters={"label": f"{INSTALL_LABEL}={install}"})
        left = [container for container in found if not spare(container["Names"][0].removeprefix("/"))]
        for container in left:
            remove_container(self._client, container["Id"], container["Id"])
        return len(left)

    def close(self) -> None:
        """See :class:`arena.sandbox.runtime.Runtime`."""
        self._client.close()
