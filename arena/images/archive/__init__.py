"""Reads an untrusted archive and rewrites its layers, in the process that arena.images.reader starts.

This code opens no files, creates no paths and starts no processes: it works on three files that are already
open, and writes an answer. It checks every number in an archive against a limit before using it.

    sources    byte sources: ranges of files, gunzipped, hashed or limited
    tar        the members of a tar, read strictly
    outer      the archive's members by name, and the rules for paths and links
    formats    finds the image, in an OCI layout or in an older engine's format
    tree       an image's files, with the details needed to resolve links
    layers     reads and writes layers
    __main__   the process: privileges, limits, the answer

This module defines the job and the answers, which are one line of JSON each.
"""

from typing import Final

import msgspec

from arena.images.image import Command, IntakeLimits, Layer, Platform

MAX_ANSWER_BYTES: Final = 256 * 1024
"""Limit on the process's output: enough for 64 layers and a command with its variables, or for an error."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The process's task."""

    archive: int  # descriptor of the archive, open for reading
    scratch: int  # descriptor of an empty, unnamed file for the decompressed archive
    output: int  # descriptor of an empty file for the layers
    platform: Platform  # which of the archive's images to choose
    uid: int | None  # user and group to switch to; None to keep the current ones
    limits: IntakeLimits  # limits on the archive and on the process


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The process has dropped its privileges. Any later crash is blamed on the archive."""


class Repacked(msgspec.Struct, frozen=True, tag=True):
    """The layers are in the output file, one after another."""

    command: Command
    layers: tuple[Layer, ...]


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The archive is unacceptable; the message is for its author."""

    text: str


class Stopped(msgspec.Struct, frozen=True, tag=True):
    """The reader failed for a reason other than the archive, such as a full or unreadable disk."""

    text: str


class Broken(msgspec.Struct, frozen=True, tag=True):
    """The reader failed unexpectedly; the message is for the developer."""

    text: str


Answer = Repacked | Refused | Stopped | Broken
FromReader = Ready | Answer
