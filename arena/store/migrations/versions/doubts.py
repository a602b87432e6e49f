"""Whether a worker is doubted, so that others play what they can."""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Make the column. Who is doubted now is known within seconds."""
    # Written out: alembic would make the table anew on SQLite, with its rows in another order.
    op.execute("ALTER TABLE worker ADD COLUMN doubted BOOLEAN NOT NULL DEFAULT false")


def downgrade() -> None:
    """Drop it."""
    op.execute("ALTER TABLE worker DROP COLUMN doubted")
