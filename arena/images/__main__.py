"""``python -m arena.images``: make the images that docker-compose.yml runs, or a base image of bots.

::

    python -m arena.images               localhost/kaiten/server and localhost/kaiten/postgresql
    python -m arena.images javascript    kaiten/bot-base-javascript
"""

import argparse
import sys
from contextlib import closing

import docker
from docker.errors import DockerException

from arena.images import (
    DATABASE_IMAGE,
    SERVER_IMAGE,
    ImageTrouble,
    build_database_image,
    build_server_image,
    ensure_base_image,
)
from arena.languages import LANGUAGES


def main() -> int:
    """Make it; return the exit code."""
    languages = {language.name: language for language in LANGUAGES}
    parser = argparse.ArgumentParser(prog="python -m arena.images")
    parser.add_argument("image", nargs="?", choices=["server", *languages], default="server")
    language = languages.get(parser.parse_args().image)
    try:
        with closing(docker.from_env()) as client:
            if language is None:
                build_server_image(client, _say)
                build_database_image(client, _say)
            else:
                ensure_base_image(client, language, _say)
    except (ImageTrouble, DockerException) as error:
        _say(str(error))
        return 1
    made = language.base_image if language else f"{SERVER_IMAGE} and {DATABASE_IMAGE}"
    _say(f"up to date: {made}")
    return 0


def _say(text: str) -> None:
    print(f"arena: {text}", file=sys.stderr, flush=True)  # noqa: T201 - a command speaks on its terminal


if __name__ == "__main__":
    sys.exit(main())
