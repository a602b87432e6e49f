"""Tests of PostgreSQL databases that several tests use one after another."""

import psycopg
import pytest
from psycopg import sql

from tests.copies import Copies
from tests.postgresql import Cluster

pytestmark = pytest.mark.postgresql


@pytest.mark.parametrize(
    "change",
    ["DROP INDEX {}", "ALTER DATABASE {} SET default_transaction_read_only = on", "CREATE TABLE {}()"],
)
def test_a_copy_that_differs_is_not_used_again(
    postgresql_cluster: Cluster, postgresql_template: str, change: str
) -> None:
    """A copy is discarded if anything other than its rows has changed."""
    copies = Copies(postgresql_cluster, postgresql_template)
    with copies.one() as name, psycopg.connect(postgresql_cluster.address(name)) as connection:
        index = connection.execute(
            "SELECT indexname FROM pg_indexes WHERE schemaname = 'public' AND indexname LIKE 'ix_%'"
        ).fetchone()
        assert index is not None
        subject = name if "DATABASE" in change else index[0] if "INDEX" in change else "more"
        connection.execute(sql.SQL(change).format(sql.Identifier(subject)))
    with copies.one() as other:
        assert other != name
    postgresql_cluster.drop(other)
