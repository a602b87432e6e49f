"""Workers that get no matches, with the reason and since when."""

import sqlalchemy as sa
from alembic import op

revision = "0101"
down_revision = "0100"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("worker", sa.Column("refused", sa.Text(), nullable=True))
    op.add_column("worker", sa.Column("since", sa.DateTime(timezone=True), nullable=True))
