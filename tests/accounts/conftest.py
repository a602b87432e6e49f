"""Fixtures for the tests of accounts."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.accounts.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Yield accounts over an empty store, open for registration."""
    with closing(World.at(tmp_path)) as world:
        yield world
