"""What alembic runs: it gets the connection, and the transaction on it, from :mod:`arena.store.migrate`."""

from alembic import context

from arena.store.models import Base
from arena.store.revision import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite can't alter most things in place
)
context.run_migrations()
