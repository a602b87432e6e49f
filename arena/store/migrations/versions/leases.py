"""Who plays a match, and for how long without a sign of life; who could play."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_NAME = sa.String(length=64)
_COLUMNS = {
    "coordinator": "VARCHAR(64)",
    "worker": "VARCHAR(64)",
    "leased_until": "{double}",
    "lease_clock": "VARCHAR(64)",
    "losses": "INTEGER NOT NULL DEFAULT 0",
}


def upgrade() -> None:
    """Make the columns and the table. What ran waits again: nobody knows who was to play it."""
    double = "DOUBLE" if op.get_bind().dialect.name == "sqlite" else "DOUBLE PRECISION"
    # Written out: alembic would make tables anew on SQLite that others refer to.
    for column, kind in _COLUMNS.items():
        op.execute(f"ALTER TABLE match ADD COLUMN {column} {kind.format(double=double)}")
    op.execute("UPDATE match SET state = 'waiting', started = NULL WHERE state = 'running'")
    op.create_table(
        "worker",
        sa.Column("coordinator", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("host", _NAME, nullable=False),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("busy", sa.Integer(), nullable=False),
        sa.Column("leased_until", sa.Double(), nullable=False),
        sa.Column("lease_clock", _NAME, nullable=False),
        sa.PrimaryKeyConstraint("coordinator", "name", name=op.f("pk_worker")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop them. What runs waits again."""
    op.execute("UPDATE match SET state = 'waiting', started = NULL WHERE state = 'running'")
    op.drop_table("worker")
    for column in reversed(_COLUMNS):
        op.execute(f"ALTER TABLE match DROP COLUMN {column}")
