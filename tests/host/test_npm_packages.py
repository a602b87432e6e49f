"""Tests of the npm packages for the JavaScript bots' base image, which are pinned and checked."""

import json
import shutil
from pathlib import Path

import pytest

from arena.languages.javascript import JAVASCRIPT
from arena.languages.packages import NPM_PINS, FetchFailed, fetch_modules

RECIPE = JAVASCRIPT.recipe.folder


def copy_pins(folder: Path) -> Path:
    """Copy the pins into a folder, and return the lock file."""
    for pin in NPM_PINS:
        shutil.copy(RECIPE / pin, folder)
    return folder / "package-lock.json"


def test_missing_npm_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says how to install npm. Nothing is created."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FetchFailed, match="apt-get install npm"):
        fetch_modules(RECIPE, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.docker
@pytest.mark.usefixtures("javascript_image")
def test_a_package_with_another_hash_is_refused(tmp_path: Path) -> None:
    """A package from the registry must have the locked hash. Otherwise nothing is created."""
    lock = copy_pins(tmp_path)
    pinned = json.loads(lock.read_text())
    long = pinned["packages"]["node_modules/long"]
    long["integrity"] = pinned["packages"]["node_modules/protobufjs"]["integrity"]
    lock.write_text(json.dumps(pinned))
    with pytest.raises(FetchFailed, match="EINTEGRITY"):
        fetch_modules(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.docker
@pytest.mark.usefixtures("javascript_image")
def test_a_list_that_differs_from_the_lock_file_is_refused(tmp_path: Path) -> None:
    """A version that was edited without the lock file is an error."""
    copy_pins(tmp_path)
    package = tmp_path / "package.json"
    wanted = json.loads(package.read_text())
    wanted["dependencies"]["protobufjs"] = "6.11.4"
    package.write_text(json.dumps(wanted))
    with pytest.raises(FetchFailed, match=r"package-lock\.json .* are in sync"):
        fetch_modules(tmp_path, tmp_path / "out")
