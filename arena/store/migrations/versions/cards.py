"""Statistics of cards."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_COUNTS = (
    "seen",
    "taken",
    "cards",
    "won_taken",
    "won_passed",
    "points",
    "taken_squares",
    "passed_squares",
)


def upgrade() -> None:
    """Begin to count with the next game. A rebuild counts those before."""
    # Written out: alembic would make a table anew on SQLite that others refer to.
    kind = "INTEGER" if op.get_bind().dialect.name == "sqlite" else "BIGINT"
    op.execute(f"ALTER TABLE ladder ADD COLUMN cards_from {kind} NOT NULL DEFAULT 1")
    op.execute("UPDATE ladder SET cards_from = games + 1")
    op.create_table(
        "card_games",
        sa.Column("players", sa.Integer(), autoincrement=False, nullable=False),
        *(sa.Column(name, _NUMBER, nullable=False) for name in ("games", "seats", "decisions", "won")),
        sa.PrimaryKeyConstraint("players", name=op.f("pk_card_games")),
    )
    op.create_table(
        "card_count",
        *(
            sa.Column(name, sa.Integer(), autoincrement=False, nullable=False)
            for name in ("players", "card", "turn")
        ),
        *(sa.Column(name, _NUMBER, nullable=False) for name in _COUNTS),
        sa.PrimaryKeyConstraint("players", "card", "turn", name=op.f("pk_card_count")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop them. What they said follows from the games."""
    op.drop_table("card_count")
    op.drop_table("card_games")
    op.execute("ALTER TABLE ladder DROP COLUMN cards_from")
