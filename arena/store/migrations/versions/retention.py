"""Which matches have their logs and replays still, and what statistics need of games without."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_INDEXES = {"ix_match_logs": "logs", "ix_match_replays": "replays AND kind = 'rated'"}


def upgrade() -> None:
    """Make them. Everything is still there."""
    # Written out: alembic would make the table anew on SQLite, which the tables that refer to it forbid.
    for column in ("logs", "replays"):
        op.execute(f"ALTER TABLE match ADD COLUMN {column} BOOLEAN NOT NULL DEFAULT true")
    for name, where in _INDEXES.items():
        op.create_index(
            name, "match", ["ended"], sqlite_where=sa.text(where), postgresql_where=sa.text(where)
        )
    op.create_table(
        "game_tally",
        sa.Column("game_number", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("tally", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["game_number"], ["game.number"], name=op.f("fk_game_tally_game_number")),
        sa.PrimaryKeyConstraint("game_number", name=op.f("pk_game_tally")),
    )


def downgrade() -> None:
    """Drop them, unless replays were removed: an older program could not read the games without.

    Raises:
        RuntimeError: They were.
    """
    if op.get_bind().execute(sa.text("SELECT count(*) FROM match WHERE NOT replays")).scalar_one():
        raise RuntimeError(
            "replays were removed (ARENA_KEEP_REPLAYS_DAYS); an older version can't do without"
        )
    op.drop_table("game_tally")
    for name in _INDEXES:
        op.drop_index(name, table_name="match")
    for column in ("replays", "logs"):
        op.execute(f"ALTER TABLE match DROP COLUMN {column}")
