"""The images that bots are started from, as the engine has them."""

import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import docker
import msgspec
from docker.errors import APIError, ImageNotFound

from arena.sandbox.docker_engine import engine_errors
from arena.sandbox.errors import LaunchRefused, RuntimeTrouble
from arena.sandbox.image_source import ImageSource, KeptImage

_IMAGE_ID: Final = re.compile(r"sha256:[0-9a-f]{64}")
_RUN_FIELDS: Final = ("Entrypoint", "Cmd", "Env", "WorkingDir")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineImage:
    """An image that can be run by the template.

    Attributes:
        id: By which the engine starts it.
        command: Its entry point with its arguments; at least one word.
    """

    id: str
    command: tuple[str, ...]


class DockerImages:
    """The images of one engine. Thread-safe.

    Submitted images are loaded when they are first needed, under a name of the arena's own, because engines
    differ in what they call an image's id: its configuration's digest, or that of a manifest which the engine
    writes itself. A name can be moved by whoever may use the engine. So an image under that name is believed
    by its content alone: the digests of its layers, which the engine has computed from what it unpacked, and
    what it starts. It is then started by the engine's own id, which can't be moved.

    Args:
        client: Of the engine.
        source: Has the submitted images; None where there are none.
    """

    def __init__(self, client: docker.APIClient, source: ImageSource | None = None) -> None:
        self._client = client
        self._source = source
        self._locks: dict[str, threading.Lock] = {}

    def find(self, source: str) -> EngineImage:
        """Return the image with this id, loaded where it has to be.

        Raises:
            LaunchRefused: It starts nothing, or wants volumes.
            RuntimeTrouble: It is nowhere, it can't be loaded, or ``source`` is a name that others could move.
        """
        if not _IMAGE_ID.fullmatch(source):
            raise RuntimeTrouble(f"{source!r} is not the id of an image; give sha256: and 64 digits")
        kept = None if self._source is None else self._source.find(source)
        if self._source is None or kept is None:
            with engine_errors(f"inspect image {source}"):
                image: Mapping[str, Any] = self._client.inspect_image(source)  # type: ignore[no-untyped-call] # so in its stubs
            return _runnable(image)
        # Two seats with the same bot start at the same time.
        with self._locks.setdefault(source, threading.Lock()):
            return _runnable(self._loaded(self._name(self._source, source), kept))

    def prune(self) -> int:
        """Remove what was loaded from the source and is no longer there; return how many images that were.

        What a container uses stays until that is gone.

        Raises:
            RuntimeTrouble: Some may be left.
        """
        if self._source is None:
            return 0
        names = {self._name(self._source, id_) for id_ in self._source.ids()}
        with engine_errors(f"list the images of {self._source.repository}"):
            # Its stubs know no lists of images with their names.
            found: Any = self._client.images(name=self._source.repository)
        ours = {name for image in found for name in image["RepoTags"] or ()}
        return sum(map(self._remove, sorted(ours - names)))

    def _remove(self, name: str) -> bool:
        """Remove an image, or only its name where it has others; return whether no container needed it."""
        with engine_errors(f"remove image {name}"):
            try:
                self._client.remove_image(name)
            except ImageNotFound:
                return False
            except APIError as error:
                if error.response is not None and error.response.status_code == HTTPStatus.CONFLICT:
                    return False
                raise
            return True

    def _loaded(self, name: str, kept: KeptImage) -> Mapping[str, Any]:
        image = self._inspect(name)
        if image is None or not _is(image, kept):
            said = self._load(name, kept)
            image = self._inspect(name)
            if image is None or not _is(image, kept):
                raise RuntimeTrouble(
                    f"the engine did not load {name} as it is kept; it said: {said or 'nothing'}"
                )
        return image

    def _load(self, name: str, kept: KeptImage) -> str:
        with engine_errors(f"load image {name}"):
            lines = list(self._client.load_image(kept.archive(name)))  # type: ignore[no-untyped-call] # as above
        said = [line.get("error") or line.get("message") or line.get("stream") or "" for line in lines]
        return " ".join("".join(said).split())

    def _inspect(self, name: str) -> Mapping[str, Any] | None:
        with engine_errors(f"inspect image {name}"):
            try:
                image: Mapping[str, Any] = self._client.inspect_image(name)  # type: ignore[no-untyped-call] # as above
            except ImageNotFound:
                return None
            return image

    @staticmethod
    def _name(source: ImageSource, id_: str) -> str:
        return f"{source.repository}:{id_.removeprefix('sha256:')}"


def export_image(client: docker.APIClient, id_: str) -> Iterator[bytes]:
    """Yield an image of the engine's in pieces, as ``docker save`` writes it.

    Raises:
        RuntimeTrouble: It is not there, or the engine does not answer.
    """
    with engine_errors(f"export image {id_}"):
        yield from client.get_image(id_)


def _is(image: Mapping[str, Any], kept: KeptImage) -> bool:
    """Whether the engine's image has the content that is kept."""
    config = msgspec.json.decode(kept.config)
    return image["RootFS"].get("Layers") == config["rootfs"]["diff_ids"] and all(
        (image["Config"].get(field) or None) == (config["config"].get(field) or None) for field in _RUN_FIELDS
    )


def _runnable(image: Mapping[str, Any]) -> EngineImage:
    config = image["Config"]
    command = (*(config.get("Entrypoint") or ()), *(config.get("Cmd") or ()))
    if not command:
        raise LaunchRefused("the image starts nothing: give its Dockerfile an ENTRYPOINT")
    if config.get("Volumes"):
        raise LaunchRefused("the image declares a VOLUME, but bots may write to /tmp alone: remove it")
    return EngineImage(id=image["Id"], command=command)
