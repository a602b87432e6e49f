"""One build by the engine's own builder, from the oldest supported engine (20.10) on."""

from collections.abc import Callable, Mapping
from pathlib import Path

import docker
from docker.errors import DockerException
from requests.exceptions import RequestException

from arena.images.errors import ImageTrouble

Say = Callable[[str], None]  # is told a stage, in a few words

_SILENCE_SECONDS = 600  # a build step may compile for long without a word
_TAIL_LINES = 40


def ignore(stage: str) -> None:
    """Tell nobody."""
    del stage


def build(
    client: docker.DockerClient,
    folder: Path,
    *,
    tag: str,
    labels: Mapping[str, str],
    arguments: Mapping[str, str],
) -> str:
    """Build a folder with a Dockerfile, without network and without pulling anything.

    Returns:
        The image's id, "sha256:" and 64 hex digits.

    Raises:
        ImageTrouble: with the end of the build's output.
    """
    output: list[str] = []
    try:
        for message in client.api.build(
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
                tail = "".join(output).splitlines()[-_TAIL_LINES:]
                raise ImageTrouble(
                    "\n".join([f"{folder}: {message['error'].strip()}; the build said:", *tail])
                )
        return str(client.images.get(tag).id)
    except (DockerException, RequestException) as error:
        raise ImageTrouble(f"{folder}: the Docker engine could not build it: {error}") from error
