"""Tests of settings in the environment, and of the errors for invalid ones."""

import ast
import os
import re
from pathlib import Path

import pytest

from arena.platform.environment import OTHER_VARIABLES
from arena.platform.settings import Settings, WrongSettings, read_settings

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"ARENA_[A-Z_]*[A-Z]")


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove all settings from the environment."""
    for name in [name for name in os.environ if name.startswith("ARENA_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ARENA_DATADIR", "ARENA_DATA_DIR"),
        ("ARENA_KEEP_LOG_DAYS", "ARENA_KEEP_LOGS_DAYS"),
        ("ARENA_OPS_ADRESS", "ARENA_OPS_ADDRESS"),
        ("ARENA_IMAGE_QUOTA", "ARENA_IMAGE_QUOTA_GIB"),
        ("arena_acept_missing", "ARENA_ACCEPT_MISSING"),
        ("ARENA_TOKENS", "ARENA_TOKEN"),
    ],
)
def test_a_misspelt_name_is_refused_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, name: str, meant: str
) -> None:
    """A misspelt setting is refused, since its default would be used instead."""
    monkeypatch.setenv(name, "7")
    with pytest.raises(WrongSettings) as refused:
        read_settings()
    assert str(refused.value).startswith(f"{name}: no such setting. Did you mean {meant}?")


@pytest.mark.parametrize("name", ["ARENA_SOURCE_URL", "ARENA_PACKAGE_URL"])
def test_a_download_has_an_address_that_can_be_copied_into_a_shell(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The error for any other address has an example."""
    for wrong in ("kaiten", "ftp://code.test/kaiten", "https://code.test/a b", "https://code.test/$(id)"):
        monkeypatch.setenv(name, wrong)
        with pytest.raises(WrongSettings, match=f"^{name}=.* such as https://code.example/kaiten.git$"):
            read_settings()
    right = "http://user.code.test:8080/~me/kaiten-0.1.0+a-py3-none-any.whl#sha256=ab"
    monkeypatch.setenv(name, right)
    assert right in {read_settings().source_url, read_settings().package_url}


def test_every_wrong_name_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that resemble no setting, and those of empty variables, are reported too."""
    monkeypatch.setenv("ARENA_PROT", "")
    monkeypatch.setenv("ARENA_QXZJV", "1")
    with pytest.raises(WrongSettings) as refused:
        read_settings()
    assert "ARENA_PROT: no such setting. Did you mean ARENA_PORT?" in str(refused.value)
    assert "ARENA_QXZJV: no such setting. Unset it." in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("ARENA_PORT", "many"), ("ARENA_SANDBOX", "chroot"), ("ARENA_DISK_FLOOR_GIB", "inf")],
)
def test_an_unusable_value_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """The error begins with the setting and its value."""
    monkeypatch.setenv(name, value)
    with pytest.raises(WrongSettings, match=f"^{name}={value}: "):
        read_settings()


def test_other_variables_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our variables that aren't settings, and those of other programs, are ignored."""
    for name in (*OTHER_VARIABLES, "ARENAS_OWN", "MY_ARENA_PORT"):
        monkeypatch.setenv(name, "whatever")
    monkeypatch.setenv("ARENA_PORT", "8123")
    assert read_settings().port == 8123


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compose passes unset variables on as empty ones."""
    for field in Settings.model_fields:
        monkeypatch.setenv(f"ARENA_{field.upper()}", "")
    assert read_settings() == Settings.model_construct()
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)  # root doesn't use this variable
    assert read_settings().sockets.is_absolute()


def strings(folder: Path) -> set[str]:
    """Return the names of variables in strings of the Python code below a folder."""
    trees = (ast.parse(file.read_text()) for file in folder.rglob("*.py"))
    values = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {value for value in values if isinstance(value, str) and NAME.fullmatch(value)}


def test_variables_in_the_code_are_known() -> None:
    """Each of our variables is a setting, or listed as another variable."""
    known = {f"ARENA_{field.upper()}" for field in Settings.model_fields} | OTHER_VARIABLES
    assert strings(ROOT / "arena") | strings(ROOT / "web") <= known


def test_webhook_hosts_are_compared_without_regard_to_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hosts of authors' webhooks are in lower case, because URLs are parsed that way."""
    monkeypatch.setenv("ARENA_WEBHOOK_HOSTS", "Hooks.Lan:8080,[FD00::A]:80")
    assert read_settings().webhook_hosts == {"hooks.lan:8080", "[fd00::a]:80"}
