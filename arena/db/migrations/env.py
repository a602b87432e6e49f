"""Alembic's entry point. It gets a connection within a transaction from :mod:`arena.db.opening`."""

from alembic import context

from arena.db.opening import VERSION_TABLE
from arena.db.schema import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite can't alter most things in place
)
context.run_migrations()
