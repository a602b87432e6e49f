"""Games that are being played, as far as they may be seen."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "live_game",
        sa.Column("match_id", sa.String(length=64), nullable=False),
        sa.Column("game", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("disclosed", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_live_game_match_id")),
        sa.PrimaryKeyConstraint("match_id", "game", name=op.f("pk_live_game")),
    )


def downgrade() -> None:
    """Drop it: what is played is seen once it is over."""
    op.drop_table("live_game")
