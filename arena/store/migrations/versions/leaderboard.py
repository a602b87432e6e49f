"""What the leaderboard shows beside ratings, without walking over all that was played."""

import sqlalchemy as sa
from alembic import op

from arena.store.migrations import leaderboard_rows

revision = "0006"
down_revision = "0005"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String(length=64)


def upgrade() -> None:
    """Make the columns and tables, and fill them from what was played."""
    number = "INTEGER" if _is_sqlite() else "BIGINT"
    empty = "BLOB NOT NULL DEFAULT x'5b5d'" if _is_sqlite() else r"BYTEA NOT NULL DEFAULT '\x5b5d'"
    # Written out: alembic would make tables anew on SQLite that others refer to.
    op.execute(f"ALTER TABLE ladder ADD COLUMN revision {number} NOT NULL DEFAULT 0")
    op.execute(f"ALTER TABLE bot ADD COLUMN revision {number} NOT NULL DEFAULT 0")
    op.execute(f"ALTER TABLE game_seat ADD COLUMN median_micros {number}")
    op.execute(f"ALTER TABLE rating ADD COLUMN times {empty}")
    op.execute(f"ALTER TABLE rating ADD COLUMN closings {empty}")
    op.create_index("ix_bot_revision", "bot", ["revision"])
    op.create_index("ix_game_ended", "game", ["ended", "number"])
    op.create_table(
        "highlight",
        sa.Column("day", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("kind", _NAME, nullable=False),
        sa.Column("game_number", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("other", sa.Integer(), nullable=True),
        sa.Column("value", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["game_number"], ["game.number"], name=op.f("fk_highlight_game_number")),
        sa.PrimaryKeyConstraint("day", "kind", "game_number", name=op.f("pk_highlight")),
        sqlite_with_rowid=False,
    )
    op.execute("UPDATE ladder SET revision = 1")
    op.execute("UPDATE bot SET revision = 1")
    leaderboard_rows.fill(op.get_bind())


def downgrade() -> None:
    """Drop them; all of it follows from what stays."""
    op.drop_table("highlight")
    op.drop_index("ix_game_ended", table_name="game")
    op.drop_index("ix_bot_revision", table_name="bot")
    for table, columns in (
        ("rating", ("times", "closings")),
        ("game_seat", ("median_micros",)),
        ("bot", ("revision",)),
        ("ladder", ("revision",)),
    ):
        for column in columns:
            op.execute(f"ALTER TABLE {table} DROP COLUMN {column}")


def _is_sqlite() -> bool:
    return bool(op.get_bind().dialect.name == "sqlite")
