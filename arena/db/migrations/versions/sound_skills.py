"""What the games without a fault of its own say of a version's skill.

Rows get the skill from all games until `arena admin rebuild-ratings` folds the log.
"""

import sqlalchemy as sa
from alembic import op

revision = "0104"
down_revision = "0103"


def upgrade() -> None:
    """Add the columns and fill them."""
    for column, default in (("sound_mean", "25"), ("sound_deviation", "5")):
        op.add_column(
            "rating", sa.Column(column, sa.Double(), nullable=False, server_default=sa.text(default))
        )
    op.execute("UPDATE rating SET sound_mean = skill_mean, sound_deviation = skill_deviation")
