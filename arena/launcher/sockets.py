"""The folders in which a match's sockets lie: one a seat, and one for the referee alone."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from arena.launcher.errors import MatchVoid
from arena.sandbox import SOCKET_NAME, slot_owner

REFEREE_UID: Final = 63_000
"""A match's referee runs as this plus its first slot, where the launcher is root."""

_MAX_PATH: Final = 107  # sun_path, less its closing zero


class SeatSockets:
    """The folders of one match.

    Args:
        root: A folder of this match alone.
        slots: One a seat.
    """

    def __init__(self, root: Path, slots: tuple[int, ...]) -> None:
        self.folders = tuple(root / str(seat) for seat in range(len(slots)))
        self.paths = tuple(folder / SOCKET_NAME for folder in self.folders)
        self.referee_folder = root / "referee"
        self._slots = slots
        self.referee_uid = REFEREE_UID + slots[0] if os.geteuid() == 0 else None
        longest = max(len(os.fsencode(path)) for path in self.paths)
        if longest > _MAX_PATH:
            raise MatchVoid(
                f"the socket's path {self.paths[-1]} has {longest} bytes, a socket can have {_MAX_PATH}: "
                "set ARENA_RUN_DIR to a shorter folder"
            )

    def make(self) -> None:
        """Make the folders. Only this process's user can write to those of the seats.

        The referee's can be entered by nobody but the referee, and is mounted into no container.
        """
        for folder in self.folders:
            folder.mkdir(parents=True, mode=0o711)
        self.referee_folder.mkdir(mode=0o700)
        if self.referee_uid is not None:
            os.chown(self.referee_folder, self.referee_uid, self.referee_uid)

    def hand_over(self) -> None:
        """Once the referee listens, let each socket's bot, and nobody else, dial in."""
        for path, slot in zip(self.paths, self._slots, strict=True):
            path.chmod(0o600)
            os.lchown(path, *slot_owner(slot, os.geteuid(), os.getegid()))


@contextmanager
def seat_sockets(run_dir: Path, slots: tuple[int, ...]) -> Iterator[SeatSockets]:
    """Make a match's folders, and remove them in the end.

    Their name tells nothing: a bot can read the path of what is mounted into its container.
    """
    try:
        run_dir.mkdir(parents=True, exist_ok=True, mode=0o711)
        root = Path(tempfile.mkdtemp(prefix="", dir=run_dir))
    except OSError as error:
        raise MatchVoid(f"the folders of the sockets in {run_dir}: {error}") from error
    try:
        root.chmod(0o711)
        sockets = SeatSockets(root, slots)
        sockets.make()
        yield sockets
    except OSError as error:
        raise MatchVoid(f"the folders of the sockets in {root}: {error}") from error
    finally:
        shutil.rmtree(root, ignore_errors=True)
