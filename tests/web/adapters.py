"""Patches that make sites start faster: shared pydantic adapters, and routes that are completed on first use.

FastAPI inspects the signature of each route's function and creates an adapter for each type in it. That
is most of the work of creating a site. An arena creates one site, but tests create hundreds and send only
a few requests to each.
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
    """Make FastAPI reuse one adapter per type."""
    v2.TypeAdapter = _adapter  # type: ignore[attr-defined, assignment]


def _adapter(annotated: Any, *, config: ConfigDict | None = None) -> TypeAdapter[Any]:  # noqa: ANN401 - a type
    # repr() includes constraints and defaults; the type itself distinguishes types of the same name.
    key = (annotated.__origin__, repr(annotated), repr(config))
    found = _MADE.get(key)
    if found is None:
        found = _MADE[key] = TypeAdapter(annotated, config=config)
    return found


def complete_routes_late() -> None:
    """Make FastAPI complete a route when an attribute other than its path and methods is first used."""
    APIRoute.__init__ = _begin  # type: ignore[method-assign]
    APIRoute.__getattr__ = _complete  # type: ignore[attr-defined]


def _begin(
    self: APIRoute,
    path: str,
    endpoint: Callable[..., Any],
    *,
    methods: set[str] | list[str] | None = None,
    **options: Any,  # noqa: ANN401 - FastAPI's options
) -> None:
    self.path = path
    self.path_regex, self.path_format, self.param_convertors = compile_path(path)
    self.methods = {*methods} if methods else {"GET"}
    self.__dict__[_GIVEN] = (endpoint, options)


def _complete(self: APIRoute, name: str) -> Any:  # noqa: ANN401 - any attribute
    with _LOCK:
        if _GIVEN in self.__dict__:
            endpoint, options = self.__dict__.pop(_GIVEN)
            # Keep the attributes that have been set in the meantime.
            before = dict(self.__dict__)
            _COMPLETE(self, self.path, endpoint, methods=self.methods, **options)
            self.__dict__.update(before)
    if name not in self.__dict__:
        raise AttributeError(name)
    return self.__dict__[name]
