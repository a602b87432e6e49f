"""docs/api.md lists the API's routes and statuses."""

from collections.abc import Iterator
from typing import Any

from tests.docs.documents import DOCS, rows
from tests.web.description import description

ROWS = {row[0].strip("`"): row[1:] for row in rows(DOCS / "api.md")}


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every route of the OpenAPI description in the page's notation, with its operation."""
    for path, methods in description()["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def scope(operation: dict[str, Any]) -> str:
    """Return the scope that a route requires, in the page's notation."""
    match operation.get("security"):
        case [{"token": [str(name)]}, *_]:
            return f"`{name}`"
        case [{"token": []}, *_]:
            return "any"
    return ""


def test_every_route_is_in_the_table() -> None:
    """Each has its scope, and the table has no other routes."""
    told = {request: cells[1] for request, cells in ROWS.items() if "/api/v1/" in request}
    assert told == {request: scope(operation) for request, operation in operations()}


def test_every_status_is_explained() -> None:
    """Every error status of any route has a row."""
    known = {status for _, operation in operations() for status in operation["responses"]}
    assert {status for status in known if status >= "400"} <= ROWS.keys()
