"""Notifications for authors: subscriptions, notices to deliver, and the ranks that bots hold."""

import sqlalchemy as sa
from alembic import op

revision = "0103"
down_revision = "0102"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String(length=64)
_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "subscription",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("account_id", _NUMBER, nullable=False),
        sa.Column("kind", _NAME, nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("topics", sa.JSON(), nullable=False),
        sa.Column("secret", _NAME, nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("confirmed", _MOMENT, nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failing_since", _MOMENT, nullable=True),
        sa.Column("due", _MOMENT, nullable=False),
        sa.Column("trouble", sa.Text(), nullable=True),
        sa.Column("off", _MOMENT, nullable=True),
        sa.CheckConstraint("kind IN ('webhook', 'mail')", name=op.f("ck_subscription_kind")),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_subscription_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscription")),
        sa.UniqueConstraint("secret", name=op.f("uq_subscription_secret")),
    )
    op.create_index(op.f("ix_subscription_account_id"), "subscription", ["account_id"])
    op.create_table(
        "notice",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("subscription_id", _NUMBER, nullable=False),
        sa.Column("topic", _NAME, nullable=False),
        sa.Column("bot", _NAME, nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["subscription_id"], ["subscription.id"], name=op.f("fk_notice_subscription_id")
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_notice")),
    )
    op.create_index(op.f("ix_notice_subscription_id"), "notice", ["subscription_id"])
    op.create_table(
        "held_rank",
        sa.Column("bot_id", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("lost", sa.Integer(), nullable=True),
        sa.Column("lost_to", _NAME, nullable=True),
        sa.Column("lost_at", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_held_rank_bot_id")),
        sa.PrimaryKeyConstraint("bot_id", name=op.f("pk_held_rank")),
    )
