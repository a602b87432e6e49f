"""Tests that docs/settings.md lists all settings."""

from arena.platform.environment import OTHER_VARIABLES
from arena.platform.settings import Settings
from tests.docs.documents import DOCS, ROOT, rows

TABLE = {row[0].strip("`"): row[1].strip("`") for row in rows(DOCS / "settings.md")}


def test_every_setting_is_listed_and_nothing_else() -> None:
    """The table and the settings class have the same variables."""
    listed = {variable for variable in TABLE if variable.startswith("ARENA_")}
    assert listed == {f"ARENA_{field.upper()}" for field in Settings.model_fields} | OTHER_VARIABLES


def test_variables_of_make_are_used_by_the_scripts() -> None:
    """The scripts use SANDBOX and ONCE."""
    script = (ROOT / "scripts" / "demo").read_text()
    assert "${SANDBOX:-}" in script
    assert "${ONCE:+" in script
    assert {"SANDBOX=process", "ONCE=1", "CI"} <= TABLE.keys()
