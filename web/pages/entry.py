"""How people come in and go out: the pages to register and to log in, and logging out."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from arena.accounts import AccountError, Accounts, Busy, RegistrationRefused, WrongCredentials
from arena.accounts.password_rules import LONGEST, SHORTEST
from arena.names import WrongName
from arena.settings import RegistrationMode
from arena.store import InvitationRefused, KnownAccount, NameTaken
from web.attempts import Attempts
from web.caller import Callers
from web.cookies import can_be_overheard, clear_session, session_secret, set_session
from web.headers import PRIVATE
from web.metrics import LoginFailure, SiteMetrics
from web.problems import Problem
from web.rendering import page
from web.wayback import came_from, local

_METHODS: Final = ["GET", "HEAD"]

Text = Annotated[str, Form()]
"""A field of a form; one that was not sent is empty, and refused like an empty one."""

Onward = Annotated[str, Form(alias="next")]
WayBack = Annotated[str, Query(alias="next")]
"""Where somebody wants to go; anybody can have written it, so it has to be a page of this site."""


def entry_pages(accounts: Accounts, callers: Callers, attempts: Attempts, metrics: SiteMetrics) -> APIRouter:
    """Return the routes by which people come in and go out."""
    router = APIRouter(default_response_class=HTMLResponse, dependencies=[Depends(callers.note)])
    entry = _Entry(accounts, attempts, metrics)
    router.add_api_route("/login", entry.login_form, methods=_METHODS)
    router.add_api_route("/login", entry.login, methods=["POST"])
    router.add_api_route("/register", entry.register_form, methods=_METHODS)
    router.add_api_route("/register", entry.register, methods=["POST"])
    router.add_api_route("/logout", entry.logout, methods=["POST"])
    return router


class _Entry:
    """Answers the requests."""

    def __init__(self, accounts: Accounts, attempts: Attempts, metrics: SiteMetrics) -> None:
        self._accounts = accounts
        self._attempts = attempts
        self._metrics = metrics

    def login_form(self, request: Request, onward: WayBack = "") -> Response:
        return self._form(request, "login.html", onward=onward or came_from(request), name="")

    def login(self, request: Request, name: Text = "", password: Text = "", onward: Onward = "") -> Response:
        try:
            self._attempts.log_in(request, name)
        except Problem:
            self._metrics.login_failed(LoginFailure.TOO_MANY)
            raise
        try:
            account = self._accounts.sessions.check(name, password)
        except (Busy, WrongCredentials) as error:
            if isinstance(error, WrongCredentials):
                self._metrics.login_failed(LoginFailure.CREDENTIALS)
            return self._form(request, "login.html", error, onward=onward, name=name)
        return self._enter(request, account, onward)

    def register_form(self, request: Request, invitation: str = "", onward: WayBack = "") -> Response:
        onward = onward or came_from(request)
        return self._form(request, "register.html", onward=onward, name="", invitation=invitation)

    def register(
        self,
        request: Request,
        name: Text = "",
        password: Text = "",
        invitation: Text = "",
        onward: Onward = "",
    ) -> Response:
        if self._accounts.registration.mode is not RegistrationMode.CLOSED:
            self._attempts.register(request)
        try:
            account = self._accounts.registration.register(name, password, invitation.strip())
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
        self, request: Request, template: str, error: Exception | None = None, *, onward: str, **fields: str
    ) -> Response:
        made = page(
            request,
            template,
            status=200 if error is None else _status(error),
            error=None if error is None else str(error),
            can_be_overheard=can_be_overheard(request),
            mode=self._accounts.registration.mode,
            shortest=SHORTEST,
            longest=LONGEST,
            onward=local(onward),
            **fields,
        )
        made.headers["Cache-Control"] = PRIVATE
        return made

    def _enter(self, request: Request, account: KnownAccount, onward: str) -> Response:
        """Begin a session that was never there before, whatever the browser has sent, and end that one."""
        browser = request.headers.get("user-agent", "")
        secret = self._accounts.sessions.open(account, browser, instead_of=session_secret(request))
        answer = RedirectResponse(local(onward) or "/account", 303)
        set_session(request, answer, secret)
        return answer


def _status(error: Exception) -> int:
    if isinstance(error, Busy):
        return 503
    return 403 if isinstance(error, RegistrationRefused | WrongCredentials) else 422
