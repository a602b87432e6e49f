"""What all games say of a version's skill, beside its rating.

Rows get their rating as skill until `arena admin rebuild-ratings` folds the log.
"""

import sqlalchemy as sa
from alembic import op

revision = "0102"
down_revision = "0101"


def upgrade() -> None:
    """Add the columns and fill them."""
    for column, default in (("skill_mean", "25"), ("skill_deviation", "5")):
        op.add_column(
            "rating", sa.Column(column, sa.Double(), nullable=False, server_default=sa.text(default))
        )
    op.execute("UPDATE rating SET skill_mean = mean, skill_deviation = deviation")
