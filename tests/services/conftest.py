"""Fixtures shared by the tests of services."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.accounts.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Yield an empty store with accounts, and a clock that the test sets."""
    with closing(World.at(tmp_path)) as world:
        yield world
