"""Identifies the caller: a browser with a session, a program with a token, or neither."""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Final
from urllib.parse import quote, urlsplit

from fastapi import Depends, HTTPException, Request, Response

from arena.accounts.accounts import Accounts
from arena.accounts.credentials import KNOWN_BROWSER_TIME, MAX_AGE, scopes_of
from arena.db.bots import Bots
from arena.db.credentials import KnownAccount, KnownToken, OpenSession
from arena.platform.names import is_loopback
from arena.protocol.states import BotState, Scope

SECURE_NAME: Final = "__Host-kaiten"
"""Browsers accept a cookie with this name only over HTTPS, from this host, and for all of its paths."""

PLAIN_NAME: Final = "kaiten-session"

_BROWSER: Final = "kaiten-browser"
_VISITOR: Final = "kaiten-visitor"
_VISITOR_SECONDS: Final = 180 * 24 * 60 * 60
_VISITOR_BYTES: Final = 16


def visitor_of(request: Request) -> str | None:
    """Return the digest of the visitor's cookie, which :func:`set_visitor` sets."""
    secret = request.cookies.get(_visitor_name(request), "")
    is_ours = secret.isascii() and len(secret) == 2 * _VISITOR_BYTES
    return sha256(secret.encode()).hexdigest() if is_ours else None


def set_visitor(request: Request, response: Response) -> str:
    """Set a cookie that identifies a visitor; return its digest."""
    secret = secrets.token_hex(_VISITOR_BYTES)
    _set_cookie(request, response, _visitor_name(request), secret, _VISITOR_SECONDS)
    return sha256(secret.encode()).hexdigest()


def _visitor_name(request: Request) -> str:
    return f"__Host-{_VISITOR}" if _is_secure(request) else _VISITOR


def session_secret(request: Request) -> str | None:
    """Return the session cookie; over HTTPS, the ``__Host-`` one, which a network attacker can't plant."""
    return request.cookies.get(_name(request))


def set_session(request: Request, response: Response, secret: str) -> None:
    """Set the session cookie."""
    _set_cookie(request, response, _name(request), secret, int(MAX_AGE.total_seconds()))


def browser_mark(request: Request) -> str:
    """Return the cookie of a browser that has logged in before, or an empty string."""
    mark = request.cookies.get(_browser_name(request), "")
    return mark if len(mark) <= _SECRET else ""


def set_browser_mark(request: Request, response: Response, mark: str) -> None:
    """Set the cookie of a browser that has logged in. It is sent only to the login page."""
    _set_cookie(
        request, response, _browser_name(request), mark, int(KNOWN_BROWSER_TIME.total_seconds()), path=LOGIN
    )


def _browser_name(request: Request) -> str:
    return f"__Secure-{_BROWSER}" if _is_secure(request) else _BROWSER


def _set_cookie(  # noqa: PLR0913, PLR0917 - the parts of a cookie
    request: Request, response: Response, name: str, secret: str, seconds: int, path: str = "/"
) -> None:
    secure = _is_secure(request)
    response.set_cookie(
        name, secret, max_age=seconds, path=path, secure=secure, httponly=True, samesite="lax"
    )


def clear_session(request: Request, response: Response) -> None:
    """Delete the session cookie."""
    response.delete_cookie(
        _name(request), path="/", secure=_is_secure(request), httponly=True, samesite="lax"
    )


def is_unencrypted(request: Request) -> bool:
    """Return True if the request came unencrypted from another host."""
    if _is_secure(request):
        return False
    client = request.client.host if request.client else ""
    return not (is_loopback(client) and is_loopback(request.url.hostname or ""))


def _name(request: Request) -> str:
    return SECURE_NAME if _is_secure(request) else PLAIN_NAME


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https"


LOGIN: Final = "/login"
_LOGIN_PAGES: Final = frozenset({LOGIN, "/register", "/logout"})
_SAFE: Final = frozenset({"GET", "HEAD"})

_LOCAL: Final = re.compile(r"/[!-\[\]-~]{0,2000}")
"""Printable ASCII without backslashes: browsers treat those as slashes, and drop tabs and line breaks."""


def local(address: str) -> str:
    """Return an address if it is a safe redirect target on this site, else an empty string.

    The login, registration and logout pages are refused. So is a path with ``//``, because a browser could
    take part of it for a host name.
    """
    path = address.partition("?")[0]
    if not _LOCAL.fullmatch(address) or "//" in path or path in _LOGIN_PAGES:
        return ""
    return address


def login_address(request: Request) -> str:
    """Return the login form's address, including the requested page as the one to return to.

    A POST can't be repeated that way, so the login form says that nothing was sent, and after logging in, the
    user returns to the page that sent it (:func:`referring_page`).
    """
    if request.method not in _SAFE:
        return f"{LOGIN}?unsent=true#main"  # otherwise, the browser would keep the form's fragment
    here = _without_site(str(request.url))
    return f"{LOGIN}?next={quote(here)}" if here else LOGIN


def referring_page(request: Request) -> str:
    """Return the address in the Referer header if it is on this site, or an empty string."""
    address = request.headers.get("referer", "")
    try:
        is_ours = urlsplit(address).netloc == request.headers.get("host")
    except ValueError:
        return ""
    return _without_site(address) if is_ours else ""


def _without_site(address: str) -> str:
    """Return an absolute address's path and query, or an empty string if :func:`local` refuses them."""
    parts = urlsplit(address)
    return local(f"{parts.path}?{parts.query}" if parts.query else parts.path)


_BEARER: Final = "bearer "
_SECRET: Final = 200
"""Longer than any of our secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The authenticated caller."""

    account: KnownAccount
    scopes: frozenset[Scope]
    session: OpenSession | None  # the browser's; None for a token
    token: KnownToken | None  # the program's; None for a session
    # Names of the account's benched bots. They are looked up only for browsers, because only pages show them.
    benched: tuple[str, ...]

    def may_see(self, account: int | None) -> bool:
        """Return True if the caller may see an account's data, as its owner or as an operator."""
        return account == self.account.id or Scope.OPERATE in self.scopes


def may_read(caller: Caller | None, account: int | None) -> bool:
    """Return True if the caller may see an account's data and has the scope to read."""
    return caller is not None and Scope.READ in caller.scopes and caller.may_see(account)


class Callers:
    """Authenticates requests. The application's state holds an instance as ``callers``.

    ``count_change`` counts a caller's request to change data, and raises Problem (429) if there are too many.
    """

    def __init__(self, accounts: Accounts, bots: Bots, count_change: Callable[[Caller], None]) -> None:
        self._accounts = accounts
        self._bots = bots
        self.count_change = count_change

    def find(self, request: Request) -> Caller | None:
        """Authenticate a request."""
        # A request with this header bypasses the CSRF check, so its cookies must be ignored.
        if "authorization" in request.headers:
            return self._with_token(request.headers["authorization"])
        secret = session_secret(request)
        found = None if secret is None or len(secret) > _SECRET else self._accounts.sessions.find(secret)
        if found is None:
            return None
        return Caller(
            account=found.account,
            scopes=scopes_of(found.account.role),
            session=found,
            token=None,
            benched=self._benched_bots(found.account),
        )

    def _benched_bots(self, account: KnownAccount) -> tuple[str, ...]:
        return tuple(bot.name for bot in self._bots.of_account(account.id) if bot.state is BotState.BENCHED)

    def _with_token(self, header: str) -> Caller | None:
        secret = header[len(_BEARER) :].strip()
        if header[: len(_BEARER)].lower() != _BEARER or len(secret) > _SECRET:
            return None
        found = self._accounts.tokens.find(secret)
        if found is None:
            return None
        return Caller(account=found.account, scopes=found.scopes, session=None, token=found.token, benched=())


def find_caller(request: Request) -> Caller | None:
    """Authenticate again, ignoring the noted caller: the session may have changed since."""
    callers: Callers = request.app.state.callers
    return callers.find(request)


def note_caller(request: Request) -> Caller | None:
    """Dependency: authenticate once, and note the caller on the request for pages, headers and errors."""
    if not hasattr(request.state, "caller"):
        request.state.caller = find_caller(request)
    return caller_of(request)


def caller_of(request: Request) -> Caller | None:
    """Return the caller noted on this request."""
    found: Caller | None = getattr(request.state, "caller", None)
    return found


def count_change(request: Request, caller: Caller) -> None:
    """Count a request that may change data. Raises Problem (429) if the caller has sent too many."""
    if request.method not in _SAFE:
        callers: Callers = request.app.state.callers
        callers.count_change(caller)


def logged_in(request: Request) -> OpenSession:
    """Return the browser's session.

    Without one, raises HTTPException (303), which redirects to the login form. Raises Problem (429) after too
    many changes.
    """
    caller = caller_of(request)
    if caller is None or caller.session is None:
        raise HTTPException(303, "Log in first.", {"Location": login_address(request)})
    count_change(request, caller)
    return caller.session


Session = Annotated[OpenSession, Depends(logged_in)]
