"""Submissions that are only checked; points after two rounds, for new games."""

import sqlalchemy as sa
from alembic import op

revision = "0101"
down_revision = "0100"

_STAGES = "stage IN ('received', 'inspected', 'qualifying', 'active', 'passed', 'rejected')"


def upgrade() -> None:
    """Add the columns, and the last stage of a check."""
    op.add_column("upload", _check_only())
    with op.batch_alter_table("submission") as table:
        table.add_column(_check_only())
        table.drop_constraint(op.f("ck_submission_stage"), type_="check")
        table.create_check_constraint(op.f("ck_submission_stage"), _STAGES)
    op.add_column("game_seat", sa.Column("after_two", sa.Integer(), nullable=True))


def _check_only() -> sa.Column[bool]:
    return sa.Column("check_only", sa.Boolean(), server_default=sa.false(), nullable=False)
