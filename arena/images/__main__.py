"""``python -m arena.images``: make the image that docker-compose.yml runs."""

import sys
from contextlib import closing

import docker
from docker.errors import DockerException

from arena.images import SERVER_IMAGE, ImageTrouble, build_server_image


def main() -> int:
    """Make it; return the exit code."""
    try:
        with closing(docker.from_env()) as client:
            build_server_image(client, say=_say)
    except (ImageTrouble, DockerException) as error:
        _say(str(error))
        return 1
    _say(f"{SERVER_IMAGE} is up to date")
    return 0


def _say(text: str) -> None:
    print(f"arena: {text}", file=sys.stderr, flush=True)  # noqa: T201 - a command speaks on its terminal


if __name__ == "__main__":
    sys.exit(main())
