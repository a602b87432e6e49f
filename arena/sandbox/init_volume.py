"""The volume from which every bot's container has its init.

A bind mount would need a folder that the engine's host has too and that allows programs; in a volume
the engine itself keeps the file. It copies what an image has at a volume's place into a volume that is
empty, when it makes a container; so a container that is made, and never started, brings it there.
"""

import contextlib
import io
import tarfile
import threading
import time
from http import HTTPStatus
from typing import Final

import docker
from docker.errors import APIError, ImageNotFound, NotFound

from arena.sandbox.docker_engine import engine_errors
from arena.sandbox.docker_sandbox import remove_container
from arena.sandbox.errors import RuntimeTrouble
from arena.sandbox.init_image import INIT_FILE, INIT_FOLDER, Init, is_init

_PATIENCE_SECONDS: Final = 30.0
_STALE_SECONDS: Final = 5.0
"""Who makes the volume needs a tenth of that. After it a container that is in the way is nobody's."""

_POLL_SECONDS: Final = 0.05


class InitVolume:
    """The volume of one engine. Thread-safe; other processes may do the same at the same time.

    Args:
        client: Of the engine.
        init: What is to be in it.
    """

    def __init__(self, client: docker.APIClient, init: Init) -> None:
        self._client = client
        self._init = init
        self._lock = threading.Lock()
        self._known: str | None = None

    def ensure(self) -> None:
        """See that the volume is there with its content; make it where it isn't.

        Raises:
            RuntimeTrouble: It can't be made, or holds something else.
        """
        with self._lock, engine_errors(f"make the volume {self._init.volume}"):
            if self._known is None or self._known != self._made_at():
                self._fill()
                self._known = self._made_at()

    def forget(self) -> None:
        """Look at its content again the next time: a container that needs it did not start."""
        self._known = None

    def _made_at(self) -> str | None:
        """Return when the volume was made: one that was removed and made anew is another."""
        try:
            return str(self._client.inspect_volume(self._init.volume)["CreatedAt"])
        except NotFound:
            return None

    def _fill(self) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        others: dict[str, float] = {}
        while time.monotonic() < deadline:
            held = self._try_to_fill()
            if held is True:
                return
            if held is False:
                self._client.remove_volume(self._init.volume)  # a fill that was cut off, for example
            else:
                self._clear_the_way(others)
            time.sleep(_POLL_SECONDS)
        raise RuntimeTrouble(
            f"the volume {self._init.volume} could not be made within {_PATIENCE_SECONDS:g} s: see what "
            f"`docker ps -a` and `docker volume inspect` say of that name, and remove both"
        )

    def _try_to_fill(self) -> bool | None:
        """Return whether the volume holds the program, or None where somebody else is at it."""
        try:
            # Its name lets one at a time do this, in all processes: a container's name is taken once.
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
            if error.status_code == HTTPStatus.CONFLICT:
                return None
            raise
        try:
            return self._holds_init(container)
        except NotFound:  # removed by one who lost patience
            return None
        finally:
            remove_container(self._client, container, self._init.volume)

    def _clear_the_way(self, others: dict[str, float]) -> None:
        """Remove a container that somebody began this with and left.

        Args:
            others: When each was seen first.
        """
        with contextlib.suppress(NotFound):
            other = self._client.inspect_container(self._init.volume)["Id"]
            if time.monotonic() - others.setdefault(other, time.monotonic()) > _STALE_SECONDS:
                remove_container(self._client, other, self._init.volume)

    def _holds_init(self, container: str) -> bool:
        chunks, _ = self._client.get_archive(container, f"{INIT_FOLDER}/{INIT_FILE}")
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
            member = archive.next()
            file = archive.extractfile(member) if member is not None else None
            return member is not None and file is not None and is_init(member, file.read(), self._init)

    def _load(self) -> None:
        for said in self._client.load_image(self._init.archive()):  # type: ignore[no-untyped-call] # so in its stubs
            if "error" in said:
                raise RuntimeTrouble(
                    f"the engine does not load the image {self._init.image}: {said['error']}"
                )
