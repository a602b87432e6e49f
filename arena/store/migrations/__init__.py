"""The history of the tables, for alembic. See arena/store/migrate.py."""
