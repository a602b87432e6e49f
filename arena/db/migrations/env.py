"""Alembic's entry point. It gets a connection within a transaction from :mod:`arena.db.schema_revision`."""

from alembic import context

from arena.db.schema import Base
from arena.db.schema_revision import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite can't alter most things in place
)
context.run_migrations()
