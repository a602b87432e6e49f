"""What a bot's page tells of the past: curves of ratings, meetings with others, and where faults were."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_FAULTY = "faults > 0 OR taken_over"
_MOST = 128
_LONGEST = 40
"""No curve is longer than two to this power."""


def upgrade() -> None:
    """Make the tables, and fill them from what was played and counts."""
    op.create_table(
        "rating_point",
        sa.Column("version_id", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("players", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("games", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("ended", sa.DateTime(timezone=True), nullable=True),
        sa.Column("mean", sa.Double(), nullable=False),
        sa.Column("deviation", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_rating_point_version_id")),
        sa.PrimaryKeyConstraint("version_id", "players", "games", name=op.f("pk_rating_point")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "meeting",
        sa.Column("bot_id", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("other_id", _NUMBER, autoincrement=False, nullable=False),
        *(sa.Column(name, _NUMBER, nullable=False) for name in ("games", "ahead", "behind", "tied")),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_meeting_bot_id")),
        sa.ForeignKeyConstraint(["other_id"], ["bot.id"], name=op.f("fk_meeting_other_id")),
        sa.PrimaryKeyConstraint("bot_id", "other_id", name=op.f("pk_meeting")),
        sqlite_with_rowid=False,
    )
    _fill_points()
    _fill_meetings()
    op.create_index("ix_meeting_bot_id_games", "meeting", ["bot_id", "games"])
    op.create_index(
        "ix_game_seat_faulty",
        "game_seat",
        ["version_id", "game_number"],
        sqlite_where=sa.text(_FAULTY),
        postgresql_where=sa.text(_FAULTY),
    )


def downgrade() -> None:
    """Drop them; all of it follows from what stays."""
    op.drop_index("ix_game_seat_faulty", table_name="game_seat")
    op.drop_table("meeting")
    op.drop_table("rating_point")


def _fill_points() -> None:
    """Keep every n-th of a version's changes in a list, where n is the power of two that leaves so many."""
    strides = " ".join(f"WHEN last < {_MOST << power} THEN {1 << power}" for power in range(_LONGEST))
    op.execute(
        "INSERT INTO rating_point (version_id, players, games, ended, mean, deviation) "  # noqa: S608 - ours
        "SELECT version_id, players, games, ended, mean, deviation FROM ("
        "SELECT c.version_id, c.players, g.ended, c.mean_after AS mean, c.deviation_after AS deviation, "
        "row_number() OVER (PARTITION BY c.version_id, c.players ORDER BY c.event_number) - 1 AS games, "
        "count(*) OVER (PARTITION BY c.version_id, c.players) - 1 AS last "
        "FROM rating_change c JOIN rating_event e ON e.number = c.event_number "
        "LEFT JOIN game g ON g.number = e.game_number) AS changes "
        f"WHERE games % CASE {strides} END = 0"
    )


def _fill_meetings() -> None:
    op.execute(
        "INSERT INTO meeting (bot_id, other_id, games, ahead, behind, tied) "
        "SELECT mine.bot_id, theirs.bot_id, count(*), "
        "sum(CASE WHEN one.place < two.place THEN 1 ELSE 0 END), "
        "sum(CASE WHEN one.place > two.place THEN 1 ELSE 0 END), "
        "sum(CASE WHEN one.place = two.place THEN 1 ELSE 0 END) "
        "FROM game_seat one "
        "JOIN game_seat two ON two.game_number = one.game_number "
        "JOIN bot_version mine ON mine.id = one.version_id "
        "JOIN bot_version theirs ON theirs.id = two.version_id AND theirs.bot_id <> mine.bot_id "
        "WHERE one.game_number NOT IN ("
        "SELECT game_number FROM game_seat JOIN bot_version ON bot_version.id = game_seat.version_id "
        "JOIN bot ON bot.id = bot_version.bot_id WHERE bot.state = 'disqualified') "
        "GROUP BY mine.bot_id, theirs.bot_id"
    )
