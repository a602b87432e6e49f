"""docs/api.md names what the API has."""

from collections.abc import Iterator
from typing import Any

from tests.docs.documents import DOCS, rows
from tests.web.description import description

ROWS = {row[0].strip("`"): row[1:] for row in rows(DOCS / "api.md")}
API = description()


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Return every route of the description, as the page writes it, with what is said of it."""
    for path, methods in API["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def scope(operation: dict[str, Any]) -> str:
    """Return the scope that a route takes, as the page writes it."""
    match operation.get("security"):
        case [{"token": [str(name)]}, *_]:
            return f"`{name}`"
        case [{"token": []}, *_]:
            return "any"
    return ""


def test_every_route_is_in_the_table() -> None:
    """With the scope that it takes; and the table names none that there is not."""
    told = {request: cells[1] for request, cells in ROWS.items() if "/api/v1/" in request}
    assert told == {request: scope(operation) for request, operation in operations()}


def test_every_status_is_explained() -> None:
    """Whatever error the description knows of, for any route, has a line."""
    known = {status for _, operation in operations() for status in operation["responses"]}
    assert {status for status in known if status >= "400"} <= ROWS.keys()
