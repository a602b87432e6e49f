"""Answers with an error: a page in the site's look, or a problem where the address is one of data."""

from http import HTTPStatus

import msgspec
from fastapi import Request, Response

from web.problems import MEDIA_TYPE, Problem, document
from web.rendering import page


def answer_problem(request: Request, problem: Problem) -> Response:
    """Return the answer for a problem."""
    return answer(request, problem.status_code, problem.detail, hint=problem.hint)


def answer(request: Request, status: int, detail: str, *, hint: str = "") -> Response:
    """Return the answer for an error.

    Args:
        request: What was asked.
        status: Of HTTP.
        detail: What happened, for people.
        hint: What to do, for programs; on pages the detail says that too.
    """
    title = HTTPStatus(status).phrase
    if status == HTTPStatus.NOT_FOUND and detail == title:
        detail = "There is nothing at this address."
    if request.url.path.startswith("/api/") or request.url.path.endswith((".json", ".csv")):
        return Response(msgspec.json.encode(document(status, detail, hint)), status, media_type=MEDIA_TYPE)
    return page(request, "error.html", status=status, code=status, title=title, detail=detail)
