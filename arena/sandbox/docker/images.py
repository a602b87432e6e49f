"""Loads bots' images into the engine."""

import itertools
import re
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import docker
import msgspec
from docker.errors import APIError, ImageNotFound

from arena.sandbox.docker.engine import engine_errors
from arena.sandbox.kernel.disks import BTRFS
from arena.sandbox.runtime import ImageSource, KeptImage, LaunchRefused, RuntimeFailure

_IMAGE_ID: Final = re.compile(r"sha256:[0-9a-f]{64}")
_RUN_FIELDS: Final = ("Entrypoint", "Cmd", "Env", "WorkingDir")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineImage:
    """An image that can be started with the launch template."""

    id: str  # the engine's id for the image
    command: tuple[str, ...]  # its entry point and arguments; at least one word
    # The folders on the engine's host that all of the image's containers share; None if unknown.
    layers: tuple[Path, ...] | None = field(default=None, compare=False)


def is_image_id(source: str) -> bool:
    """Return True if a source is an image id."""
    return _IMAGE_ID.fullmatch(source) is not None


class DockerImages:
    """The images of one engine. Thread-safe.

    Submitted images are loaded when they are first needed. The arena finds them by name, because an image's
    id depends on the engine: it is the digest of the image's configuration, or of a manifest that the engine
    writes. However, any user of the engine can give that name to another image, so the arena checks the
    image's content: its command, environment and working directory, and the digests of its layers, which the
    engine computed when it unpacked them. It then starts the image by the engine's id for it, which always
    refers to the same image.

    ``source`` contains the submitted images, if there are any.
    """

    def __init__(self, client: docker.APIClient, source: ImageSource | None = None) -> None:
        self._client = client
        self._source = source
        self._locks: dict[str, threading.Lock] = {}

    def find(self, source: str) -> EngineImage:
        """Return the image with this id, loading it if necessary.

        Raises LaunchRefused if the image has no start command, or declares volumes. Raises RuntimeFailure if
        it doesn't exist or can't be loaded, or if ``source`` is not an id: a name can be reassigned to
        another image.
        """
        if not is_image_id(source):
            raise RuntimeFailure(f"{source!r} is not an image id; use sha256: and 64 hexadecimal digits")
        kept = None if self._source is None else self._source.find(source)
        if self._source is None or kept is None:
            with engine_errors(f"inspect image {source}"):
                image: Mapping[str, Any] = self._client.inspect_image(source)  # type: ignore[no-untyped-call] # untyped in docker-py's stubs
            return _check_runnable(image)
        # Seats with the same bot start concurrently, but only one of them loads the image.
        with self._locks.setdefault(source, threading.Lock()):
            return _check_runnable(self._load_and_check(self._name(self._source, source), kept))

    def is_missing(self, source: str) -> bool:
        """Return True if neither the engine nor the source has the image. Raises RuntimeFailure."""
        if self._source is not None and source in self._source.ids():
            return False
        return not is_image_id(source) or self._inspect(source) is None

    def unavailable_reason(self) -> str | None:
        """Return why stored images can't be loaded, or None. Raises RuntimeFailure."""
        return None if self._source is None else self._source.unavailable_reason()

    def prune(self) -> None:
        """Remove loaded images that the source no longer has.

        Images that a container uses are kept. Raises RuntimeFailure if any other image may be left.
        """
        if self._source is None:
            return
        if (reason := self._source.unavailable_reason()) is not None:
            raise RuntimeFailure(reason)
        with engine_errors(f"list the images of {self._source.repository}"):
            # docker-py's stubs don't declare that images can be listed by name.
            found: Any = self._client.images(name=self._source.repository)
        ours = {name for image in found for name in image["RepoTags"] or ()}
        # Read last, because an image may be stored and loaded while the engine lists its own.
        names = {self._name(self._source, id_) for id_ in self._source.ids()}
        for name in sorted(ours - names):
            self._remove(name)

    def _remove(self, name: str) -> None:
        """Remove an image, or only this name if it has others. Do nothing if a container uses the image."""
        with engine_errors(f"remove image {name}"), suppress(ImageNotFound):
            try:
                self._client.remove_image(name)
            except APIError as error:
                if error.status_code != HTTPStatus.CONFLICT:
                    raise

    def _load_and_check(self, name: str, kept: KeptImage) -> Mapping[str, Any]:
        image = self._inspect(name)
        if image is None or not _has_stored_content(image, kept):
            output = self._load(name, kept)
            image = self._inspect(name)
            if image is None or not _has_stored_content(image, kept):
                raise RuntimeFailure(
                    f"{name} was loaded, but is missing or differs from the stored image; "
                    f"the engine reported: {output or 'nothing'}"
                )
        return image

    def _load(self, name: str, kept: KeptImage) -> str:
        with engine_errors(f"load image {name}"):
            lines = list(self._client.load_image(kept.archive(name)))  # type: ignore[no-untyped-call] # as above
        output = [line.get("error") or line.get("message") or line.get("stream") or "" for line in lines]
        return " ".join("".join(output).split())

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


def _has_stored_content(image: Mapping[str, Any], kept: KeptImage) -> bool:
    """Return whether the engine's image has the stored content."""
    config = msgspec.json.decode(kept.config)
    return image["RootFS"].get("Layers") == config["rootfs"]["diff_ids"] and all(
        (image["Config"].get(field) or None) == (config["config"].get(field) or None) for field in _RUN_FIELDS
    )


def _check_runnable(image: Mapping[str, Any]) -> EngineImage:
    config = image["Config"]
    command = (*(config.get("Entrypoint") or ()), *(config.get("Cmd") or ()))
    if not command:
        raise LaunchRefused("the image has no start command: give its Dockerfile an ENTRYPOINT")
    if config.get("Volumes"):
        raise LaunchRefused(
            "the image declares a VOLUME, but bots can write only to /tmp: remove it from the "
            "Dockerfile, or use another parent image"
        )
    return EngineImage(id=image["Id"], command=command, layers=_layers(image))


def _layers(image: Mapping[str, Any]) -> tuple[Path, ...] | None:
    driver = image.get("GraphDriver") or {}
    if driver.get("Name") == BTRFS:
        return ()  # each container has its own snapshot, and snapshots don't share inodes
    data = driver.get("Data") or {}  # as overlay2 reports it
    folders = [data[name].split(":") for name in ("LowerDir", "UpperDir") if data.get(name)]
    return tuple(map(Path, itertools.chain(*folders))) or None
