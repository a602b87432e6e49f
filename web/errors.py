"""Errors as pages in the site's look, or as problems where the address is one of data."""

from contextlib import suppress
from http import HTTPStatus

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException

from arena.store import StoreError
from web.answers import answer
from web.caller import Callers
from web.problems import Problem

_log = structlog.get_logger()


def install(app: FastAPI, callers: Callers) -> None:
    """Make an app answer errors with this module.

    Args:
        app: The site.
        callers: Know whose name stands in the head of a page, also where no route was found.
    """

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - what it is registered for
        with suppress(StoreError):
            await run_in_threadpool(callers.note, request)
        hint = error.hint if isinstance(error, Problem) else ""
        made = answer(request, error.status_code, error.detail, hint=hint)
        made.headers.update(error.headers or {})
        if methods := _methods(request) if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED else ():
            made.headers["Allow"] = ", ".join(sorted(methods))
        return made

    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(StoreError, _no_store)
    app.add_exception_handler(Exception, _unexpected)


def _methods(request: Request) -> set[str]:
    """Return the methods of an address; the router knows those of its first route there alone."""
    routes = [route for route in iter_route_contexts(request.app.routes) if route.methods]
    return {
        method
        for route in routes
        if route.path_regex.match(request.url.path)
        for method in route.methods or ()
    }


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - what it is registered for
    problems = error.errors()
    if any(problem["loc"][0] == "path" for problem in problems):
        return answer(request, HTTPStatus.NOT_FOUND, "There is nothing at this address.")
    # The first letter alone: a message may quote a pattern, in which small and capital letters differ.
    texts = [f"{each['loc'][-1]}: {each['msg'][:1].lower()}{each['msg'][1:]}" for each in problems]
    return answer(request, HTTPStatus.UNPROCESSABLE_ENTITY, f"This can't be asked. {'; '.join(texts)}.")


async def _no_store(request: Request, error: Exception) -> Response:
    _log.error("the database can't be used", error=str(error))
    return answer(
        request,
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The arena's database does not answer just now. Try again in a moment.",
    )


async def _unexpected(request: Request, _: Exception) -> Response:
    # The framework's outermost layer answers this one, and logs the error.
    return answer(
        request,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "The arena failed to make this page. It is not your fault; its log has the details.",
    )
