"""The attacks that are uploads, numbers 28 to 30.

Each consists of some of the hostile archives in ``tests/images/hostile``. ``tests/images`` tests all of them.
"""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from tests.images.archives import AMD64, PATIENT
from tests.images.hostile import ATTACKS
from tests.images.hostile.attack import complaints
from tests.images.measured import measure

REFUSED: Final = "R"
HARMLESS: Final = "harmless"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Hostile archives of one kind."""

    number: int  # in the same series as those of other attacks
    name: str  # a few words
    archives: tuple[str, ...]  # their names


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The outcome of an upload."""

    verdicts: frozenset[str]  # `REFUSED` or `HARMLESS` for each archive
    seconds: float  # in total
    memory: int  # peak while reading; bytes
    wrong: tuple[str, ...]  # what is wrong with the hostile archives' outcomes
    loose: tuple[str, ...]  # what is wrong without their hostile parts, or with higher limits


UPLOADS: Final = (
    Upload(
        number=28,
        name="archive with traversal, symlink, device",
        archives=("a path that climbs out", "a file through a link", "a disk", "a member that climbs out"),
    ),
    Upload(
        number=29,
        name="decompression bomb, 500 layers, giant group file",
        archives=(
            "a layer that is a gzip bomb",
            "an archive that is a gzip bomb",
            "five hundred layers",
            "giant accounts",
        ),
    ),
    Upload(
        number=30,
        name="config with root, volumes, health check, labels, tag",
        archives=(
            "root as the user",
            "volumes over the system",
            "a health check that runs",
            "the arena's own labels",
            "someone else's name",
        ),
    ),
)


def take(upload: Upload) -> Taken:
    """Read every archive of an upload, and each again without its hostile part or with higher limits."""
    begun = time.monotonic()
    verdicts, memory = set(), 0
    wrong: list[str] = []
    loose: list[str] = []
    for attack in (attack for attack in ATTACKS if attack.name in upload.archives):
        with tempfile.TemporaryDirectory(prefix="kaiten-u-") as folder:
            archive, output = Path(folder, "archive"), Path(folder, "output")
            attack.build(archive)
            outcome = measure(archive, output, AMD64, PATIENT)
            verdicts.add(REFUSED if outcome.refusal else HARMLESS)
            memory = max(memory, outcome.memory_kib * 1024)
            wrong += [f"{attack.name}: {what}" for what in complaints(attack, outcome, output)]
            if attack.control is not None:
                attack.control(archive)
            limits = msgspec.structs.replace(PATIENT, cpu_seconds=60, **attack.raised)
            freed = measure(archive, Path(folder, "freed"), AMD64, limits)
            if freed.image is None:
                loose.append(f"{attack.name}: {freed.refusal or freed.trouble}")
    return Taken(
        verdicts=frozenset(verdicts),
        seconds=time.monotonic() - begun,
        memory=memory,
        wrong=tuple(wrong),
        loose=tuple(loose),
    )
