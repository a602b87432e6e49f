"""Errors as pages in the site's look, or as JSON where the address is one of data."""

import logging
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from arena.store import StoreError
from web.headers import SECURITY_HEADERS
from web.rendering import page

_log: Final = logging.getLogger(__name__)


def install(app: FastAPI) -> None:
    """Make an app answer errors with this module."""
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(StoreError, _no_store)
    app.add_exception_handler(Exception, _unexpected)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - what it is registered for
    answer = _answer(request, error.status_code, error.detail)
    answer.headers.update(error.headers or {})
    return answer


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - what it is registered for
    problems = error.errors()
    if any(problem["loc"][0] == "path" for problem in problems):
        return _answer(request, HTTPStatus.NOT_FOUND, "There is nothing at this address.")
    texts = [f"{problem['loc'][-1]}: {problem['msg'].lower()}" for problem in problems]
    return _answer(request, HTTPStatus.UNPROCESSABLE_ENTITY, f"This can't be asked. {'; '.join(texts)}.")


async def _no_store(request: Request, error: Exception) -> Response:
    _log.error("%s: %s", request.url.path, error)
    return _answer(
        request,
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The arena's database does not answer just now. Try again in a moment.",
    )


async def _unexpected(request: Request, _: Exception) -> Response:
    # The outermost layer answers this one, outside of the headers' middleware. It also logs the error.
    answer = _answer(
        request,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "The arena failed to make this page. It is not your fault; its log has the details.",
    )
    answer.headers.update(SECURITY_HEADERS)
    return answer


def _answer(request: Request, status: int, detail: str) -> Response:
    title = HTTPStatus(status).phrase
    if request.url.path.startswith("/api/") or request.url.path.endswith(".json"):
        return JSONResponse({"error": title, "detail": detail}, status_code=status)
    if status == HTTPStatus.NOT_FOUND and detail == title:
        detail = "There is nothing at this address."
    return page("error.html", status=status, code=status, title=title, detail=detail)
