"""Card statistics always cover all games, so the first game that they cover is no longer recorded."""

from alembic import op

revision = "0102"
down_revision = "0101"


def upgrade() -> None:
    """Drop the column."""
    with op.batch_alter_table("ladder") as table:
        table.drop_column("cards_from")
