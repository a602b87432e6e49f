"""The history of the tables, for alembic. See arena/db/opening.py."""
