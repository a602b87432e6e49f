"""The folders of a match's sockets."""

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.play.launcher.seats import LONGEST_RUN_DIR, seat_sockets

SEATS = 5


@pytest.fixture
def short() -> Iterator[Path]:
    """Give a folder with a short path."""
    with tempfile.TemporaryDirectory(prefix="kaiten-s-") as folder:
        yield Path(folder)


def padded(folder: Path, size: int) -> Path:
    """Return a folder below another whose path has this many bytes."""
    return folder / ("x" * (size - len(os.fsencode(folder)) - 1))


def test_sockets_can_be_made_below_the_longest_folder_and_no_longer_one(short: Path) -> None:
    """The limit that is checked at the start is the very one."""
    for size, fits in ((LONGEST_RUN_DIR, True), (LONGEST_RUN_DIR + 1, False)):
        with seat_sockets(padded(short, size), tuple(range(SEATS))) as sockets:
            for path in sockets.paths:
                with socket.socket(socket.AF_UNIX) as made:
                    if fits:
                        made.bind(str(path))
                    else:
                        with pytest.raises(OSError, match="AF_UNIX path too long"):
                            made.bind(str(path))
