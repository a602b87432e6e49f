"""The clock and limits of a ladder, which were constants."""

import sqlalchemy as sa
from alembic import op

revision = "0103"
down_revision = "0102"

_COLUMNS = {
    "start_millis": "10000",
    "move_millis": "1000",
    "bank_millis": "10000",
    "cpus": "0.4",
    "memory_mib": "256",
    "pids": "64",
    "tmp_mib": "16",
}


def upgrade() -> None:
    """Add the columns with what every match had."""
    for column, default in _COLUMNS.items():
        kind = sa.Double if column == "cpus" else sa.Integer
        op.add_column("ladder", sa.Column(column, kind(), nullable=False, server_default=sa.text(default)))
