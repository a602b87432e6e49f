"""Records when the ladder was last paused or resumed, for feeds."""

import sqlalchemy as sa
from alembic import op

revision = "0104"
down_revision = "0103"


def upgrade() -> None:
    """Add the column, which stays empty until the next change."""
    op.add_column("ladder", sa.Column("paused_changed", sa.DateTime(timezone=True), nullable=True))
