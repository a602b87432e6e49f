"""What an attack is made of."""

import os
import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from arena.images.image import DEFAULT_LIMITS, BotImage
from tests.images.archives import BASE, BOT, Draft, docker_29, old_docker, write
from tests.images.measured import Outcome
from tests.images.tars import file, folder, tar

CANARY = Path(tempfile.gettempdir(), f"kaiten-canary-{os.getpid()}", "file")
"""A file outside of everything that intake may touch; attacks aim at it."""

OUT = b"../" * 20 + os.fsencode(CANARY).lstrip(b"/")
"""The way there, out of any folder."""

PATIENT = msgspec.structs.replace(DEFAULT_LIMITS, wall_seconds=60.0)
"""A busy machine decides nothing here: processor time is measured. The limit on the clock is shown in
test_reader.py."""

MOST_SECONDS = 10
MOST_KIB = 256 * 1024

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


def complaints(attack: Attack, outcome: Outcome, output: Path) -> list[str]:
    """Return what is wrong with the outcome of a hostile archive, in words."""
    found = []
    if outcome.trouble or outcome.notes:
        found.append(f"{outcome.trouble}, {outcome.notes}")
    elif attack.refused is not None and not re.search(attack.refused, outcome.refusal or ""):
        found.append(f"not refused in the right words: {outcome.refusal}")
    elif attack.harmless is not None and outcome.image is None:
        found.append(f"refused: {outcome.refusal}")
    elif attack.harmless is not None and outcome.image is not None:
        try:
            attack.harmless(outcome.image, output)
        except AssertionError as error:
            found.append(f"not harmless: {error}")
    return [*found, *costs(outcome)]


def costs(outcome: Outcome) -> list[str]:
    """Return what reading took beyond its bounds, in words."""
    if outcome.cpu_seconds > MOST_SECONDS or outcome.memory_kib > MOST_KIB:
        return [f"{outcome.cpu_seconds:.1f} s, {outcome.memory_kib} KiB"]
    return []
