"""Answers that say which they are, so that nobody is sent the same one twice (RFC 9110, 8.8.3 and 13.1.2)."""

import hashlib
import re
from http import HTTPStatus
from typing import Final

from fastapi import Request, Response
from starlette.responses import StreamingResponse

_SAFE: Final = frozenset({"GET", "HEAD"})
_JSON: Final = "application/json"
_TAG: Final = re.compile(r'(?:W/)?("[^"]*")')
"""An entity tag. Whether it is weak doesn't count in this comparison."""


def tagged(request: Request, response: Response) -> Response:
    """Return an answer in JSON with its ``ETag``, or 304 where the sender has it; others as they are."""
    if request.method not in _SAFE or not _is_whole_json(response):
        return response
    etag = f'"{hashlib.sha256(response.body).hexdigest()}"'
    response = not_modified(request, etag) or response
    response.headers["ETag"] = etag
    return response


def not_modified(request: Request, etag: str) -> Response | None:
    """Return an answer 304 where the sender has what this tag names, else None."""
    if not _is_known(request.headers.get("if-none-match", ""), etag):
        return None
    return Response(status_code=HTTPStatus.NOT_MODIFIED)


def _is_whole_json(response: Response) -> bool:
    return (
        response.status_code == HTTPStatus.OK
        and not isinstance(response, StreamingResponse)
        and response.media_type == _JSON
    )


def _is_known(known: str, etag: str) -> bool:
    return known.strip() == "*" or etag in _TAG.findall(known)
