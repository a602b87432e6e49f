"""The site over a test's store."""

from fastapi import FastAPI

from arena.store import Store
from tests.accounts.world import World
from web import create_app


def site_of(store: Store) -> FastAPI:
    """Return the site, open for registration, with cheap hashes."""
    return create_app(store.reads, World(store).accounts)
