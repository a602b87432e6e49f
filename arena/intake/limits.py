"""What an archive may ask of the arena."""

from typing import Final

import msgspec

_KIB: Final = 1024
_MIB: Final = 1024 * _KIB


class IntakeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on one archive, and on the process that reads it.

    Attributes:
        archive_bytes: Of the archive, as it was sent, and once more without its own compression.
        image_bytes: Of all layers together, uncompressed; as they are read, and as they are written.
        layers: Of the image.
        archive_members: Of the archive itself, whatever their kind.
        members: Files, folders and links of all layers together, folders that are only implied included.
        name_bytes: Of one path, or of what a link points to.
        names_bytes: Of all paths and links together.
        depth: Folders in one path.
        expansion: What gzip may make of a byte, on average, after the first 16 MiB; real files stay below 10.
        gzip_members: Of one gzip file; some builders make one for each file of a layer.
        header_bytes: Of one extended header of a tar.
        json_bytes: Of one JSON document.
        accounts_bytes: Of ``/etc/passwd`` and of ``/etc/group``: engines read them into their own memory.
        command_words: Of entry point, arguments and variables, each.
        command_bytes: Of all of these together.
        memory_bytes: Address space of the process.
        cpu_seconds: Processor time of the process.
        wall_seconds: From its start to its answer.
    """

    archive_bytes: int = 768 * _MIB
    image_bytes: int = 512 * _MIB
    layers: int = 64
    archive_members: int = 4_096
    members: int = 65_536
    name_bytes: int = 1_024
    names_bytes: int = 16 * _MIB
    depth: int = 64
    expansion: int = 100
    gzip_members: int = 100_000
    header_bytes: int = 64 * _KIB
    json_bytes: int = _MIB
    accounts_bytes: int = 64 * _KIB - 1  # engines fail at a line of 64 KiB
    command_words: int = 256
    command_bytes: int = 32 * _KIB
    memory_bytes: int = 256 * _MIB
    cpu_seconds: int = 7
    wall_seconds: float = 9.0


DEFAULT_LIMITS: Final = IntakeLimits()
