"""The history of the tables, for alembic. See arena/db/schema_revision.py."""
