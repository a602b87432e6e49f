"""Builds images with a Docker engine, version 20.10 or later."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import docker
import msgspec
from docker.errors import ImageNotFound
from docker.utils import parse_repository_tag
from requests import ReadTimeout

from arena.sandbox.builder import BuiltImage
from arena.sandbox.docker.engine import check_report, engine_errors, with_timeout
from arena.sandbox.runtime import RuntimeFailure

_SILENCE_SECONDS: Final = 600
"""Timeout while a build prints nothing. A step may compile for a long time without output."""

_REGISTRY_SECONDS: Final = 8
"""Timeout for resolving a tag in a registry. docker-py has no timeout for pulling an image."""

_TAIL_LINES: Final = 40


class DockerBuilder:
    """Builds images with an engine. See :class:`arena.sandbox.builder.ImageBuilder`."""

    def __init__(self, client: docker.APIClient) -> None:  # from `connect`; closed by `close`
        self._client = client

    def platform(self) -> tuple[str, str]:
        """Return the engine's platform."""
        with engine_errors("read the engine's platform"):
            version = self._client.version()
        return version["Os"], version["Arch"]

    def find(self, name: str) -> BuiltImage | None:
        """Return the engine's image with this name or id, or None if it has none."""
        with engine_errors(f"inspect image {name}"):
            try:
                found: dict[str, Any] = self._client.inspect_image(name)  # type: ignore[no-untyped-call] # untyped in docker-py's stubs
            except ImageNotFound:
                return None
        return BuiltImage(
            id=found["Id"],
            digest=next(iter(found.get("RepoDigests") or ()), found["Id"]),
            labels=(found.get("Config") or {}).get("Labels") or {},
        )

    def build(
        self, folder: Path, *, tag: str, labels: Mapping[str, str], arguments: Mapping[str, str]
    ) -> BuiltImage:
        """Build an image from a folder with a Dockerfile."""
        output: list[str] = []
        with engine_errors(f"build {tag}"):
            for message in self._client.build(
                path=str(folder),
                tag=tag,
                labels=dict(labels),
                buildargs=dict(arguments),
                network_mode="none",
                pull=False,
                rm=True,
                forcerm=True,
                use_config_proxy=False,
                timeout=_SILENCE_SECONDS,
                decode=True,
            ):
                output.append(message.get("stream", ""))
                if "error" in message:
                    tail = "\n".join("".join(output).splitlines()[-_TAIL_LINES:])
                    reason = message["error"].strip()
                    raise RuntimeFailure(f"could not build {tag}: {reason}; the last output:\n{tail}")
        return self._get(tag)

    def import_root(self, archive: Path, name: str, labels: Mapping[str, str]) -> None:
        """Create an image from a tar archive of a root file system."""
        repository, tag = parse_repository_tag(name)
        changes = [f"LABEL {key}={value}" for key, value in labels.items()]
        with engine_errors(f"import {name}"):
            report = self._client.import_image_from_file(
                str(archive), repository=repository, tag=tag, changes=changes
            )
            check_report(map(msgspec.json.decode, report.splitlines()), f"import {name}")

    def resolve(self, name: str) -> str:
        """Ask the registry which image a tag refers to now, and return its name with the digest."""
        client = with_timeout(self._client, _REGISTRY_SECONDS)
        with _registry_errors(name):
            found: dict[str, Any] = client.inspect_distribution(name)  # type: ignore[no-untyped-call] # as above
        return f"{parse_repository_tag(name)[0]}@{found['Descriptor']['digest']}"

    def pull(self, name: str) -> BuiltImage:
        """Pull an image from its registry."""
        with _registry_errors(name):
            check_report(self._client.pull(name, stream=True, decode=True), f"pull {name}")
        return self._get(name)

    def tag(self, image: BuiltImage, name: str) -> None:
        """Give an image another name."""
        with engine_errors(f"tag {image.id} as {name}"):
            self._client.tag(image.id, *parse_repository_tag(name))

    def export(self, id_: str) -> Iterator[bytes]:
        """Yield an image in chunks, in the format of ``docker save``."""
        with engine_errors(f"export image {id_}"):
            yield from self._client.get_image(id_)

    def _get(self, name: str) -> BuiltImage:
        image = self.find(name)
        if image is None:
            raise RuntimeFailure(f"the engine reported success, but {name} is missing: see the engine's log")
        return image

    def close(self) -> None:
        """Close the connections to the engine."""
        self._client.close()


@contextmanager
def _registry_errors(name: str) -> Iterator[None]:
    """Like :func:`engine_errors`, but recognises when the registry is slow or lacks the image."""
    with engine_errors(f"get {name} from its registry"):
        try:
            yield
        except ImageNotFound as error:
            raise RuntimeFailure(f"the registry has no {name}: {error.explanation}") from error
        except ReadTimeout as error:
            raise RuntimeFailure(
                f"the registry did not answer within {_REGISTRY_SECONDS} s when asked for {name}"
            ) from error
