"""Places for arenas on each kind of database, an arena with data of every kind, and a backup of it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import fill
from tests.ops.backup.places import Spot, Spots, settle


@pytest.fixture
def spots(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Spots]:
    """Yield places. If the test is marked for PostgreSQL, they can have databases there."""
    marked = request.node.get_closest_marker("postgresql") is not None
    made = Spots(tmp_path, request.getfixturevalue("postgresql_cluster") if marked else None)
    yield made
    made.remove()


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an arena in ``live`` and its backup in ``kept.zip``, both to be copied."""
    folder = tmp_path_factory.mktemp("filled")
    spot = Spots(folder, None).make("live")
    settle(spot)
    with spot.store() as store:
        fill(store)
    spot.back_up(folder / "kept.zip")
    return folder


@pytest.fixture
def live(filled: Path, spots: Spots) -> Spot:
    """Return a copy of the arena with data of every kind."""
    spot = spots.make("live")
    shutil.copytree(filled / "live", spot.settings.data_dir)
    return spot


@pytest.fixture
def kept(filled: Path, tmp_path: Path) -> Path:
    """Return a copy of that arena's backup."""
    return Path(shutil.copy(filled / "kept.zip", tmp_path / "kept.zip"))
