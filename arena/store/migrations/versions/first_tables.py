"""The first tables: bots, matches, games, ratings."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String(length=64)
_MOMENT = sa.DateTime(timezone=True)
_OPEN = "state IN ('waiting', 'running')"


def upgrade() -> None:
    """Make all tables, and the one row that counts."""
    _bots()
    _matches()
    _games()
    _ratings()


def downgrade() -> None:
    """Drop all tables."""
    op.drop_table("rating_change")
    op.drop_table("rating_event")
    op.drop_table("game_seat")
    op.drop_table("rating")
    op.drop_table("match_seat")
    op.drop_table("game")
    op.drop_index("ix_match_open", table_name="match")
    op.drop_table("match")
    op.drop_table("bot_version")
    op.drop_table("match_set")
    op.drop_table("ladder")
    op.drop_table("bot")


def _bots() -> None:
    op.create_table(
        "bot",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("author", _NAME, nullable=False),
        sa.Column("house", sa.Boolean(), nullable=False),
        sa.Column("newest", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot")),
        sa.UniqueConstraint("name", name=op.f("uq_bot_name")),
    )
    op.create_table(
        "bot_version",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("bot_id", _NUMBER, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_bot_version_bot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot_version")),
        sa.UniqueConstraint("bot_id", "number", name=op.f("uq_bot_version_bot_id_number")),
    )


def _matches() -> None:
    op.create_table(
        "match_set",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", _NAME, nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("pass_both_ways", sa.Boolean(), nullable=False),
        sa.Column("soy_sauce", sa.Boolean(), nullable=False),
        sa.Column("dummy", sa.Boolean(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("seeds", sa.JSON(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_match_set")),
        sa.UniqueConstraint("id", name=op.f("uq_match_set_id")),
    )
    op.create_table(
        "match",
        sa.Column("id", _NAME, nullable=False),
        sa.Column("set_number", _NUMBER, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("spec", sa.LargeBinary(), nullable=False),
        sa.Column("runtime", _NAME, nullable=False),
        sa.Column("state", _NAME, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("voids", sa.Integer(), nullable=False),
        sa.Column("started", _MOMENT, nullable=True),
        sa.Column("ended", _MOMENT, nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'done', 'quarantined')", name=op.f("ck_match_state")
        ),
        sa.ForeignKeyConstraint(["set_number"], ["match_set.number"], name=op.f("fk_match_set_number")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_match")),
        sa.UniqueConstraint("set_number", "position", name=op.f("uq_match_set_number_position")),
    )
    op.create_index(
        "ix_match_open",
        "match",
        ["state", "set_number", "position"],
        sqlite_where=sa.text(_OPEN),
        postgresql_where=sa.text(_OPEN),
    )
    op.create_table(
        "match_seat",
        sa.Column("match_id", _NAME, nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version_id", _NUMBER, nullable=False),
        sa.Column("report", sa.LargeBinary(), nullable=True),
        sa.Column("stderr", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_match_seat_match_id")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_match_seat_version_id")),
        sa.PrimaryKeyConstraint("match_id", "seat", name=op.f("pk_match_seat")),
    )


def _games() -> None:
    op.create_table(
        "game",
        sa.Column("number", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("id", _NAME, nullable=False),
        sa.Column("match_id", _NAME, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("ended", _MOMENT, nullable=False),
        sa.Column("replay", sa.Text(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_game_match_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_game")),
        sa.UniqueConstraint("id", name=op.f("uq_game_id")),
        sa.UniqueConstraint("match_id", "position", name=op.f("uq_game_match_id_position")),
    )
    op.create_table(
        "game_seat",
        sa.Column("game_number", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version_id", _NUMBER, nullable=False),
        sa.Column("points", sa.Integer(), nullable=False),
        sa.Column("puddings", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("taken_over", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["game_number"], ["game.number"], name=op.f("fk_game_seat_game_number")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_game_seat_version_id")),
        sa.PrimaryKeyConstraint("game_number", "seat", name=op.f("pk_game_seat")),
        sa.UniqueConstraint("version_id", "game_number", name=op.f("uq_game_seat_version_id_game_number")),
        sqlite_with_rowid=False,
    )


def _ratings() -> None:
    op.create_table(
        "ladder",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("events", _NUMBER, nullable=False),
        sa.Column("games", _NUMBER, nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_ladder_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ladder")),
    )
    op.create_table(
        "rating_event",
        sa.Column("number", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("kind", _NAME, nullable=False),
        sa.Column("version_id", _NUMBER, nullable=True),
        sa.Column("previous_id", _NUMBER, nullable=True),
        sa.Column("game_number", _NUMBER, nullable=True),
        sa.CheckConstraint(
            "(kind = 'start' AND version_id IS NOT NULL AND game_number IS NULL)"
            " OR (kind = 'game' AND version_id IS NULL AND previous_id IS NULL AND game_number IS NOT NULL)",
            name=op.f("ck_rating_event_kind"),
        ),
        sa.ForeignKeyConstraint(["game_number"], ["game.number"], name=op.f("fk_rating_event_game_number")),
        sa.ForeignKeyConstraint(
            ["previous_id"], ["bot_version.id"], name=op.f("fk_rating_event_previous_id")
        ),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_rating_event_version_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_rating_event")),
        sa.UniqueConstraint("game_number", name=op.f("uq_rating_event_game_number")),
        sa.UniqueConstraint("version_id", name=op.f("uq_rating_event_version_id")),
    )
    op.create_table(
        "rating_change",
        sa.Column("event_number", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("players", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version_id", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("mean_before", sa.Double(), nullable=True),
        sa.Column("deviation_before", sa.Double(), nullable=True),
        sa.Column("mean_after", sa.Double(), nullable=False),
        sa.Column("deviation_after", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["event_number"], ["rating_event.number"], name=op.f("fk_rating_change_event_number")
        ),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_rating_change_version_id")),
        sa.PrimaryKeyConstraint("event_number", "players", "version_id", name=op.f("pk_rating_change")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "rating",
        sa.Column("version_id", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("players", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("mean", sa.Double(), nullable=False),
        sa.Column("deviation", sa.Double(), nullable=False),
        sa.Column("games", _NUMBER, nullable=False),
        sa.Column("wins", _NUMBER, nullable=False),
        sa.Column("place_sum", _NUMBER, nullable=False),
        sa.Column("faulty", _NUMBER, nullable=False),
        sa.Column("last_played", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_rating_version_id")),
        sa.PrimaryKeyConstraint("version_id", "players", name=op.f("pk_rating")),
        sqlite_with_rowid=False,
    )
    op.execute("INSERT INTO ladder (id, events, games) VALUES (1, 0, 0)")
