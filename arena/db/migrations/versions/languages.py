"""The database accepts submissions in any language, because the program checks the language."""

from alembic import op

revision = "0105"
down_revision = "0104"


def upgrade() -> None:
    """Drop the constraint that listed the kinds of files."""
    with op.batch_alter_table("submission") as table:
        table.drop_constraint(op.f("ck_submission_kind"), type_="check")
