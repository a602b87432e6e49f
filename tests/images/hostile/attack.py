"""What an attack is made of."""

import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.images.image import BotImage
from tests.images.archives import BASE, BOT, Draft, docker_29, old_docker, write
from tests.images.tars import file, folder, tar

CANARY = Path(tempfile.gettempdir(), f"kaiten-canary-{os.getpid()}", "file")
"""A file outside of everything that intake may touch; attacks aim at it."""

OUT = b"../" * 20 + os.fsencode(CANARY).lstrip(b"/")
"""The way there, out of any folder."""

Build = Callable[[Path], object]
Check = Callable[[BotImage, Path], None]


@dataclass(frozen=True, kw_only=True)
class Attack:
    """A hostile archive."""

    name: str  # what it does
    build: Build  # writes it to a path
    # Writes the same without its hostile part, which must be taken. None where a limit shows it.
    control: Build | None = None
    refused: str | None = None  # words of the refusal
    harmless: Check | None = None  # where it is taken instead: checks what is left of it
    # Limits under which the hostile archive itself is taken: it is they that stopped it.
    raised: dict[str, Any] = field(default_factory=dict)


def archive(draft: Draft) -> Build:
    """Return what writes an image as older engines save it."""
    return lambda path: write(path, old_docker(draft))


def oci_archive(draft: Draft) -> Build:
    """Return what writes an image as newer engines save it."""
    return lambda path: write(path, docker_29(draft))


def in_layer(
    name: str,
    *hostile: bytes,
    refused: str | None = None,
    harmless: Check | None = None,
    before: Iterable[bytes] = (),
    raised: dict[str, Any] | None = None,
) -> Attack:
    """Return an attack by members of a layer.

    The members ``before`` do no harm by themselves; the control has them too.
    """
    usual = (folder(b"bot"), file(b"bot/bot.py", b"pass\n"), *before)
    return Attack(
        name=name,
        build=archive(Draft(layers=[BASE, tar(*usual, *hostile)])),
        control=archive(Draft(layers=[BASE, tar(*usual)])),
        refused=refused,
        harmless=harmless,
        raised=raised or {},
    )


def in_config(
    name: str,
    *,
    refused: str | None = None,
    harmless: Check | None = None,
    **config: Any,  # noqa: ANN401 - JSON
) -> Attack:
    """Return an attack by fields of an image's configuration."""
    return Attack(
        name=name,
        build=oci_archive(Draft(config=config)),
        control=oci_archive(Draft()),
        refused=refused,
        harmless=harmless,
    )


def layered(*layers: bytes) -> Draft:
    """Return an image with these layers above the usual ones."""
    return Draft(layers=[BASE, BOT, *layers])
