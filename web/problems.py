"""What went wrong, for people as a page and for programs as ``application/problem+json`` (RFC 9457)."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from fastapi.exceptions import HTTPException

MEDIA_TYPE: Final = "application/problem+json"

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


def document(status: int, detail: str, hint: str) -> dict[str, str | int]:
    """Return the members of a problem."""
    known = HTTPStatus(status)
    return {
        "type": "about:blank",
        "title": known.phrase,
        "status": status,
        "detail": detail,
        "hint": hint or _HINTS.get(known, "Check what was sent."),
    }
