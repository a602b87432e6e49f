"""People: accounts, sessions, tokens, invitations, what operators did, and whose bots are whose."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String(length=64)
_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make the tables, and the bots' column."""
    op.create_table(
        "account",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("key", _NAME, nullable=False),
        sa.Column("password", sa.Text(), nullable=True),
        sa.Column("role", _NAME, nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("deleted", _MOMENT, nullable=True),
        sa.CheckConstraint("role IN ('user', 'operator')", name=op.f("ck_account_role")),
        sa.CheckConstraint("(password IS NULL) = (deleted IS NOT NULL)", name=op.f("ck_account_deleted")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("key", name=op.f("uq_account_key")),
    )
    _ways_in()
    op.create_table(
        "audit",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("what", _NAME, nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit")),
    )
    # Written out: alembic would make the table anew on SQLite, which the tables that refer to it forbid.
    number = "INTEGER" if op.get_bind().dialect.name == "sqlite" else "BIGINT"
    op.execute(
        f"ALTER TABLE bot ADD COLUMN account_id {number} CONSTRAINT fk_bot_account_id REFERENCES account (id)"
    )
    op.create_index(op.f("ix_bot_account_id"), "bot", ["account_id"])


def downgrade() -> None:
    """Drop them; bots lose their owners."""
    op.drop_index(op.f("ix_bot_account_id"), table_name="bot")
    op.execute("ALTER TABLE bot DROP COLUMN account_id")
    op.drop_table("audit")
    op.drop_table("invitation")
    op.drop_index(op.f("ix_api_token_account_id"), table_name="api_token")
    op.drop_table("api_token")
    op.drop_index(op.f("ix_session_account_id"), table_name="session")
    op.drop_table("session")
    op.drop_table("account")


def _ways_in() -> None:
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
