"""What the process that reads an archive is told, and what it says: one line of JSON each."""

from typing import Final

import msgspec

from arena.intake.image import Command, Layer, Platform
from arena.intake.limits import IntakeLimits

MAX_ANSWER_BYTES: Final = 256 * 1024
"""Of all that the process may say: 64 layers, a command and its variables, or a text."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The process's task.

    Attributes:
        archive: Descriptor of the archive, open for reading.
        scratch: Descriptor of an empty file without a name, for what the archive's compression hid.
        output: Descriptor of an empty file, for the layers.
        platform: Of the image to choose.
        uid: User and group to become; None to stay what it is.
        limits: What it and the archive are held to.
    """

    archive: int
    scratch: int
    output: int
    platform: Platform
    uid: int | None
    limits: IntakeLimits


class Ready(msgspec.Struct, frozen=True, tag=True):
    """It has given up its privileges and reads from here on: what ends it now is the archive's doing."""


class Repacked(msgspec.Struct, frozen=True, tag=True):
    """The layers are in the output, one after another."""

    command: Command
    layers: tuple[Layer, ...]


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The archive can't be taken; the text is for its owner."""

    text: str


class Stopped(msgspec.Struct, frozen=True, tag=True):
    """The reader could not go on, and it was not the archive: no room on the disk, an unreadable disk."""

    text: str


class Broken(msgspec.Struct, frozen=True, tag=True):
    """The reader failed in a way that it does not know; the text is for whoever mends it."""

    text: str


Answer = Repacked | Refused | Stopped | Broken
FromReader = Ready | Answer
