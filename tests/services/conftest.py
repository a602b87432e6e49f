"""What the tests of operators share."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.accounts.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Give an empty store with accounts, and a clock that stands still."""
    with closing(World.at(tmp_path)) as world:
        yield world
