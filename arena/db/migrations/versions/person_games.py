"""Games that people play against bots."""

import sqlalchemy as sa
from alembic import op

revision = "0106"
down_revision = "0105"

_OPEN = "state IN ('waiting', 'playing')"


def upgrade() -> None:
    """Add the table."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "person_game",
        sa.Column("number", number, autoincrement=True, nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("visitor", sa.String(64), nullable=False),
        sa.Column("account_id", number, nullable=True),
        sa.Column("state", sa.String(64), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("opponents", sa.JSON(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("created", moment, nullable=False),
        sa.Column("seen", moment, nullable=False),
        sa.Column("ended", moment, nullable=True),
        sa.Column("asked", sa.Text(), nullable=True),
        sa.Column("chosen", sa.Text(), nullable=True),
        sa.Column("replay", sa.Text(), nullable=False),
        sa.Column("analysis", sa.LargeBinary(), nullable=True),
        sa.Column("trouble", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state IN ('waiting', 'playing', 'over', 'left', 'failed')", name=op.f("ck_person_game_state")
        ),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_person_game_account_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_person_game")),
        sa.UniqueConstraint("id", name=op.f("uq_person_game_id")),
    )
    op.create_index(
        "ix_person_game_open",
        "person_game",
        ["state", "number"],
        sqlite_where=sa.text(_OPEN),
        postgresql_where=sa.text(_OPEN),
    )
    op.create_index("ix_person_game_visitor", "person_game", ["visitor", "number"])
    op.create_index("ix_person_game_account_id", "person_game", ["account_id", "number"])
