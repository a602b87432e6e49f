"""Errors, as pages for people and as ``application/problem+json`` (RFC 9457) for programs."""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final

import msgspec
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException

from arena.db.errors import StoreError
from web.http.authentication import note_caller
from web.http.rendering import page

MEDIA_TYPE: Final = "application/problem+json"

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_MAX_MINUTES: Final = 120
"""Longer waits are shown in hours."""

_HINTS: Final = {
    HTTPStatus.UNAUTHORIZED: "Send a token as Authorization: Bearer kaiten_…. Create tokens at /account.",
    HTTPStatus.FORBIDDEN: "Use an account or token that has the required permission.",
    HTTPStatus.NOT_FOUND: "Check the spelling. Other accounts' private pages are not visible.",
    HTTPStatus.METHOD_NOT_ALLOWED: "The Allow header lists the methods for this address.",
    413: "Send a smaller body.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Correct the problem, and try again.",
    HTTPStatus.TOO_MANY_REQUESTS: "Wait for the number of seconds in the Retry-After header.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Tell the operator the time of this error; the log has the details.",
    HTTPStatus.SERVICE_UNAVAILABLE: "Try again in a moment.",
}


class Problem(HTTPException):
    """An error with a hint about what to do; an empty hint means the status's default.

    ``instead`` is the address and the name of a page to visit instead; by default, the home page.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
        instead: tuple[str, str] = ("/", "Home page"),
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.hint = hint
        self.instead = instead


def too_many_requests(detail: str, wait: timedelta, *, hint: str = "") -> Problem:
    """Return a 429 problem with ``Retry-After``. ``wait`` is the time until the next attempt is allowed."""
    seconds = max(1, math.ceil(wait.total_seconds()))
    headers = {"Retry-After": str(seconds)}
    return Problem(
        HTTPStatus.TOO_MANY_REQUESTS, f"{detail} Try again in {_words(seconds)}.", hint=hint, headers=headers
    )


def _words(seconds: int) -> str:
    minutes, hours = math.ceil(seconds / _MINUTE), math.ceil(seconds / _HOUR)
    if minutes == 1:
        return "a minute"
    return f"{minutes} minutes" if minutes <= _MAX_MINUTES else f"{hours} hours"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemDocument:
    """A problem (RFC 9457).

    Attributes:
        type: Always ``about:blank``: the status says what kind of problem it is.
        title: The status in words.
        status: The HTTP status.
        detail: What happened, in words.
        hint: What to do.
    """

    type: str
    title: str
    status: int
    detail: str
    hint: str


def document(status: int, detail: str, hint: str) -> ProblemDocument:
    """Return a problem document; an empty hint means the status's default."""
    known = HTTPStatus(status)
    return ProblemDocument(
        type="about:blank",
        title=known.phrase,
        status=status,
        detail=detail,
        hint=hint or _HINTS.get(known, "Check the request."),
    )


_NOTHING: Final = "There is nothing at this address."


def answer_problem(request: Request, problem: Problem) -> Response:
    """Return the response for a problem. Only programs get the hint."""
    status, detail = problem.status_code, problem.detail
    title = HTTPStatus(status).phrase
    if status == HTTPStatus.NOT_FOUND and detail == title:
        detail = _NOTHING
    if request.url.path.startswith("/api/") or request.url.path.endswith((".json", ".csv")):
        body = msgspec.json.encode(document(status, detail, problem.hint))
        return Response(body, status, media_type=MEDIA_TYPE)
    return page(
        request, "error.html", status=status, code=status, title=title, detail=detail, instead=problem.instead
    )


_log = structlog.get_logger()


def install_error_handlers(app: FastAPI) -> None:
    """Install the error handlers."""

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - registered only for this class
        with suppress(StoreError):  # the page's header shows the user even if no route matched
            await run_in_threadpool(note_caller, request)
        problem = error if isinstance(error, Problem) else Problem(error.status_code, error.detail)
        response = answer_problem(request, problem)
        response.headers.update(error.headers or {})
        if methods := _methods(request) if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED else ():
            response.headers["Allow"] = ", ".join(sorted(methods))
        return response

    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, _handle_invalid_request)
    app.add_exception_handler(StoreError, _handle_store_error)
    app.add_exception_handler(Exception, _handle_unexpected_error)


def _methods(request: Request) -> set[str]:
    """Return all methods allowed at a path; the router reports only those of the first matching route."""
    routes = [route for route in iter_route_contexts(request.app.routes) if route.methods]
    return {
        method
        for route in routes
        if route.path_regex.match(request.url.path)
        for method in route.methods or ()
    }


async def _handle_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered only for this class
    problems = error.errors()
    if any(problem["loc"][0] == "path" for problem in problems):
        return answer_problem(request, Problem(HTTPStatus.NOT_FOUND, _NOTHING))
    detail = f"Invalid request. {'; '.join(map(_describe_invalid, problems))}."
    return answer_problem(request, Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail))


def _describe_invalid(problem: Mapping[str, Any]) -> str:
    """Describe an invalid parameter, an invalid part of the body, or a body that isn't JSON."""
    place, text = problem["loc"], problem["msg"]
    if problem["type"] == "json_invalid":
        return f"body: invalid JSON at character {place[-1]}: {problem['ctx']['error']}"
    if isinstance(problem["input"], bytes):  # the framework parses a body only if its type is JSON
        return "body: must be sent with the header Content-Type: application/json"
    name = ".".join(map(str, place[1:])) or place[0]
    # Change the case of only the first letter: a message may quote a case-sensitive pattern.
    return f"{name}: {text[:1].lower()}{text[1:]}"


async def _handle_store_error(request: Request, error: Exception) -> Response:
    _log.error("database unavailable", error=str(error))
    detail = "The arena's database is not responding. Try again in a moment."
    return answer_problem(request, Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail))


async def _handle_unexpected_error(request: Request, _: Exception) -> Response:
    # The framework's outermost layer sends this response, and logs the error.
    detail = (
        "An internal error occurred. If it happens again, tell the operator; the arena's log has the details."
    )
    return answer_problem(request, Problem(HTTPStatus.INTERNAL_SERVER_ERROR, detail))
