"""What hosts can hold, and a way to the matches that were put aside."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_QUARANTINED = "state = 'quarantined'"


def upgrade() -> None:
    """Make the table and the index."""
    op.create_table(
        "host_report",
        sa.Column("host", sa.String(length=64), nullable=False),
        sa.Column("checked", sa.DateTime(timezone=True), nullable=False),
        sa.Column("accepted", sa.JSON(), nullable=False),
        sa.Column("report", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_host_report")),
    )
    op.create_index(
        "ix_match_quarantined",
        "match",
        ["ended"],
        sqlite_where=sa.text(_QUARANTINED),
        postgresql_where=sa.text(_QUARANTINED),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_match_quarantined", table_name="match")
    op.drop_table("host_report")
