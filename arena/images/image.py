"""A bot image as the arena stores it: the start command, and the layers by digest.

The image's id is the digest of its configuration, which lists the digest of each layer's uncompressed tar
(OCI image specification 1.1, "Image Configuration": DiffIDs and ImageID). The id therefore covers all of the
content.
"""

import hashlib
import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

_EPOCH: Final = "1970-01-01T00:00:00Z"


class Platform(msgspec.Struct, frozen=True):
    """The platform an image runs on, in Go's terms, such as ``linux`` and ``amd64``."""

    os: str
    architecture: str

    def __str__(self) -> str:
        return f"{self.os}/{self.architecture}"


class Layer(msgspec.Struct, frozen=True):
    """A layer: the digest (``sha256:…``) and the size in bytes of its uncompressed tar."""

    digest: str
    size: int


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """The only settings in an image's configuration that the arena keeps."""

    entrypoint: tuple[str, ...] = ()  # may be empty if `cmd` isn't
    cmd: tuple[str, ...] = ()  # appended to `entrypoint`
    env: tuple[str, ...] = ()  # `NAME=value` entries
    working_dir: str = "/"  # an absolute path


class BotImage(msgspec.Struct, frozen=True, kw_only=True):
    """An image: the platform, the start command, and the layers, lowest first."""

    platform: Platform
    command: Command
    layers: tuple[Layer, ...]

    def config(self) -> bytes:
        """Return the image's configuration as JSON; the same content always gives the same bytes."""
        command = self.command
        return msgspec.json.encode(
            {
                "architecture": self.platform.architecture,
                "config": {
                    "Cmd": list(command.cmd) or None,
                    "Entrypoint": list(command.entrypoint) or None,
                    "Env": list(command.env),
                    "WorkingDir": command.working_dir,
                },
                "created": _EPOCH,
                "history": [{"created": _EPOCH} for _ in self.layers],
                "os": self.platform.os,
                "rootfs": {"diff_ids": [layer.digest for layer in self.layers], "type": "layers"},
            },
            order="deterministic",
        )

    @property
    def id(self) -> str:
        """``sha256:…`` of the configuration."""
        return f"sha256:{hashlib.sha256(self.config()).hexdigest()}"


_KIB: Final = 1024
_MIB: Final = 1024 * _KIB


class IntakeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on one archive, and on the process that reads it."""

    # Applies to the uploaded archive, and again to the archive after decompression.
    archive_bytes: int = 768 * _MIB
    # Total size of all layers, uncompressed; checked both when reading and when writing.
    image_bytes: int = 512 * _MIB
    layers: int = 64
    archive_members: int = 4_096  # members of the archive itself, of any kind
    # Files, folders and links in all layers together, including folders that have no entry in a tar.
    members: int = 65_536
    name_bytes: int = 1_023  # length of one path or link target; XFS stores no longer link
    names_bytes: int = 16 * _MIB  # length of all paths and link targets together
    hard_links: int = 10_000  # hard links to one file; ext4 allows 65,000, some other file systems fewer
    depth: int = 64  # folders in one path
    expansion: int = 100  # average gzip ratio after the first 16 MiB; real files stay below 10
    gzip_members: int = 100_000  # members in one gzip file; some builders write one for each file in a layer
    header_bytes: int = 64 * _KIB  # size of one extended tar header
    json_bytes: int = _MIB  # size of one JSON document
    # Size of `/etc/passwd` and of `/etc/group`, which engines read into their own memory.
    accounts_bytes: int = 64 * _KIB - 1  # engines fail on a line of 64 KiB
    command_words: int = 256  # words in ENTRYPOINT and CMD together; also the limit on variables
    command_bytes: int = 32 * _KIB  # size of these words, the variables and WORKDIR together
    memory_bytes: int = 256 * _MIB  # address space of the process
    cpu_seconds: int = 7  # processor time of the process
    wall_seconds: float = 9.0  # from the process's start to its answer


DEFAULT_LIMITS: Final = IntakeLimits()


class Rejected(Exception):
    """The upload is unacceptable. The message tells the upload's author what happened and what to do."""


class IntakeError(Exception):
    """The arena can't process uploads at the moment.

    The message is for the operator. The submission's page shows it to the author too, and adds that the arena
    retries automatically.
    """


MOUNTED: Final = ("dev", "proc", "sys")
"""Top-level folders that the runtime mounts over. An image's own content there is never visible."""

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}")
_RESERVED: Final = re.compile(r"ARENA_.*|HOME")
"""Variables that the arena sets itself."""


class ImageSettings(msgspec.Struct, frozen=True):
    """The settings in an image's configuration that the arena reads; it ignores other settings."""

    entrypoint: list[str] | None = msgspec.field(default=None, name="Entrypoint")
    cmd: list[str] | None = msgspec.field(default=None, name="Cmd")
    env: list[str] | None = msgspec.field(default=None, name="Env")
    working_dir: str | None = msgspec.field(default=None, name="WorkingDir")
    volumes: dict[str, Any] | None = msgspec.field(default=None, name="Volumes")


def command_of(settings: ImageSettings, limits: IntakeLimits) -> Command:
    """Return an image's command, without the variables that the arena sets itself.

    Raises Rejected if the image has no command or declares a volume, or the command breaks a rule or limit.
    """
    if settings.volumes:
        # A rewritten image would lose its volumes, and an unchanged image would keep them. Refuse volumes in
        # both cases.
        raise Rejected(
            "the image declares a VOLUME, but bots can write only to /tmp: remove it from the "
            "Dockerfile, or use another parent image"
        )
    variables = _last_of_each(settings.env or ())
    command = Command(
        entrypoint=tuple(settings.entrypoint or ()),
        cmd=tuple(settings.cmd or ()),
        env=tuple(variable for variable in variables if not _RESERVED.fullmatch(_name(variable))),
        working_dir=_normalised(settings.working_dir or "/"),
    )
    check_command(command, limits)
    return command


def check_command(command: Command, limits: IntakeLimits) -> None:
    """Check a command. Raises Rejected if it is empty, or breaks a rule or limit."""
    words = (*command.entrypoint, *command.cmd)
    if not words or not words[0]:
        raise Rejected(
            "the image has no start command: give its Dockerfile an ENTRYPOINT, "
            'such as ENTRYPOINT ["python", "/bot/bot.py"]'
        )
    _check_text((*words, *command.env, command.working_dir), limits)
    for what, found in (("words in its ENTRYPOINT and CMD", words), ("variables (ENV)", command.env)):
        if len(found) > limits.command_words:
            raise Rejected(f"the image has {len(found)} {what} (limit {limits.command_words}): use fewer")
    for variable in command.env:
        name = _name(variable)
        if name == variable or not _VARIABLE.fullmatch(name):
            raise Rejected(
                f"the image's ENV variable {name[:40]!a} has no value or an invalid name: rename or remove it"
            )
        if _RESERVED.fullmatch(name):
            raise Rejected(f"the image sets {name}, which is reserved for the arena: remove it")
    _check_working_dir(command.working_dir)


def _check_text(words: Sequence[str], limits: IntakeLimits) -> None:
    try:
        size = sum(len(word.encode()) for word in words)
    except UnicodeEncodeError:
        raise Rejected("the image's configuration contains invalid Unicode: encode it as UTF-8") from None
    if size > limits.command_bytes:
        raise Rejected(
            f"the image's ENTRYPOINT, CMD, ENV and WORKDIR take up {size} bytes "
            f"(limit {limits.command_bytes}): shorten them"
        )
    if any("\0" in word for word in words):
        raise Rejected("the image's ENTRYPOINT, CMD, ENV or WORKDIR has a NUL character: remove it")


def _check_working_dir(path: str) -> None:
    parts = path.split("/")
    if not path.startswith("/") or ".." in parts:
        raise Rejected(f"the image's WORKDIR {path[:80]!a} must be an absolute path without '..'")
    if _normalised(path) != path:
        raise Rejected(f"the image's WORKDIR {path[:80]!a} is not normalised: use {_normalised(path)[:80]!a}")
    if parts[1] in MOUNTED:
        raise Rejected(
            f"the image's WORKDIR {path[:80]!a} is a system folder, or in one: "
            "choose a different WORKDIR, such as /bot"
        )


def _normalised(path: str) -> str:
    """Remove redundant slashes and single dots from an absolute path.

    Return a path unchanged if it is relative or contains ``..``.
    """
    if not path.startswith("/") or ".." in path.split("/"):
        return path
    return "/" + posixpath.normpath(path).strip("/")


def _last_of_each(variables: Iterable[str]) -> list[str]:
    """Return the variables in order of first mention, each with its last value."""
    return list({_name(variable): variable for variable in variables}.values())


def _name(variable: str) -> str:
    return variable.partition("=")[0]
