"""The first tables, and the ladder's one row."""

import sqlalchemy as sa
from alembic import op

revision = "0100"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String(length=64)
_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create all tables."""
    _people()
    _bots()
    _submissions()
    _matches()
    _games()
    _analyses()
    _person_games()
    _ratings()
    _cards()
    _hosts()


def _people() -> None:
    op.create_table(
        "account",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("key", _NAME, nullable=False),
        sa.Column("password", sa.Text(), nullable=True),
        sa.Column("role", _NAME, nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("deleted", _MOMENT, nullable=True),
        sa.Column("submissions_a_day", sa.Integer(), nullable=True),
        sa.Column("bots", sa.Integer(), nullable=True),
        sa.Column("challenges_a_day", sa.Integer(), nullable=True),
        sa.CheckConstraint("role IN ('user', 'operator')", name=op.f("ck_account_role")),
        sa.CheckConstraint("(password IS NULL) = (deleted IS NOT NULL)", name=op.f("ck_account_deleted")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("key", name=op.f("uq_account_key")),
    )
    op.create_table(
        "session",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("hash", _NAME, nullable=False),
        sa.Column("browser", sa.Text(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("seen", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_session_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session")),
        sa.UniqueConstraint("hash", name=op.f("uq_session_hash")),
    )
    op.create_index(op.f("ix_session_account_id"), "session", ["account_id"])
    op.create_table(
        "api_token",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", _NAME, nullable=False),
        sa.Column("hash", _NAME, nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("expires", _MOMENT, nullable=False),
        sa.Column("last_used", _MOMENT, nullable=True),
        sa.Column("revoked", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_api_token_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("hash", name=op.f("uq_api_token_hash")),
    )
    op.create_index(op.f("ix_api_token_account_id"), "api_token", ["account_id"])
    op.create_table(
        "invitation",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("hash", _NAME, nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("expires", _MOMENT, nullable=False),
        sa.Column("used_by", _NUMBER, nullable=True),
        sa.ForeignKeyConstraint(["used_by"], ["account.id"], name=op.f("fk_invitation_used_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
        sa.UniqueConstraint("hash", name=op.f("uq_invitation_hash")),
    )
    op.create_table(
        "attempt",
        sa.Column("key", _NAME, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("ends", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_attempt")),
    )
    op.create_index(op.f("ix_attempt_ends"), "attempt", ["ends"])
    op.create_table(
        "audit",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("what", _NAME, nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit")),
    )
    _partial_index("ix_audit_visits", "audit", ["at"], "address IS NOT NULL")


def _bots() -> None:
    op.create_table(
        "bot",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("author", _NAME, nullable=False),
        sa.Column("house", sa.Boolean(), nullable=False),
        sa.Column("newest", sa.Integer(), nullable=False),
        sa.Column("account_id", _NUMBER, nullable=True),
        sa.Column("playing", sa.Integer(), nullable=False),
        sa.Column("state", _NAME, nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("since", _MOMENT, nullable=True),
        sa.Column("forgiven", _MOMENT, nullable=True),
        sa.Column("open_to_people", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("revision", _NUMBER, nullable=False),
        sa.CheckConstraint(
            "state IN ('active', 'benched', 'retired', 'disqualified')", name=op.f("ck_bot_state")
        ),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_bot_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot")),
        sa.UniqueConstraint("name", name=op.f("uq_bot_name")),
    )
    op.create_index(op.f("ix_bot_account_id"), "bot", ["account_id"])
    op.create_index(op.f("ix_bot_revision"), "bot", ["revision"])
    op.create_table(
        "bot_version",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("bot_id", _NUMBER, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("size", _NUMBER, nullable=True),
        sa.Column("sha256", _NAME, nullable=True),
        sa.Column("gone", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_bot_version_bot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot_version")),
        sa.UniqueConstraint("bot_id", "number", name=op.f("uq_bot_version_bot_id_number")),
    )


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
    op.create_index(op.f("ix_submission_account_id"), "submission", ["account_id"])
    op.create_index(op.f("ix_submission_author_received"), "submission", ["author", "received"])
    op.create_index(op.f("ix_submission_bot"), "submission", ["bot"])
    _partial_index(
        "ix_submission_open", "submission", ["number"], "stage IN ('received', 'inspected', 'qualifying')"
    )
    op.create_index(op.f("ix_submission_version_id"), "submission", ["version_id"])
    op.create_table(
        "upload",
        sa.Column("id", _NAME, nullable=False),
        sa.Column("author", _NAME, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=True),
        sa.Column("began", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_upload_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_upload")),
    )
    op.create_index(op.f("ix_upload_account_id"), "upload", ["account_id"])
    op.create_index(op.f("ix_upload_began"), "upload", ["began"])


def _matches() -> None:
    op.create_table(
        "challenge",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", _NAME, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("version_id", _NUMBER, nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_challenge_account_id")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_challenge_version_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_challenge")),
        sa.UniqueConstraint("id", name=op.f("uq_challenge_id")),
    )
    op.create_index(op.f("ix_challenge_account_id_created"), "challenge", ["account_id", "created"])
    op.create_table(
        "match",
        sa.Column("id", _NAME, nullable=False),
        sa.Column("spec", sa.LargeBinary(), nullable=False),
        sa.Column("runtime", _NAME, nullable=False),
        sa.Column("state", _NAME, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("voids", sa.Integer(), nullable=False),
        sa.Column("started", _MOMENT, nullable=True),
        sa.Column("ended", _MOMENT, nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("kind", _NAME, nullable=False),
        sa.Column("precedence", sa.Integer(), nullable=False),
        sa.Column("coordinator", _NAME, nullable=True),
        sa.Column("worker", _NAME, nullable=True),
        sa.Column("leased_until", sa.Double(), nullable=True),
        sa.Column("lease_clock", _NAME, nullable=True),
        sa.Column("losses", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("logs", sa.Boolean(), nullable=False),
        sa.Column("replays", sa.Boolean(), nullable=False),
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("pass_both_ways", sa.Boolean(), nullable=False),
        sa.Column("soy_sauce", sa.Boolean(), nullable=False),
        sa.Column("dummy", sa.Boolean(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("challenge_number", _NUMBER, nullable=True),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'done', 'quarantined')", name=op.f("ck_match_state")
        ),
        sa.CheckConstraint("kind IN ('rated', 'qualification', 'challenge')", name=op.f("ck_match_kind")),
        sa.ForeignKeyConstraint(
            ["challenge_number"], ["challenge.number"], name=op.f("fk_match_challenge_number")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_match")),
    )
    op.create_index(op.f("ix_match_challenge_number"), "match", ["challenge_number"])
    _partial_index("ix_match_logs", "match", ["ended"], "logs")
    op.create_index(op.f("ix_match_number"), "match", ["number"], unique=True)
    _partial_index(
        "ix_match_open", "match", ["state", "precedence", "number"], "state IN ('waiting', 'running')"
    )
    _partial_index("ix_match_quarantined", "match", ["ended"], "state = 'quarantined'")
    _partial_index("ix_match_replays", "match", ["ended"], "replays AND kind = 'rated'")
    op.create_table(
        "match_seat",
        sa.Column("match_id", _NAME, nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version_id", _NUMBER, nullable=True),
        sa.Column("report", sa.LargeBinary(), nullable=True),
        sa.Column("stderr", sa.LargeBinary(), nullable=True),
        sa.Column("submission_number", _NUMBER, nullable=True),
        sa.CheckConstraint(
            "(version_id IS NULL) <> (submission_number IS NULL)", name=op.f("ck_match_seat_who")
        ),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_match_seat_match_id")),
        sa.ForeignKeyConstraint(
            ["submission_number"], ["submission.number"], name=op.f("fk_match_seat_submission_number")
        ),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_match_seat_version_id")),
        sa.PrimaryKeyConstraint("match_id", "seat", name=op.f("pk_match_seat")),
    )
    op.create_index(op.f("ix_match_seat_submission_number"), "match_seat", ["submission_number"])
    op.create_table(
        "deal",
        sa.Column("seed", _NAME, nullable=False),
        sa.PrimaryKeyConstraint("seed", name=op.f("pk_deal")),
        sqlite_with_rowid=False,
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
    op.create_index(op.f("ix_game_ended"), "game", ["ended", "number"])
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
        sa.Column("median_micros", _NUMBER, nullable=True),
        sa.ForeignKeyConstraint(["game_number"], ["game.number"], name=op.f("fk_game_seat_game_number")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_game_seat_version_id")),
        sa.PrimaryKeyConstraint("game_number", "seat", name=op.f("pk_game_seat")),
        sa.UniqueConstraint("version_id", "game_number", name=op.f("uq_game_seat_version_id_game_number")),
        sqlite_with_rowid=False,
    )
    _partial_index(
        "ix_game_seat_faulty", "game_seat", ["version_id", "game_number"], "faults > 0 OR taken_over"
    )
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
    op.create_table(
        "game_tally",
        sa.Column("game_number", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("tally", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["game_number"], ["game.number"], name=op.f("fk_game_tally_game_number")),
        sa.PrimaryKeyConstraint("game_number", name=op.f("pk_game_tally")),
    )
    op.create_table(
        "live_game",
        sa.Column("match_id", _NAME, nullable=False),
        sa.Column("game", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("disclosed", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_live_game_match_id")),
        sa.PrimaryKeyConstraint("match_id", "game", name=op.f("pk_live_game")),
    )


def _analyses() -> None:
    op.create_table(
        "analysis",
        sa.Column("game_number", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("analyst", _NAME, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("playouts", sa.Integer(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["game_number"], ["game.number"], name=op.f("fk_analysis_game_number")),
        sa.PrimaryKeyConstraint("game_number", name=op.f("pk_analysis")),
    )
    op.create_table(
        "costly_decision",
        sa.Column("game_number", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("round", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("turn", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version_id", _NUMBER, nullable=False),
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
    op.create_index(op.f("ix_costly_decision_version"), "costly_decision", ["version_id", "game_number"])
    op.create_table(
        "puzzle",
        sa.Column("day", _NAME, nullable=False),
        sa.Column("game_number", _NUMBER, nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("merit", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["game_number"], ["game.number"], name=op.f("fk_puzzle_game_number")),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_puzzle")),
    )


def _person_games() -> None:
    op.create_table(
        "person_game",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", _NAME, nullable=False),
        sa.Column("visitor", _NAME, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=True),
        sa.Column("state", _NAME, nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("opponents", sa.JSON(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("seen", _MOMENT, nullable=False),
        sa.Column("ended", _MOMENT, nullable=True),
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
    op.create_index(op.f("ix_person_game_account_id"), "person_game", ["account_id", "number"])
    _partial_index(
        "ix_person_game_open", "person_game", ["state", "number"], "state IN ('waiting', 'playing')"
    )
    op.create_index(op.f("ix_person_game_visitor"), "person_game", ["visitor", "number"])


def _ratings() -> None:
    op.create_table(
        "ladder",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("events", _NUMBER, nullable=False),
        sa.Column("games", _NUMBER, nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("players", sa.JSON(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("start_millis", sa.Integer(), nullable=False),
        sa.Column("move_millis", sa.Integer(), nullable=False),
        sa.Column("bank_millis", sa.Integer(), nullable=False),
        sa.Column("cpus", sa.Double(), nullable=False),
        sa.Column("memory_mib", sa.Integer(), nullable=False),
        sa.Column("pids", sa.Integer(), nullable=False),
        sa.Column("tmp_mib", sa.Integer(), nullable=False),
        sa.Column("revision", _NUMBER, nullable=False),
        sa.Column("cards_from", _NUMBER, nullable=False),
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
        sa.Column("times", sa.LargeBinary(), nullable=False),
        sa.Column("closings", sa.LargeBinary(), nullable=False),
        sa.Column("skill_mean", sa.Double(), nullable=False),
        sa.Column("skill_deviation", sa.Double(), nullable=False),
        sa.Column("sound_mean", sa.Double(), nullable=False),
        sa.Column("sound_deviation", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_rating_version_id")),
        sa.PrimaryKeyConstraint("version_id", "players", name=op.f("pk_rating")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "rating_point",
        sa.Column("version_id", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("players", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("games", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("ended", _MOMENT, nullable=True),
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
        sa.Column("games", _NUMBER, nullable=False),
        sa.Column("ahead", _NUMBER, nullable=False),
        sa.Column("behind", _NUMBER, nullable=False),
        sa.Column("tied", _NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_meeting_bot_id")),
        sa.ForeignKeyConstraint(["other_id"], ["bot.id"], name=op.f("fk_meeting_other_id")),
        sa.PrimaryKeyConstraint("bot_id", "other_id", name=op.f("pk_meeting")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_meeting_bot_id_games"), "meeting", ["bot_id", "games"])
    op.create_table(
        "highlight",
        sa.Column("day", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("kind", _NAME, nullable=False),
        sa.Column("game_number", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("other", sa.Integer(), nullable=True),
        sa.Column("value", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["game_number"], ["game.number"], name=op.f("fk_highlight_game_number")),
        sa.PrimaryKeyConstraint("day", "kind", "game_number", name=op.f("pk_highlight")),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO ladder (id, events, games, revision, paused, players, deals, start_millis, move_millis,"
        " bank_millis, cpus, memory_mib, pids, tmp_mib, cards_from)"
        " VALUES (1, 0, 0, 1, false, '[2, 3, 4, 5]', 12, 10000, 1000, 10000, 0.4, 256, 64, 16, 1)"
    )


def _cards() -> None:
    op.create_table(
        "card_games",
        sa.Column("players", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("games", _NUMBER, nullable=False),
        sa.Column("seats", _NUMBER, nullable=False),
        sa.Column("decisions", _NUMBER, nullable=False),
        sa.Column("won", _NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("players", name=op.f("pk_card_games")),
    )
    op.create_table(
        "card_count",
        sa.Column("players", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("card", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("turn", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seen", _NUMBER, nullable=False),
        sa.Column("taken", _NUMBER, nullable=False),
        sa.Column("cards", _NUMBER, nullable=False),
        sa.Column("won_taken", _NUMBER, nullable=False),
        sa.Column("won_passed", _NUMBER, nullable=False),
        sa.Column("points", _NUMBER, nullable=False),
        sa.Column("taken_squares", _NUMBER, nullable=False),
        sa.Column("passed_squares", _NUMBER, nullable=False),
        sa.Column("point_parts", _NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("players", "card", "turn", name=op.f("pk_card_count")),
        sqlite_with_rowid=False,
    )


def _hosts() -> None:
    op.create_table(
        "host_report",
        sa.Column("host", _NAME, nullable=False),
        sa.Column("checked", _MOMENT, nullable=False),
        sa.Column("accepted", sa.JSON(), nullable=False),
        sa.Column("report", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_host_report")),
    )
    op.create_table(
        "worker",
        sa.Column("coordinator", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("host", _NAME, nullable=False),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("busy", sa.Integer(), nullable=False),
        sa.Column("leased_until", sa.Double(), nullable=False),
        sa.Column("lease_clock", _NAME, nullable=False),
        sa.Column("doubted", sa.Boolean(), nullable=False),
        sa.Column("usable", sa.Integer(), nullable=True),
        sa.Column("refused", sa.Text(), nullable=True),
        sa.Column("since", _MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("coordinator", "name", name=op.f("pk_worker")),
        sqlite_with_rowid=False,
    )


def _partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(op.f(name), table, columns, sqlite_where=condition, postgresql_where=condition)
