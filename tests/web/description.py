"""The site's description of its API."""

from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.accounts.world import World
from tests.web.app import site_over
from web.http.api import describe


@cache
def description() -> dict[str, Any]:
    """Return the OpenAPI document. It doesn't depend on the arena's content."""
    with TemporaryDirectory() as folder, closing(World.at(Path(folder))) as world:
        return describe(site_over(world))
