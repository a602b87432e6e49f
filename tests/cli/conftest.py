"""An author and a site for the tests of commands that talk to one; an operator beside an arena's database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.author import Author
from tests.cli.operator import Operator
from tests.client.live import Live, live


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """Give a site that a module's tests share; each has authors and bots of its own."""
    plenty = {"ARENA_BOTS_PER_AUTHOR": "99", "ARENA_SUBMISSIONS_A_DAY": "99"}
    with live(tmp_path_factory.mktemp("data"), **plenty) as running:
        yield running


@pytest.fixture
def author(tmp_path: Path, site: Live) -> Author:
    """Give someone who is logged in nowhere."""
    return Author(tmp_path, site)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def operator(request: pytest.FixtureRequest, tmp_path: Path) -> Operator:
    """Give someone who operates an arena, on each kind of database."""
    if request.param == "sqlite":
        made = Operator(f"sqlite:///{tmp_path / 'arena.sqlite3'}")
    else:
        made = Operator(str(request.getfixturevalue("postgresql_url")))
    made.fill()
    return made
