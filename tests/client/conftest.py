"""A running site for the client's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.live import Live, live


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Live]:
    """Yield a site over an empty store."""
    with live(tmp_path) as running:
        yield running
