"""Where somebody goes who has logged in: back to the page from which they came, and to this site alone."""

import re
from typing import Final
from urllib.parse import quote, urlsplit

from fastapi import Request

LOGIN: Final = "/login"
_COMING_IN: Final = frozenset({LOGIN, "/register", "/logout"})
_SAFE: Final = frozenset({"GET", "HEAD"})

_LOCAL: Final = re.compile(r"/[!-\[\]-~]{0,2000}")
"""Of printable ASCII, without what browsers take for a slash (``\\``) or leave out (tabs, ends of lines)."""


def local(address: str) -> str:
    """Return an address of a page of this site as it is; nothing where it is none, or one to come in by.

    Where a path has ``//``, what follows could be taken for the name of another site.
    """
    path = address.partition("?")[0]
    if not _LOCAL.fullmatch(address) or "//" in path or path in _COMING_IN:
        return ""
    return address


def log_in_first(request: Request) -> str:
    """Return the address of the form from which one comes back to what is asked for here.

    What a form sends can't be asked for again: whoever sent it came from a page, see :func:`came_from`.
    """
    here = _without_site(str(request.url)) if request.method in _SAFE else ""
    return f"{LOGIN}?next={quote(here)}" if here else LOGIN


def came_from(request: Request) -> str:
    """Return the page of this site from which a browser came, as far as it tells; else nothing."""
    address = request.headers.get("referer", "")
    try:
        is_ours = urlsplit(address).netloc == request.headers.get("host")
    except ValueError:
        return ""
    return _without_site(address) if is_ours else ""


def _without_site(address: str) -> str:
    """Return what of a whole address stands behind the name of the site."""
    parts = urlsplit(address)
    return local(f"{parts.path}?{parts.query}" if parts.query else parts.path)
