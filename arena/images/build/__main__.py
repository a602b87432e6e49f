"""``python -m arena.images.build``: build the images that docker-compose.yml runs, or a base image for bots.

::

    python -m arena.images.build               localhost/kaiten/server and localhost/kaiten/postgresql
    python -m arena.images.build javascript    kaiten/bot-base-javascript
"""

import argparse
import sys
from contextlib import closing

from arena.images.build.base import ensure_base_image
from arena.images.build.server import DATABASE_IMAGE, SERVER_IMAGE, build_database_image, build_server_image
from arena.languages.registry import LANGUAGES
from arena.protocol.match import RuntimeName
from arena.sandbox.factory import open_builder
from arena.sandbox.runtime import RuntimeFailure


def main() -> int:
    """Build the images; return the exit code."""
    languages = {language.name: language for language in LANGUAGES}
    parser = argparse.ArgumentParser(
        prog="python -m arena.images.build",
        description="Build the images that docker-compose.yml uses, or a base image for bots.",
    )
    parser.add_argument(
        "image",
        nargs="?",
        choices=["server", *languages],
        default="server",
        help="the images that docker-compose.yml uses (server, the default), or the language of a base image",
    )
    language = languages.get(parser.parse_args().image)
    try:
        with closing(open_builder(RuntimeName.DOCKER)) as builder:
            if language is None:
                build_server_image(builder, _say)
                build_database_image(builder, _say)
            else:
                ensure_base_image(builder, language, _say)
    except RuntimeFailure as error:
        _say(str(error))
        return 1
    images = language.base_image if language else f"{SERVER_IMAGE} and {DATABASE_IMAGE}"
    _say(f"up to date: {images}")
    return 0


def _say(text: str) -> None:
    print(f"arena: {text}", file=sys.stderr, flush=True)  # noqa: T201 - the command's messages


if __name__ == "__main__":
    sys.exit(main())
