"""What went wrong, for people as a page and for programs as ``application/problem+json`` (RFC 9457)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from fastapi.exceptions import HTTPException

MEDIA_TYPE: Final = "application/problem+json"

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_MOST_MINUTES: Final = 120
"""What takes longer is told in hours."""

_HINTS: Final = {
    HTTPStatus.UNAUTHORIZED: "Send a token, Authorization: Bearer kaiten_…; tokens are made at /account.",
    HTTPStatus.FORBIDDEN: "Use an account or a token that may do this.",
    HTTPStatus.NOT_FOUND: "Check the address; what is private is not found by others either.",
    HTTPStatus.METHOD_NOT_ALLOWED: "The header Allow names the methods that this address takes.",
    413: "Send less.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Change what the detail names, and send it again.",
    HTTPStatus.TOO_MANY_REQUESTS: "Wait as many seconds as the header Retry-After says.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Tell whoever runs the arena when this was; its log has the details.",
    HTTPStatus.SERVICE_UNAVAILABLE: "Try again in a moment.",
}


class Problem(HTTPException):
    """An error with a hint.

    Args:
        status: Of HTTP.
        detail: What happened, for people.
        hint: What to do; the status' own without.
        headers: Of the answer.
    """

    def __init__(
        self, status: int, detail: str, *, hint: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.hint = hint


def too_much(detail: str, wait: timedelta, *, hint: str = "") -> Problem:
    """Return the problem of whoever has to wait, in words and as ``Retry-After`` (RFC 9110).

    Args:
        detail: What was too much, as a sentence.
        wait: How long it takes until there is room again.
        hint: What to do; the status' own without.
    """
    seconds = max(1, math.ceil(wait.total_seconds()))
    headers = {"Retry-After": str(seconds)}
    return Problem(
        HTTPStatus.TOO_MANY_REQUESTS, f"{detail} Try again in {_words(seconds)}.", hint=hint, headers=headers
    )


def _words(seconds: int) -> str:
    minutes, hours = math.ceil(seconds / _MINUTE), math.ceil(seconds / _HOUR)
    if minutes == 1:
        return "a minute"
    return f"{minutes} minutes" if minutes <= _MOST_MINUTES else f"{hours} hours"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemDocument:
    """What went wrong (RFC 9457).

    Attributes:
        type: Always ``about:blank``: the status says what kind of problem it is.
        title: The status in words.
        status: Of HTTP.
        detail: What happened, for people.
        hint: What to do.
    """

    type: str
    title: str
    status: int
    detail: str
    hint: str


def document(status: int, detail: str, hint: str) -> ProblemDocument:
    """Return the document of a problem; without a hint with that of its status."""
    known = HTTPStatus(status)
    return ProblemDocument(
        type="about:blank",
        title=known.phrase,
        status=status,
        detail=detail,
        hint=hint or _HINTS.get(known, "Check what was sent."),
    )
