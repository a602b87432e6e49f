"""The folders of an installation."""

from pathlib import Path

from arena.bootstrap.folders import alone, install_id


def test_a_data_directory_is_for_its_user_alone(tmp_path: Path) -> None:
    """Whoever makes it first: referees and readers of archives, which have other users, can't enter it."""
    with alone(tmp_path / "locked"):
        assert (tmp_path / "locked").stat().st_mode & 0o777 == 0o700
    install_id(tmp_path / "named")
    assert (tmp_path / "named").stat().st_mode & 0o777 == 0o700


def test_a_data_directory_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    """An operator may let the site's user in."""
    tmp_path.chmod(0o750)
    with alone(tmp_path):
        install_id(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o750
