"""A running site for the client's tests."""

from collections.abc import Iterator

import pytest

from tests.client.live import Live, live


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """Yield a site that a module's tests share. Each test has its own bots."""
    with live(tmp_path_factory.mktemp("data"), ARENA_BOTS_PER_AUTHOR="99") as running:
        yield running
