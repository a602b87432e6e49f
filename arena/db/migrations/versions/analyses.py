"""What the analyst says of rated games, and the decisions that cost most."""

import sqlalchemy as sa
from alembic import op

revision = "0105"
down_revision = "0104"


def upgrade() -> None:
    """Add the tables."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "analysis",
        sa.Column("game_number", number, autoincrement=False, nullable=False),
        sa.Column("analyst", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("playouts", sa.Integer(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["game_number"], ["game.number"], name=op.f("fk_analysis_game_number")),
        sa.PrimaryKeyConstraint("game_number", name=op.f("pk_analysis")),
    )
    op.create_table(
        "costly_decision",
        sa.Column("game_number", number, autoincrement=False, nullable=False),
        sa.Column("round", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("turn", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version_id", number, nullable=False),
        sa.Column("lost_chance", sa.Double(), nullable=False),
        sa.Column("lost_points", sa.Double(), nullable=False),
        sa.Column("played", sa.JSON(), nullable=False),
        sa.Column("best", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["game_number"], ["analysis.game_number"], name=op.f("fk_costly_decision_game_number")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["bot_version.id"], name=op.f("fk_costly_decision_version_id")
        ),
        sa.PrimaryKeyConstraint("game_number", "round", "turn", "seat", name=op.f("pk_costly_decision")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_costly_decision_version", "costly_decision", ["version_id", "game_number"])
