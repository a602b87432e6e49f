"""Pages that are made only where there is something new, so that asking again and again is cheap."""

import hashlib
import secrets
from collections.abc import Callable
from typing import Final

from fastapi import Request, Response

from web.api.etags import not_modified
from web.caller import caller_of

_PROCESS: Final = secrets.token_hex(8)
"""Another process may have other templates."""


def unless_unchanged(request: Request, what: object, make: Callable[[], Response]) -> Response:
    """Return 304 where the sender has this very page, else what ``make`` makes, with its ``ETag``.

    Args:
        request: For the page.
        what: All that the page is made from, beside who asks.
        make: Makes the page.
    """
    caller = caller_of(request)
    who = None if caller is None else (caller.account.name, caller.benched)
    etag = tag_of(who, what)
    response = not_modified(request, etag) or make()
    response.headers["ETag"] = etag
    response.headers["Vary"] = "Cookie"
    return response


def tag_of(*what: object) -> str:
    """Return an ``ETag`` for what this process makes of these things."""
    return f'"{hashlib.sha256(repr((_PROCESS, *what)).encode()).hexdigest()}"'
