"""Builders and checks of hostile archives."""

import os
import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.images.image import BotImage
from tests.images.archives import BASE, BOT, Draft, docker_29, old_docker, write
from tests.images.measured import Outcome
from tests.images.tars import file, folder, tar

CANARY = Path(tempfile.gettempdir(), f"kaiten-canary-{os.getpid()}", "file")
"""A file that intake must not touch; attacks try to overwrite it."""

OUT = b"../" * 20 + os.fsencode(CANARY).lstrip(b"/")
"""A relative path to the canary that works from any folder."""

MOST_SECONDS = 10
MOST_KIB = 256 * 1024

Build = Callable[[Path], object]
Check = Callable[[BotImage, Path], None]


@dataclass(frozen=True, kw_only=True)
class Attack:
    """A hostile archive."""

    name: str  # the attack
    build: Build  # writes the archive to a path
    # Writes the archive without its hostile part, which must be accepted. None if ``raised`` is used instead.
    control: Build | None = None
    refused: str | None = None  # a pattern that the rejection matches
    harmless: Check | None = None  # checks that the result is harmless, if the archive is accepted instead
    # Limits under which the hostile archive is accepted, which shows that these limits stopped it.
    raised: dict[str, Any] = field(default_factory=dict)


def archive(draft: Draft) -> Build:
    """Return a function that writes an image as older engines save it."""
    return lambda path: write(path, old_docker(draft))


def oci_archive(draft: Draft) -> Build:
    """Return a function that writes an image as newer engines save it."""
    return lambda path: write(path, docker_29(draft))


def in_layer(
    name: str,
    *hostile: bytes,
    refused: str | None = None,
    harmless: Check | None = None,
    before: Iterable[bytes] = (),
    raised: dict[str, Any] | None = None,
) -> Attack:
    """Return an attack in members of a layer.

    The members ``before`` are harmless by themselves, so the control has them too.
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
    """Return an attack in fields of an image's configuration."""
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


def complaints(attack: Attack, outcome: Outcome, output: Path) -> list[str]:
    """Return what is wrong with the outcome of a hostile archive."""
    found = []
    if outcome.trouble or outcome.notes:
        found.append(f"{outcome.trouble}, {outcome.notes}")
    elif attack.refused is not None and not re.search(attack.refused, outcome.refusal or ""):
        found.append(f"refused with the wrong message: {outcome.refusal}")
    elif attack.harmless is not None and outcome.image is None:
        found.append(f"refused: {outcome.refusal}")
    elif attack.harmless is not None and outcome.image is not None:
        try:
            attack.harmless(outcome.image, output)
        except AssertionError as error:
            found.append(f"not harmless: {error}")
    return [*found, *costs(outcome)]


def costs(outcome: Outcome) -> list[str]:
    """Return the resources that reading used beyond its limits."""
    if outcome.cpu_seconds > MOST_SECONDS or outcome.memory_kib > MOST_KIB:
        return [f"{outcome.cpu_seconds:.1f} s, {outcome.memory_kib} KiB"]
    return []
