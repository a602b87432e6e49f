"""What makes sites quick to make: pydantic's adapters are shared, and routes are completed when asked for.

FastAPI reads the signature of each route's function and makes an adapter of each type in it: nearly all of
the work of making a site. An arena makes one site; tests make hundreds, and ask each for a few things.
"""

from collections.abc import Callable
from threading import RLock
from typing import Any, Final

from fastapi._compat import v2
from fastapi.routing import APIRoute
from pydantic import ConfigDict, TypeAdapter
from starlette.routing import compile_path

_MADE: Final[dict[tuple[object, str, str], TypeAdapter[Any]]] = {}
_COMPLETE: Final = APIRoute.__init__
_GIVEN: Final = "kaiten_given"
_LOCK: Final = RLock()


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


def complete_routes_late() -> None:
    """Have FastAPI complete a route when something but its path and its methods is asked of it."""
    APIRoute.__init__ = _begin  # type: ignore[method-assign]
    APIRoute.__getattr__ = _complete  # type: ignore[attr-defined]


def _begin(
    self: APIRoute,
    path: str,
    endpoint: Callable[..., Any],
    *,
    methods: set[str] | list[str] | None = None,
    **options: Any,  # noqa: ANN401 - FastAPI's own
) -> None:
    self.path = path
    self.path_regex, self.path_format, self.param_convertors = compile_path(path)
    self.methods = {*methods} if methods else {"GET"}
    self.__dict__[_GIVEN] = (endpoint, options)


def _complete(self: APIRoute, name: str) -> Any:  # noqa: ANN401 - any attribute
    with _LOCK:
        if _GIVEN in self.__dict__:
            endpoint, options = self.__dict__.pop(_GIVEN)
            # What someone has set meanwhile stays.
            before = dict(self.__dict__)
            _COMPLETE(self, self.path, endpoint, methods=self.methods, **options)
            self.__dict__.update(before)
    if name not in self.__dict__:
        raise AttributeError(name)
    return self.__dict__[name]
