"""Fixtures for the site's tests: a store with played games, and a client of a site over it."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from anyio.from_thread import start_blocking_portal
from fastapi.testclient import TestClient

from arena.db.credentials import KnownAccount
from arena.db.store import Store
from tests.accounts.world import World
from tests.builders import host_report
from tests.patience import WAIT_SECONDS
from tests.web.app import site_of
from tests.web.stable import Stable, fill_games, fill_stable


@pytest.fixture(scope="session", autouse=True)
def _event_loop() -> Iterator[None]:
    """Run all sites in one event loop, as a server does. Otherwise a client creates one per request."""
    with start_blocking_portal(backend_options={"use_uvloop": True}) as portal:
        TestClient.portal = portal
        yield
        TestClient.portal = None


@pytest.fixture(scope="session", autouse=True)
def _patience() -> Iterator[None]:
    """Give the sites of this process more time to check their databases: a busy host may need it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("web.status._CHECK_SECONDS", WAIT_SECONDS)
        yield


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Yield a store with games, which tests only read."""
    with closing(World.at(tmp_path_factory.mktemp("store"))) as world:
        world.filled(fill_games)
        yield world.store


@pytest.fixture
def ann(world: World) -> KnownAccount:
    """Add an account, on an arena whose host passes every control."""
    world.store.activity.record_host(host_report(), ())
    return world.add("ann")


@pytest.fixture(scope="module")
def client(store: Store) -> TestClient:
    """Return a client of the site with games."""
    return TestClient(site_of(store))


@pytest.fixture
def stable(world: World) -> Stable:
    """Add ann's bot ``mine`` with three versions and the game ``logged-0-0``, and other bots."""
    return world.filled(fill_stable)
