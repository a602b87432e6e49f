"""Account pages: registration, login, and the user's own account."""

from collections.abc import Collection, Mapping
from typing import Annotated, Final

from fastapi import APIRouter, Form, HTTPException, Path, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from arena.accounts.accounts import Accounts
from arena.accounts.credentials import MAX_DAYS, NAME_LENGTH, scopes_of
from arena.accounts.errors import AccountError, Busy, RegistrationRefused, WrongCredentials
from arena.accounts.passwords import MAX_LENGTH, MIN_LENGTH
from arena.db.accounts import StoredPassword
from arena.db.credentials import OpenSession
from arena.db.errors import InvitationRefused, LastOperator, NameTaken, TooManyTokens
from arena.platform.names import WrongName
from arena.platform.settings import RegistrationMode
from arena.protocol.states import Scope
from web.http.authentication import (
    Session,
    clear_session,
    local,
    referring_page,
    session_secret,
    set_browser_mark,
    set_session,
)
from web.http.errors import Problem
from web.http.metrics import LoginFailure, SiteMetrics
from web.http.notices import redirect_with_notice, with_notice
from web.http.parameters import MAX_INTEGER
from web.http.rate_limits import RateLimits, address_of
from web.http.rendering import PageRouter, page
from web.http.security import PRIVATE

Text = Annotated[str, Form()]
"""A form field. A missing field is treated like an empty one."""

Onward = Annotated[str, Form(alias="next")]
WayBack = Annotated[str, Query(alias="next")]
"""The page to go to after logging in. Anyone can set it in a link, so it must be on this site."""


def entry_pages(accounts: Accounts, limits: RateLimits, metrics: SiteMetrics) -> APIRouter:
    """Return the routes for registration, login and logout."""
    router = PageRouter()
    entry = _Entry(accounts, limits, metrics)
    router.add_api_route("/login", entry.login_form)
    router.add_api_route("/login", entry.login, methods=["POST"])
    router.add_api_route("/register", entry.register_form)
    router.add_api_route("/register", entry.register, methods=["POST"])
    router.add_api_route("/logout", entry.logout, methods=["POST"])
    return router


class _Entry:
    """The pages' request handlers."""

    def __init__(self, accounts: Accounts, limits: RateLimits, metrics: SiteMetrics) -> None:
        self._accounts = accounts
        self._limits = limits
        self._metrics = metrics

    def login_form(self, request: Request, onward: WayBack = "", unsent: str = "") -> Response:
        """Show the form. ``unsent`` is set if the browser sent another form without a session."""
        onward = onward or referring_page(request)
        return self._form(request, "login.html", onward=onward, name="", unsent=unsent)

    def login(self, request: Request, name: Text = "", password: Text = "", onward: Onward = "") -> Response:
        try:
            with self._limits.count_login(request, name):
                checked = self._accounts.sessions.check(name, password, address=address_of(request))
                return self._enter(request, checked, onward)
        except Problem:
            self._metrics.count_login_failure(LoginFailure.TOO_MANY)
            raise
        except (Busy, WrongCredentials) as error:
            if isinstance(error, WrongCredentials):
                self._metrics.count_login_failure(LoginFailure.CREDENTIALS)
            return self._form(request, "login.html", error, onward=onward, name=name, unsent="")

    def register_form(self, request: Request, invitation: str = "", onward: WayBack = "") -> Response:
        onward = onward or referring_page(request)
        return self._form(request, "register.html", onward=onward, name="", invitation=invitation)

    def register(
        self,
        request: Request,
        name: Text = "",
        password: Text = "",
        invitation: Text = "",
        onward: Onward = "",
    ) -> Response:
        if self._accounts.own.mode is not RegistrationMode.CLOSED:
            self._limits.count_registration(request)
        try:
            account = self._accounts.own.register(
                name, password, invitation.strip(), address=address_of(request)
            )
        except (AccountError, InvitationRefused, NameTaken, WrongName) as error:
            fields = {"name": name, "invitation": invitation}
            return self._form(request, "register.html", error, onward=onward, **fields)
        return self._enter(request, account, onward)

    def logout(self, request: Request) -> Response:
        secret = session_secret(request)
        if secret is not None:
            self._accounts.sessions.end(secret)
        answer = RedirectResponse("/", 303)
        clear_session(request, answer)
        return answer

    def _form(
        self,
        request: Request,
        template: str,
        error: Exception | None = None,
        *,
        onward: str,
        **fields: str,
    ) -> Response:
        response = page(
            request,
            template,
            status=200 if error is None else _status(error),
            error=None if error is None else str(error),
            mode=self._accounts.own.mode,
            shortest=MIN_LENGTH,
            longest=MAX_LENGTH,
            onward=local(onward),
            **fields,
        )
        response.headers["Cache-Control"] = PRIVATE
        return response

    def _enter(self, request: Request, checked: StoredPassword, onward: str) -> Response:
        """Begin a new session, whatever cookie the browser sent, and end the browser's old session."""
        browser = request.headers.get("user-agent", "")
        secret = self._accounts.sessions.open(
            checked, browser, instead_of=session_secret(request), address=address_of(request)
        )
        answer = RedirectResponse(local(onward) or "/account", 303)
        set_session(request, answer, secret)
        set_browser_mark(request, answer, self._accounts.sessions.known_browser_mark(checked))
        return answer


def _status(error: Exception) -> int:
    if isinstance(error, Busy):
        return 503
    return 403 if isinstance(error, RegistrationRefused | WrongCredentials) else 422


_HOME: Final = "/account"
_DAYS: Final = (7, 30, 90, 366)
_SCOPES: Final = {
    Scope.READ: "read your bots, logs and results",
    Scope.SUBMIT: "submit and manage bots, challenges and notifications",
    Scope.TOKENS: "create and revoke tokens",
    Scope.OPERATE: "act as an operator",
}
_NEW_TOKEN: Final = {"name": "", "scopes": {Scope.READ, Scope.SUBMIT}, "days": 90}
"""The form for a new token, before anything is typed."""

Number = Annotated[int, Path(ge=1, le=MAX_INTEGER)]
Kept = Annotated[int, Field(ge=1, le=MAX_INTEGER)]
"""ID of a token to keep when the password changes."""


def account_pages(accounts: Accounts, limits: RateLimits) -> APIRouter:
    """Return the routes for the account page. They require a session; tokens are for programs."""
    router = PageRouter(prefix=_HOME)
    own = _OwnAccount(accounts, limits)
    router.add_api_route("", own.show)
    for path, action in (
        ("/password", own.change_password),
        ("/sessions/{number}/end", own.end_session),
        ("/tokens", own.make_token),
        ("/tokens/{number}/revoke", own.revoke_token),
        ("/delete", own.delete),
    ):
        router.add_form(path, action)
    return router


class _OwnAccount:
    """The pages' request handlers."""

    def __init__(self, accounts: Accounts, limits: RateLimits) -> None:
        self._accounts = accounts
        self._limits = limits

    def show(self, request: Request, session: Session) -> Response:
        return with_notice(request, lambda notice: self._page(request, session, notice=notice))

    def change_password(
        self,
        request: Request,
        session: Session,
        keep: Annotated[list[Kept], Form(default_factory=list)],
        old: Text = "",
        new: Text = "",
    ) -> Response:
        self._limits.confirm_password(session)
        try:
            changed = self._accounts.own.change_password(
                session, old, new, keep=keep, address=address_of(request)
            )
        except AccountError as error:
            return self._page(request, session, wrong="password", error=error, keep=keep)
        answer = redirect_with_notice(request, _HOME, "password")
        set_browser_mark(request, answer, self._accounts.sessions.known_browser_mark(changed))
        return answer

    def end_session(self, request: Request, session: Session, number: Number) -> Response:
        if not self._accounts.sessions.end_of(session.account, number):
            raise HTTPException(404, "You have no such session.")
        return redirect_with_notice(request, _HOME, "session")

    def make_token(  # noqa: PLR0913, PLR0917 - the fields of its form
        self,
        request: Request,
        session: Session,
        scopes: Annotated[list[str], Form(default_factory=list)],
        name: Text = "",
        password: Text = "",
        days: Annotated[int, Form(ge=1, le=MAX_DAYS)] = 30,
    ) -> Response:
        chosen = {scope for scope in Scope if scope in scopes}
        self._limits.confirm_password(session)
        address = address_of(request)
        try:
            checked = self._accounts.sessions.confirm(session.account, password, address=address)
            secret, token = self._accounts.tokens.create(
                checked.account, name=name, scopes=chosen, days=days, by=checked, address=address
            )
        except (AccountError, TooManyTokens) as error:
            typed = {"name": name, "scopes": chosen, "days": days}
            return self._page(request, session, wrong="tokens", error=error, typed=typed)
        # The secret is shown only in this response: it is not part of any URL, and it is not stored.
        return page(request, "token.html", secret=secret, token=token)

    def revoke_token(self, request: Request, session: Session, number: Number) -> Response:
        if not self._accounts.tokens.revoke(session.account, number, address=address_of(request)):
            raise HTTPException(404, "You have no such token.")
        return redirect_with_notice(request, _HOME, "token")

    def delete(self, request: Request, session: Session, password: Text = "") -> Response:
        self._limits.confirm_password(session)
        try:
            pseudonym = self._accounts.own.delete(session.account, password, address=address_of(request))
        except (AccountError, LastOperator) as error:
            return self._page(request, session, wrong="delete", error=error)
        request.state.caller = None
        response = page(request, "deleted.html", pseudonym=pseudonym)
        response.headers["Cache-Control"] = PRIVATE
        clear_session(request, response)
        return response

    def _page(  # noqa: PLR0913 - what the page shows
        self,
        request: Request,
        session: OpenSession,
        *,
        notice: str = "",
        wrong: str = "",
        error: Exception | None = None,
        typed: Mapping[str, object] = _NEW_TOKEN,
        keep: Collection[int] = (),
    ) -> Response:
        """Return the account page.

        ``wrong`` is the name of the form with the error. ``typed`` is the input for a new token, and ``keep``
        contains the ids of the tokens ticked in the password form.
        """
        may = scopes_of(session.account.role)
        return page(
            request,
            "account.html",
            status=200 if error is None else 503 if isinstance(error, Busy) else 422,
            account=session.account,
            session=session,
            sessions=self._accounts.sessions.of(session.account),
            tokens=self._accounts.tokens.of(session.account),
            scopes={scope: meaning for scope, meaning in _SCOPES.items() if scope in may},
            days=_DAYS,
            token_name_length=NAME_LENGTH,
            notice=notice,
            wrong=wrong,
            typed=typed,
            keep=keep,
            error=None if error is None else str(error),
            shortest=MIN_LENGTH,
            longest=MAX_LENGTH,
        )
