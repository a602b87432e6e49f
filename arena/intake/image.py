"""An image as the arena keeps it: a few words on what to start, and layers by their digests.

The image's id is the digest of its configuration, which names every layer by the digest of
its uncompressed tar (OCI image specification 1.1, "Image Configuration": DiffIDs and ImageID).
So the id alone vouches for all of the content.
"""

import hashlib
from typing import Final

import msgspec

_EPOCH: Final = "1970-01-01T00:00:00Z"


class Platform(msgspec.Struct, frozen=True):
    """What an image runs on, in Go's words, such as ``linux`` and ``amd64``."""

    os: str
    architecture: str

    def __str__(self) -> str:
        return f"{self.os}/{self.architecture}"


class Layer(msgspec.Struct, frozen=True):
    """One layer.

    Attributes:
        digest: ``sha256:…`` of its uncompressed tar.
        size: Of that, in bytes.
    """

    digest: str
    size: int


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """All of an image's configuration that is kept.

    Attributes:
        entrypoint: Words; may be empty where ``cmd`` is not.
        cmd: Words that follow it.
        env: ``NAME=value`` each.
        working_dir: An absolute path.
    """

    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    working_dir: str = "/"


class BotImage(msgspec.Struct, frozen=True, kw_only=True):
    """An image: what to start, on which platform, out of which layers, the lowest first."""

    platform: Platform
    command: Command
    layers: tuple[Layer, ...]

    def config(self) -> bytes:
        """Return the image's configuration: the same bytes for the same content, whenever it is made."""
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
