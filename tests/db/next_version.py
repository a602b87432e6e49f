"""A simulated next version of this program, with one more migration to apply to current databases."""

import shutil
from pathlib import Path
from typing import Final

import pytest

from arena.db import migrations, schema_revision

NEXT_REVISION: Final = f"{int(schema_revision.NEWEST_REVISION) + 1:04}"

NICKNAMES: Final = (
    "ALTER TABLE bot ADD COLUMN nickname TEXT NOT NULL DEFAULT ''",
    "UPDATE bot SET nickname = upper(name)",
)
"""A migration that changes a table and its rows."""


def become(monkeypatch: pytest.MonkeyPatch, folder: Path, statements: tuple[str, ...] = NICKNAMES) -> None:
    """Make this process the next version, which migrates with these statements, until the test ends."""
    scripts = folder / "next-migrations"
    shutil.copytree(Path(migrations.__file__).parent, scripts)
    (scripts / "versions" / "added.py").write_text(
        "from alembic import op\n\n"
        f"revision = {NEXT_REVISION!r}\n"
        f"down_revision = {schema_revision.NEWEST_REVISION!r}\n\n\n"
        "def upgrade():\n"
        f"    for statement in {statements!r}:\n"
        "        op.execute(statement)\n"
    )
    monkeypatch.setattr(schema_revision, "SCRIPTS", str(scripts))
    monkeypatch.setattr(schema_revision, "NEWEST_REVISION", NEXT_REVISION)
