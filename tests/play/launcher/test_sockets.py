"""Folders for the sockets of a match."""

import os
import socket
from pathlib import Path

import pytest

from arena.play.launcher.seats import MAX_RUN_DIR_LENGTH, seat_sockets

SEATS = 5


def padded(folder: Path, size: int) -> Path:
    """Return a path below this folder that is ``size`` bytes long."""
    return folder / ("x" * (size - len(os.fsencode(folder)) - 1))


def test_sockets_fit_below_a_folder_of_the_maximum_length_and_not_a_longer_one(run_dir: Path) -> None:
    """MAX_RUN_DIR_LENGTH, which is checked at startup, is the exact limit."""
    for size, fits in ((MAX_RUN_DIR_LENGTH, True), (MAX_RUN_DIR_LENGTH + 1, False)):
        with seat_sockets(padded(run_dir, size), tuple(range(SEATS))) as sockets:
            for path in sockets.paths:
                with socket.socket(socket.AF_UNIX) as made:
                    if fits:
                        made.bind(str(path))
                    else:
                        with pytest.raises(OSError, match="AF_UNIX path too long"):
                            made.bind(str(path))


def test_bots_can_enter_their_folders_whatever_the_umask(run_dir: Path) -> None:
    """Other users can enter the bots' folders, since a root arena's bots need to, but not the referee's."""
    before = os.umask(0o077)
    try:
        with seat_sockets(run_dir, (0, 1)) as sockets:
            folders = (sockets.folders[0].parent, *sockets.folders, sockets.referee_folder)
            assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o711, 0o711, 0o711, 0o700]
    finally:
        os.umask(before)


def test_an_error_during_the_match_does_not_blame_the_folders(run_dir: Path) -> None:
    """Only errors that occur while the folders are being created are reported as errors of the folders."""
    with pytest.raises(BrokenPipeError), seat_sockets(run_dir, (0,)):
        raise BrokenPipeError
    assert not list(run_dir.iterdir())
