"""The image that brings the containers' init to an engine. Pure, but for reading the program itself.

The program is ``init/kaiten-init-<machine>``; ``scripts/build-init`` makes it from the source beside it.
"""

import hashlib
import io
import json
import tarfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from arena.sandbox.errors import RuntimeTrouble

INIT_FILE: Final = "kaiten-init"
INIT_FOLDER: Final = "/init"
"""Where the image has it, alone in a folder."""

_FOLDER: Final = Path(__file__).parent / "init"
_HIDDEN: Final = 0o711
"""All bots of a host have the same file and folder. On what one can read it can set and see locks, and watch
it, and so talk to the others; to start a program nobody has to read it."""

_READABLE: Final = 0o755
"""gVisor starts nothing that the bot's user can't read. It keeps locks and watches to itself."""

_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
_EPOCH: Final = "1970-01-01T00:00:00Z"
_DIGITS: Final = 12


@dataclass(frozen=True)
class Init:
    """The program for one kind of processor.

    Attributes:
        machine: Such as ``x86_64``.
        program: Its bytes.
        readable: Whether bots may read it; see the modes above.
    """

    machine: str
    program: bytes
    readable: bool = False

    @property
    def mode(self) -> int:
        """Of the file and of its folder."""
        return _READABLE if self.readable else _HIDDEN

    @property
    def volume(self) -> str:
        """Name of the volume that holds it: other content is another volume."""
        return f"kaiten-init-{self._digest}"

    @property
    def image(self) -> str:
        """Name of the image that fills the volume."""
        return f"kaiten-init:{self._digest}"

    def archive(self) -> bytes:
        """Return the image as ``docker load`` takes it: the same bytes every time, so one image."""
        layer = self._layer
        config = _json(
            {
                "architecture": _ARCHITECTURES[self.machine],
                "config": {"Cmd": [f"{INIT_FOLDER}/{INIT_FILE}"]},
                "created": _EPOCH,
                "history": [{"created": _EPOCH}],
                "os": "linux",
                "rootfs": {
                    "type": "layers",
                    "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"],
                },
            }
        )
        config_name = f"{hashlib.sha256(config).hexdigest()}.json"
        manifest = _json([{"Config": config_name, "RepoTags": [self.image], "Layers": ["layer.tar"]}])
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, data in (("layer.tar", layer), (config_name, config), ("manifest.json", manifest)):
                _add(archive, name, data, 0o644)
        return buffer.getvalue()

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(self._layer).hexdigest()[:_DIGITS]

    @cached_property
    def _layer(self) -> bytes:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as layer:
            folder = tarfile.TarInfo(INIT_FOLDER.lstrip("/"))
            folder.type, folder.mode = tarfile.DIRTYPE, self.mode
            layer.addfile(folder)
            _add(layer, f"{folder.name}/{INIT_FILE}", self.program, self.mode)
        return buffer.getvalue()


def init_for(machine: str, *, readable: bool = False) -> Init:
    """Return the program for an engine's kind of processor, as ``docker info`` names it.

    Args:
        machine: Such as ``x86_64``.
        readable: Whether bots may read it.

    Raises:
        RuntimeTrouble: There is none.
    """
    if machine not in _ARCHITECTURES:
        raise RuntimeTrouble(
            f"the engine runs on {machine}, and {INIT_FILE}, with which containers begin, is there for "
            f"{' and '.join(_ARCHITECTURES)} alone: use an engine on one of those"
        )
    return Init(machine, (_FOLDER / f"{INIT_FILE}-{machine}").read_bytes(), readable)


def is_init(member: tarfile.TarInfo, data: bytes, init: Init) -> bool:
    """Tell whether what lies in a volume is the program, with the mode that it needs.

    Its owner is root, which is another number on the host of an engine that remaps users.
    """
    return (member.mode & 0o7777, data) == (init.mode, init.program)


def _json(value: Any) -> bytes:  # noqa: ANN401 - whatever has a form in JSON
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def _add(archive: tarfile.TarFile, name: str, data: bytes, mode: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), mode
    archive.addfile(member, io.BytesIO(data))
