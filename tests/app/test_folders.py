"""Tests of an installation's folders."""

import tempfile
from pathlib import Path

import pytest

from arena.app.folders import CannotStart, data_dir_lock, install_id
from arena.app.host import sockets_folder
from arena.platform.settings import Settings
from arena.play.launcher.seats import MAX_RUN_DIR_LENGTH
from tests.locks import refuse_locks


def test_a_data_directory_is_only_for_its_user(tmp_path: Path) -> None:
    """Whatever creates it, the users of referees and archive readers can't enter it."""
    with data_dir_lock(tmp_path / "locked"):
        assert (tmp_path / "locked").stat().st_mode & 0o777 == 0o700
    install_id(tmp_path / "named")
    assert (tmp_path / "named").stat().st_mode & 0o777 == 0o700


def test_an_unusable_data_directory_is_named(tmp_path: Path) -> None:
    """The error says what to do, whether the lock or the id is needed first."""
    (tmp_path / "file").touch()
    message = rf"can't use the data directory {tmp_path}/file/data \(Not a directory\): give this user access"
    with pytest.raises(CannotStart, match=message), data_dir_lock(tmp_path / "file" / "data"):
        pass
    with pytest.raises(CannotStart, match=message):
        install_id(tmp_path / "file" / "data")


def test_a_data_directory_without_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without locks, two arenas could run in the same directory."""
    refuse_locks(monkeypatch)
    with pytest.raises(CannotStart, match=r"\(No locks available\)"), data_dir_lock(tmp_path):
        pass


def test_an_existing_data_directory_keeps_its_mode(tmp_path: Path) -> None:
    """An operator can give the site's user access to an existing directory."""
    tmp_path.chmod(0o750)
    with data_dir_lock(tmp_path):
        install_id(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o750


def test_an_overlong_folder_of_sockets_is_refused_at_the_start() -> None:
    """The error names the setting, and nothing is created. A path one byte shorter is accepted."""
    with tempfile.TemporaryDirectory(prefix="kaiten-f-") as short:
        most = MAX_RUN_DIR_LENGTH - len("/12345678")
        longest = Path(short) / ("x" * (most - len(short) - 1))
        too_long = longest.with_name(f"{longest.name}x")
        with pytest.raises(CannotStart, match=rf"is {most + 1} bytes long.* set ARENA_RUN_DIR"):
            sockets_folder(Settings(run_dir=too_long))
        assert not too_long.exists()
        assert sockets_folder(Settings(run_dir=longest)).is_dir()
        assert len(install_id(Path(short) / "data")) == len("12345678")
