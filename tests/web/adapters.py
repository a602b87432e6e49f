"""What sites of one process share: pydantic's adapters of the types in their routes.

FastAPI makes one for each parameter and answer of each route: half of the work of making a site. They hold
nothing of a site's, and an arena makes one site; tests make hundreds.
"""

from typing import Any, Final

from fastapi._compat import v2
from pydantic import ConfigDict, TypeAdapter

_MADE: Final[dict[tuple[object, str, str], TypeAdapter[Any]]] = {}


def share_adapters() -> None:
    """Have FastAPI make no adapter of a type twice."""
    v2.TypeAdapter = _adapter  # type: ignore[attr-defined, assignment]


def _adapter(annotated: Any, *, config: ConfigDict | None = None) -> TypeAdapter[Any]:  # noqa: ANN401 - a type
    # The text has constraints and defaults; the type is for those that are called the same.
    key = (annotated.__origin__, repr(annotated), repr(config))
    found = _MADE.get(key)
    if found is None:
        found = _MADE[key] = TypeAdapter(annotated, config=config)
    return found
