"""Tests of the database lock that only one coordinator with containers can hold, from its start on."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from arena.app.arena import open_arena
from arena.app.folders import CannotStart
from arena.db.store import open_store
from arena.platform.settings import Settings
from tests.db.test_coordinator_lock import end_sessions
from tests.kinds import BOTH
from tests.submissions.opened import settings_in

pytestmark = pytest.mark.docker

Make = Callable[[str, str], Settings]


@pytest.fixture
def make(tmp_path: Path, run_dir: Path) -> Make:
    """Return a function that returns an installation's settings, given its name and database."""
    return lambda name, url: settings_in(tmp_path / name, run_dir).model_copy(update={"database_url": url})


@pytest.mark.parametrize("kind", BOTH)
def test_a_second_coordinator_does_not_start(
    make: Make, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """It is refused even before the first has built images. It starts after the first has exited."""
    url = (
        f"sqlite:///{tmp_path / 'shared.sqlite3'}"
        if kind == "sqlite"
        else str(request.getfixturevalue("postgresql_url"))
    )
    first, second = make("first", url), make("second", url)
    with (
        open_arena(first),
        pytest.raises(
            CannotStart, match="another coordinator is using this database: stop that coordinator first"
        ),
        open_arena(second),
    ):
        pass
    with open_arena(second):
        pass


@pytest.mark.postgresql
def test_a_coordinator_that_loses_the_lock_stops(make: Make, postgresql_url: str) -> None:
    """A running coordinator stops, and can't start again."""
    with closing(open_store(postgresql_url)) as other, open_arena(make("first", postgresql_url)) as arena:

        def take_over() -> bool:
            """Take the lock as soon as the restarted server allows it."""
            while not other.coordinator_lock.take():
                end_sessions(postgresql_url)
            return True

        ended = "another coordinator took over"
        with pytest.raises(CannotStart, match=ended), arena.coordinator() as coordinator:
            coordinator.run(take_over)
        assert coordinator.stopped
        with pytest.raises(CannotStart, match=ended), arena.coordinator():
            pytest.fail("the coordinator started")
        other.coordinator_lock.release()
