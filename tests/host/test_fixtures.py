"""Tests of the fixtures for external programs."""

from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine, text

from tests.conftest import missing
from tests.postgresql import Cluster, find_programs


@pytest.mark.postgresql
def test_each_test_gets_a_database_of_its_own(empty_postgresql_url: str, postgresql_cluster: Cluster) -> None:
    """A table created in one test's database doesn't exist in another's."""
    engine = create_engine(empty_postgresql_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE mine (id int)"))
    engine.dispose()
    with psycopg.connect(postgresql_cluster.address("postgres")) as other:
        assert other.execute("SELECT to_regclass('mine')").fetchone() == (None,)


@pytest.mark.postgresql
def test_a_removed_cluster_leaves_nothing_behind(postgresql_cluster: Cluster) -> None:
    """Removing a cluster stops its server and deletes its folder. Another cluster keeps running."""
    programs = find_programs()
    assert programs is not None
    cluster = Cluster(programs)
    cluster.start()
    with psycopg.connect(cluster.address("postgres")) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    cluster.remove()
    assert not Path(row[0]).parent.exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(cluster.address("postgres"))
    psycopg.connect(postgresql_cluster.address("postgres")).close()


def test_a_missing_part_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside CI such tests are skipped, as test_missing_parts shows."""
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"CI must not skip: no engine \(start one\)"):
        missing("no engine", "start one")
