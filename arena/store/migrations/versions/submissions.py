"""Submissions, matches that are not rated, and what a version came of."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String(length=64)
_MOMENT = sa.DateTime(timezone=True)
_OPEN = "state IN ('waiting', 'running')"
_ON_ITS_WAY = "stage IN ('received', 'inspected', 'qualifying')"


def upgrade() -> None:
    """Make the tables; what there is, is rated and came of no file that anybody knows of."""
    _submissions()
    # Written out: alembic would make tables anew on SQLite that others refer to.
    op.execute("ALTER TABLE bot_version ADD COLUMN note TEXT NOT NULL DEFAULT ''")
    op.execute(f"ALTER TABLE bot_version ADD COLUMN size {_number()}")
    op.execute("ALTER TABLE bot_version ADD COLUMN sha256 VARCHAR(64)")
    op.execute(
        "ALTER TABLE match ADD COLUMN kind VARCHAR(64) NOT NULL DEFAULT 'rated' "
        "CONSTRAINT ck_match_kind CHECK (kind IN ('rated', 'qualification'))"
    )
    op.execute("ALTER TABLE match ADD COLUMN precedence INTEGER NOT NULL DEFAULT 2")
    _index("state", "precedence", "set_number", "position")
    _seats()
    op.create_table(
        "unrated_game",
        sa.Column("id", _NAME, nullable=False),
        sa.Column("match_id", _NAME, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("ended", _MOMENT, nullable=False),
        sa.Column("replay", sa.Text(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_unrated_game_match_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_unrated_game")),
        sa.UniqueConstraint("match_id", "position", name=op.f("uq_unrated_game_match_id_position")),
    )


def downgrade() -> None:
    """Drop them, and the matches that are not rated; rated ones and versions stay."""
    op.drop_table("unrated_game")
    op.execute("DELETE FROM match_seat WHERE match_id IN (SELECT id FROM match WHERE kind <> 'rated')")
    op.execute("DELETE FROM match WHERE kind <> 'rated'")
    op.execute("DELETE FROM match_set WHERE number NOT IN (SELECT set_number FROM match)")
    with op.batch_alter_table("match_seat") as seats:
        seats.drop_index("ix_match_seat_submission_number")
        seats.drop_constraint(op.f("ck_match_seat_who"), type_="check")
        seats.drop_constraint(op.f("fk_match_seat_submission_number"), type_="foreignkey")
        seats.drop_column("submission_number")
        seats.alter_column("version_id", existing_type=_NUMBER, nullable=False)
    op.drop_index("ix_match_open", table_name="match")
    op.execute("ALTER TABLE match DROP COLUMN precedence")
    op.execute("ALTER TABLE match DROP COLUMN kind")
    _index("state", "set_number", "position", drop=False)
    for column in ("note", "size", "sha256"):
        op.execute(f"ALTER TABLE bot_version DROP COLUMN {column}")
    op.drop_table("submission")


def _number() -> str:
    return "INTEGER" if op.get_bind().dialect.name == "sqlite" else "BIGINT"


def _index(*columns: str, drop: bool = True) -> None:
    """Make the index of open matches, of these columns."""
    if drop:
        op.drop_index("ix_match_open", table_name="match")
    op.create_index(
        "ix_match_open",
        "match",
        list(columns),
        sqlite_where=sa.text(_OPEN),
        postgresql_where=sa.text(_OPEN),
    )


def _seats() -> None:
    # Nothing refers to this table, so SQLite may make it anew.
    with op.batch_alter_table("match_seat") as seats:
        seats.alter_column("version_id", existing_type=_NUMBER, nullable=True)
        seats.add_column(sa.Column("submission_number", _NUMBER, nullable=True))
        seats.create_foreign_key(
            op.f("fk_match_seat_submission_number"), "submission", ["submission_number"], ["number"]
        )
        seats.create_check_constraint(
            op.f("ck_match_seat_who"), "(version_id IS NULL) <> (submission_number IS NULL)"
        )
        seats.create_index("ix_match_seat_submission_number", ["submission_number"])


def _submissions() -> None:
    op.create_table(
        "submission",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", _NAME, nullable=False),
        sa.Column("bot", _NAME, nullable=False),
        sa.Column("author", _NAME, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=True),
        sa.Column("kind", _NAME, nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("size", _NUMBER, nullable=False),
        sa.Column("sha256", _NAME, nullable=False),
        sa.Column("stage", _NAME, nullable=False),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("version_id", _NUMBER, nullable=True),
        sa.Column("received", _MOMENT, nullable=False),
        sa.Column("inspected", _MOMENT, nullable=True),
        sa.Column("qualifying", _MOMENT, nullable=True),
        sa.Column("ended", _MOMENT, nullable=True),
        sa.Column("waiting", sa.Text(), nullable=True),
        sa.Column("cause", sa.LargeBinary(), nullable=True),
        sa.CheckConstraint(
            "stage IN ('received', 'inspected', 'qualifying', 'active', 'rejected')",
            name=op.f("ck_submission_stage"),
        ),
        sa.CheckConstraint("kind IN ('image', 'python', 'javascript')", name=op.f("ck_submission_kind")),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_submission_account_id")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_submission_version_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_submission")),
        sa.UniqueConstraint("id", name=op.f("uq_submission_id")),
    )
    op.create_index(
        "ix_submission_open",
        "submission",
        ["number"],
        sqlite_where=sa.text(_ON_ITS_WAY),
        postgresql_where=sa.text(_ON_ITS_WAY),
    )
    op.create_index("ix_submission_author_received", "submission", ["author", "received"])
    op.create_index("ix_submission_bot", "submission", ["bot"])
    op.create_index(op.f("ix_submission_account_id"), "submission", ["account_id"])
    op.create_index(op.f("ix_submission_version_id"), "submission", ["version_id"])
