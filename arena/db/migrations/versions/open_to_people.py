"""Bots that anyone may play against."""

import sqlalchemy as sa
from alembic import op

revision = "0107"
down_revision = "0106"


def upgrade() -> None:
    """Add the column."""
    op.add_column("bot", sa.Column("open_to_people", sa.Boolean(), nullable=False, server_default=sa.false()))
