"""The cookie of a session: one name over HTTPS, where the browser guards it, and another over plain HTTP."""

from ipaddress import ip_address
from typing import Final

from fastapi import Request, Response

from arena.accounts.sessions import LIFE

SECURE_NAME: Final = "__Host-kaiten"
"""Browsers take it over HTTPS alone, from this very host, for all of its paths."""

PLAIN_NAME: Final = "kaiten-session"


def session_secret(request: Request) -> str | None:
    """Return what the browser sent; over HTTPS a cookie that anybody could have planted doesn't count."""
    return request.cookies.get(_name(request))


def set_session(request: Request, response: Response, secret: str) -> None:
    """Give the browser a session."""
    response.set_cookie(
        _name(request),
        secret,
        max_age=int(LIFE.total_seconds()),
        path="/",
        secure=_is_secure(request),
        httponly=True,
        samesite="lax",
    )


def clear_session(request: Request, response: Response) -> None:
    """Make the browser forget its session."""
    response.delete_cookie(
        _name(request), path="/", secure=_is_secure(request), httponly=True, samesite="lax"
    )


def can_be_overheard(request: Request) -> bool:
    """Whether others on the network can read along: plain HTTP that leaves the machine."""
    if _is_secure(request):
        return False
    asks = request.client.host if request.client else ""
    return not (_is_loopback(asks) and _is_loopback(request.url.hostname or ""))


def _name(request: Request) -> str:
    return SECURE_NAME if _is_secure(request) else PLAIN_NAME


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
