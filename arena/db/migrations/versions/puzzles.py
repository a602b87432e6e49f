"""Puzzles of the day."""

import sqlalchemy as sa
from alembic import op

revision = "0108"
down_revision = "0107"


def upgrade() -> None:
    """Add the table."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "puzzle",
        sa.Column("day", sa.String(64), nullable=False),
        sa.Column("game_number", number, nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("merit", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["game_number"], ["game.number"], name=op.f("fk_puzzle_game_number")),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_puzzle")),
    )
