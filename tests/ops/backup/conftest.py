"""Spots for a test, on each kind of database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ops.backup.places import Spots


@pytest.fixture
def spots(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Spots]:
    """Make spots; databases of PostgreSQL where the test is marked so."""
    marked = request.node.get_closest_marker("postgresql") is not None
    made = Spots(tmp_path, request.getfixturevalue("postgresql_cluster") if marked else None)
    yield made
    made.remove()
