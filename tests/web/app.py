"""The site with a test's store, and the description of its API."""

import secrets
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi import FastAPI

from arena.db.quotas import Quota
from arena.db.store import Store
from arena.notices.subscriptions import OwnSubscriptions
from arena.platform.files import Disk
from arena.protocol.match import RuntimeName
from arena.services.owners import Owners
from arena.submissions.receiver import Receiver
from arena.submissions.uploads import Uploads
from tests.accounts.world import World
from tests.web.adapters import complete_routes_late, share_adapters
from web.app import Components, create_app
from web.http.api import describe
from web.http.metrics import SiteMetrics

share_adapters()
complete_routes_late()


def site_of(store: Store) -> FastAPI:
    """Return a site over a store, open for registration, with cheap hashes."""
    return site_over(World(store))


def site_over(world: World) -> FastAPI:
    """Return a site over a world, with small quotas."""
    return create_app(components_over(world))


def shared_site(world: World) -> FastAPI:
    """Return the site that all visitors of a world share."""
    if world.site is None:
        world.site = site_over(world)
    assert isinstance(world.site, FastAPI)
    return world.site


def components_over(world: World) -> Components:
    """Return the components of a site over a world, with small quotas."""
    receiver = Receiver(
        world.store,
        Uploads(world.uploads, Disk(world.uploads, world.least_free)),
        Quota(submissions_a_day=3, bots=2, open_submissions=9),
        now=lambda: world.now,
        new_id=lambda: secrets.token_hex(8),
    )
    owners = Owners(
        world.store,
        RuntimeName.DOCKER,
        challenges_a_day=3,
        now=lambda: world.now,
        new_id=lambda: secrets.token_hex(8),
        new_seed=lambda: secrets.token_hex(16),
    )
    return Components(
        store=world.store,
        accounts=world.accounts,
        receiver=receiver,
        owners=owners,
        subscriptions=OwnSubscriptions(
            world.store.subscriptions,
            world.sources,
            named=frozenset(),
            sends_mail=world.sends_mail,
        ),
        metrics=SiteMetrics(),
        exports=world.exports,
        now=lambda: world.now,
    )


@cache
def description() -> dict[str, Any]:
    """Return the OpenAPI document. It doesn't depend on the arena's content."""
    with TemporaryDirectory() as folder, closing(World.at(Path(folder))) as world:
        return describe(site_over(world))
