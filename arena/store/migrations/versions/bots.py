"""Which version plays, bots off the ladder, quotas of accounts, settings of the ladder, challenges."""

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String(length=64)
_MOMENT = sa.DateTime(timezone=True)
_QUOTAS = ("submissions_a_day", "bots", "challenges_a_day")
_KINDS = "'rated', 'qualification'"


def upgrade() -> None:
    """Let the newest version of every bot play, as it did, but no bots of authors who are gone."""
    moment = "DATETIME" if _is_sqlite() else "TIMESTAMP WITH TIME ZONE"
    # Written out: alembic would make tables anew on SQLite that others refer to.
    op.execute("ALTER TABLE bot ADD COLUMN playing INTEGER NOT NULL DEFAULT 1")
    op.execute("UPDATE bot SET playing = newest")
    op.execute(
        "ALTER TABLE bot ADD COLUMN state VARCHAR(64) NOT NULL DEFAULT 'active' "
        "CONSTRAINT ck_bot_state CHECK (state IN ('active', 'benched', 'retired', 'disqualified'))"
    )
    op.execute("ALTER TABLE bot ADD COLUMN reason TEXT")
    op.execute(f"ALTER TABLE bot ADD COLUMN since {moment}")
    op.execute(f"ALTER TABLE bot ADD COLUMN forgiven {moment}")
    op.execute(
        "UPDATE bot SET state = 'retired', reason = 'its author''s account was deleted', "
        "since = (SELECT deleted FROM account WHERE account.id = bot.account_id) "
        "WHERE account_id IN (SELECT id FROM account WHERE deleted IS NOT NULL)"
    )
    op.execute(f"ALTER TABLE bot_version ADD COLUMN gone {moment}")
    for quota in _QUOTAS:
        op.execute(f"ALTER TABLE account ADD COLUMN {quota} INTEGER")
    op.execute("ALTER TABLE ladder ADD COLUMN paused BOOLEAN NOT NULL DEFAULT false")
    op.execute("ALTER TABLE ladder ADD COLUMN players JSON NOT NULL DEFAULT '[2, 3, 4, 5]'")
    op.execute("ALTER TABLE ladder ADD COLUMN deals INTEGER NOT NULL DEFAULT 6")
    _set_kinds(f"{_KINDS}, 'challenge'")
    op.create_table(
        "challenge",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", _NAME, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("version_id", _NUMBER, nullable=False),
        sa.Column("set_number", _NUMBER, nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_challenge_account_id")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_challenge_version_id")),
        sa.ForeignKeyConstraint(["set_number"], ["match_set.number"], name=op.f("fk_challenge_set_number")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_challenge")),
        sa.UniqueConstraint("id", name=op.f("uq_challenge_id")),
        sa.UniqueConstraint("set_number", name=op.f("uq_challenge_set_number")),
    )
    op.create_index("ix_challenge_account_id_created", "challenge", ["account_id", "created"])


def downgrade() -> None:
    """Drop them. The newest versions play again; challenges are gone, and their games.

    Games of disqualified bots count again as soon as the ratings are rebuilt.
    """
    op.drop_table("challenge")
    op.execute("DELETE FROM unrated_game WHERE match_id IN (SELECT id FROM match WHERE kind = 'challenge')")
    op.execute("DELETE FROM match_seat WHERE match_id IN (SELECT id FROM match WHERE kind = 'challenge')")
    op.execute("DELETE FROM match WHERE kind = 'challenge'")
    op.execute("DELETE FROM match_set WHERE number NOT IN (SELECT set_number FROM match)")
    _set_kinds(_KINDS)
    _forget_barred()
    for table, columns in (
        ("ladder", ("paused", "players", "deals")),
        ("account", _QUOTAS),
        ("bot_version", ("gone",)),
        ("bot", ("playing", "state", "reason", "since", "forgiven")),
    ):
        for column in columns:
            op.execute(f"ALTER TABLE {table} DROP COLUMN {column}")


def _forget_barred() -> None:
    """Tell of submissions of disqualified bots that they were withdrawn, which is known there."""
    submission = sa.table("submission", sa.column("number"), sa.column("cause", sa.LargeBinary()))
    rows = op.get_bind().execute(sa.select(submission).where(submission.c.cause.is_not(None))).all()
    for row in rows:
        if (cause := msgspec.json.decode(row.cause)).get("kind") == "barred":
            known = msgspec.json.encode(cause | {"kind": "withdrawn"})
            op.execute(sa.update(submission).where(submission.c.number == row.number).values(cause=known))


def _set_kinds(kinds: str) -> None:
    """Let matches be of these kinds."""
    check = f"CONSTRAINT ck_match_kind CHECK (kind IN ({kinds}))"
    if not _is_sqlite():
        op.execute("ALTER TABLE match DROP CONSTRAINT ck_match_kind")
        op.execute(f"ALTER TABLE match ADD {check}")
        return
    # SQLite can't change a check; but the check of a column goes with it.
    op.execute("ALTER TABLE match RENAME COLUMN kind TO old_kind")
    op.execute(f"ALTER TABLE match ADD COLUMN kind VARCHAR(64) NOT NULL DEFAULT 'rated' {check}")
    op.execute("UPDATE match SET kind = old_kind")
    op.execute("ALTER TABLE match DROP COLUMN old_kind")


def _is_sqlite() -> bool:
    return bool(op.get_bind().dialect.name == "sqlite")
