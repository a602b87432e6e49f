"""The init program for bots' containers, its image, and its volume in an engine.

The program is ``init/kaiten-init-<machine>``; ``scripts/build-init`` builds it from the source next to it.
"""

import contextlib
import hashlib
import io
import json
import tarfile
import threading
import time
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import docker
from docker.errors import APIError, ImageNotFound, NotFound

from arena.sandbox.docker.engine import check_report, engine_errors
from arena.sandbox.docker.policy import INIT_FILE
from arena.sandbox.docker.sandbox import remove_container
from arena.sandbox.runtime import RuntimeFailure

INIT_FOLDER: Final = "/init"
"""The program's folder in the image. The image contains nothing else."""

_FOLDER: Final = Path(__file__).parent / "init"
_HIDDEN: Final = 0o711
"""The program's mode. All bots on a host share the program. With read permission, they could communicate
through locks and watches on it. Starting a program doesn't require that permission."""

_READABLE: Final = 0o755
"""gVisor starts only programs that the bot's user can read. Read permission is safe there, because gVisor
keeps locks and watches inside the sandbox."""

_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
_EPOCH: Final = "1970-01-01T00:00:00Z"
_DIGITS: Final = 12


@dataclass(frozen=True)
class Init:
    """The program for one ``machine``, such as ``x86_64``; ``mode`` is the mode of its file and folder."""

    machine: str
    program: bytes
    mode: int = _HIDDEN

    @property
    def volume(self) -> str:
        """Name of the program's volume, derived from the volume's content."""
        return f"kaiten-init-{self._digest}"

    def file(self, engine_folder: str) -> str:
        """Return the program's path on the engine's host. ``engine_folder`` is the engine's data root."""
        return f"{engine_folder}/volumes/{self.volume}/_data/{INIT_FILE}"

    @property
    def image(self) -> str:
        """Name of the image that fills the volume."""
        return f"kaiten-init:{self._digest}"

    def archive(self) -> bytes:
        """Return the image for ``docker load``. The result is reproducible."""
        layer = self._layer
        config = _json(
            {
                "architecture": _ARCHITECTURES[self.machine],
                "config": {"Cmd": [f"{INIT_FOLDER}/{INIT_FILE}"]},
                "created": _EPOCH,
                "history": [{"created": _EPOCH}],
                "os": "linux",
                "rootfs": {
                    "type": "layers",
                    "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"],
                },
            }
        )
        config_name = f"{hashlib.sha256(config).hexdigest()}.json"
        manifest = _json([{"Config": config_name, "RepoTags": [self.image], "Layers": ["layer.tar"]}])
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, data in (("layer.tar", layer), (config_name, config), ("manifest.json", manifest)):
                _add(archive, name, data, 0o644)
        return buffer.getvalue()

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(self._layer).hexdigest()[:_DIGITS]

    @cached_property
    def _layer(self) -> bytes:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as layer:
            folder = tarfile.TarInfo(INIT_FOLDER.lstrip("/"))
            folder.type, folder.mode = tarfile.DIRTYPE, self.mode
            layer.addfile(folder)
            _add(layer, f"{folder.name}/{INIT_FILE}", self.program, self.mode)
        return buffer.getvalue()


def init_for(machine: str, *, readable: bool = False) -> Init:
    """Return the program for an architecture, named as in ``docker info``, such as ``x86_64``.

    Raises RuntimeFailure if there is no program for this architecture.
    """
    if machine not in _ARCHITECTURES:
        raise RuntimeFailure(
            f"the engine runs on {machine}, but the init program for bots' containers, {INIT_FILE}, exists "
            f"only for {' and '.join(_ARCHITECTURES)}: use an engine on one of these architectures"
        )
    program = (_FOLDER / f"{INIT_FILE}-{machine}").read_bytes()
    return Init(machine, program, _READABLE if readable else _HIDDEN)


def _json(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def _add(archive: tarfile.TarFile, name: str, data: bytes, mode: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), mode
    archive.addfile(member, io.BytesIO(data))


_TIMEOUT_SECONDS: Final = 30.0
_STALE_SECONDS: Final = 5.0
"""Filling the volume takes a tenth of this time. An older container counts as abandoned."""

_POLL_SECONDS: Final = 0.05


class InitVolume:
    """The init's volume in one engine. Safe for concurrent use by threads and processes."""

    def __init__(self, client: docker.APIClient, init: Init) -> None:
        self._client = client
        self._init = init
        self._lock = threading.Lock()
        self._known: str | None = None

    def ensure(self) -> None:
        """Create the volume with its content, unless it already exists with that content.

        A volume with other content is replaced. Raises RuntimeFailure if the volume can't be created.
        """
        with self._lock, engine_errors(f"create the volume {self._init.volume}"):
            if self._known is None or self._known != self._created_at():
                self._fill()
                self._known = self._created_at()

    def forget(self) -> None:
        """Make the next :meth:`ensure` check the content again; call this if a container didn't start."""
        self._known = None

    def _created_at(self) -> str | None:
        """Return the volume's creation time, which identifies it, or None if it doesn't exist."""
        try:
            return str(self._client.inspect_volume(self._init.volume)["CreatedAt"])
        except NotFound:
            return None

    def _fill(self) -> None:
        deadline = time.monotonic() + _TIMEOUT_SECONDS
        others: dict[str, float] = {}
        while time.monotonic() < deadline:
            held = self._try_to_fill()
            if held is True:
                return
            if held is False:
                self._client.remove_volume(self._init.volume)  # it may be only partly filled
            else:
                self._remove_abandoned(others)
            time.sleep(_POLL_SECONDS)
        raise RuntimeFailure(
            f"the volume {self._init.volume} could not be created within {_TIMEOUT_SECONDS:g} s: find the "
            "container and the volume of that name with `docker ps -a` and `docker volume ls`; remove both"
        )

    def _try_to_fill(self) -> bool | None:
        """Return whether the volume contains the program. None means unknown: the caller must try again."""
        try:
            # The container's name serves as a lock between processes, because names are unique.
            container = self._client.create_container(
                self._init.image,
                name=self._init.volume,
                network_disabled=True,
                host_config={
                    "NetworkMode": "none",
                    "Mounts": [{"Type": "volume", "Source": self._init.volume, "Target": INIT_FOLDER}],
                },
            )["Id"]
        except ImageNotFound:
            self._load()
            return None
        except APIError as error:
            if error.status_code == HTTPStatus.CONFLICT:  # another process is filling it
                return None
            raise
        try:
            return self._contains_init(container)
        except NotFound:  # removed by a process that considered it abandoned
            return None
        finally:
            remove_container(self._client, container, self._init.volume)

    def _remove_abandoned(self, others: dict[str, float]) -> None:
        """Remove another process's container if it was abandoned.

        ``others`` maps containers' ids to the times at which they were first seen.
        """
        with contextlib.suppress(NotFound):
            other = self._client.inspect_container(self._init.volume)["Id"]
            if time.monotonic() - others.setdefault(other, time.monotonic()) > _STALE_SECONDS:
                remove_container(self._client, other, self._init.volume)

    def _contains_init(self, container: str) -> bool:
        chunks, _ = self._client.get_archive(container, f"{INIT_FOLDER}/{INIT_FILE}")
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
            member = archive.next()
            file = archive.extractfile(member) if member is not None else None
            # Don't compare the owner: if the engine remaps users, root has a different uid on the host.
            return (
                member is not None
                and file is not None
                and (member.mode & 0o7777, file.read()) == (self._init.mode, self._init.program)
            )

    def _load(self) -> None:
        report = self._client.load_image(self._init.archive())  # type: ignore[no-untyped-call] # untyped in docker-py's stubs
        check_report(report, f"load image {self._init.image}")
