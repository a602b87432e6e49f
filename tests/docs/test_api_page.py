"""Test that docs/api.md explains the API's statuses."""

from tests.docs.documents import DOCS, rows
from tests.web.description import description


def test_every_status_is_explained() -> None:
    """Every error status of any route has a row in the table."""
    explained = {row[0] for row in rows(DOCS / "api.md")}
    routes = description()["paths"].values()
    known = {
        status for methods in routes for operation in methods.values() for status in operation["responses"]
    }
    assert {status for status in known if status >= "400"} <= explained
