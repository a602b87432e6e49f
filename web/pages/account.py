"""The page of one's own account: password, sessions, tokens, deletion."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Form, HTTPException, Path, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from arena.accounts import AccountError, Accounts, Busy, Scope, scopes_of
from arena.accounts.password_rules import LONGEST, SHORTEST
from arena.accounts.tokens import LONGEST_DAYS, NAME_LENGTH
from arena.store import OpenSession, TooManyTokens
from web.attempts import Attempts
from web.caller import Callers, LogInFirst, caller_of
from web.cookies import can_be_overheard, clear_session
from web.headers import PRIVATE
from web.pages.entry import Text
from web.rendering import page

_METHODS: Final = ["GET", "HEAD"]
_LARGEST: Final = 2**63 - 1
_DAYS: Final = (7, 30, 90, 366)
_SCOPES: Final = {
    Scope.READ: "read what is yours: bots, logs, results",
    Scope.SUBMIT: "submit bots and choose their versions",
    Scope.TOKENS: "make and revoke tokens",
    Scope.OPERATE: "do what operators may do",
}

Number = Annotated[int, Path(ge=1, le=_LARGEST)]


def account_pages(accounts: Accounts, callers: Callers, attempts: Attempts) -> APIRouter:
    """Return the routes of one's own account. They take a session; a token is for programs."""
    router = APIRouter(
        prefix="/account", default_response_class=HTMLResponse, dependencies=[Depends(callers.note)]
    )
    own = _OwnAccount(accounts, attempts)
    router.add_api_route("", own.show, methods=_METHODS)
    for path, action in (
        ("/password", own.change_password),
        ("/sessions/{number}/end", own.end_session),
        ("/tokens", own.make_token),
        ("/tokens/{number}/revoke", own.revoke_token),
        ("/delete", own.delete),
    ):
        router.add_api_route(path, action, methods=["POST"])
    return router


def logged_in(request: Request) -> OpenSession:
    """Return the session of the browser that asks.

    Raises:
        LogInFirst: It has none.
    """
    caller = caller_of(request)
    if caller is None or caller.session is None:
        raise LogInFirst(request)
    return caller.session


Session = Annotated[OpenSession, Depends(logged_in)]


class _OwnAccount:
    """Answers the requests."""

    def __init__(self, accounts: Accounts, attempts: Attempts) -> None:
        self._accounts = accounts
        self._attempts = attempts

    def show(self, request: Request, session: Session, done: str = "") -> Response:
        return self._page(request, session, done=done)

    def change_password(self, request: Request, session: Session, old: Text = "", new: Text = "") -> Response:
        self._attempts.log_in(request, session.account.name)
        try:
            self._accounts.own.change_password(session, old, new)
        except AccountError as error:
            return self._page(request, session, wrong="password", error=error)
        return _back("password")

    def end_session(self, session: Session, number: Number) -> Response:
        if not self._accounts.sessions.end_of(session.account, number):
            raise HTTPException(404, "You have no such session.")
        return _back("session")

    def make_token(
        self,
        request: Request,
        session: Session,
        scopes: Annotated[list[str], Form(default_factory=list)],
        name: Text = "",
        days: Annotated[int, Form(ge=1, le=LONGEST_DAYS)] = 30,
    ) -> Response:
        chosen = {scope for scope in Scope if scope in scopes}
        try:
            secret, token = self._accounts.tokens.create(session.account, name=name, scopes=chosen, days=days)
        except (AccountError, TooManyTokens) as error:
            return self._page(request, session, wrong="tokens", error=error)
        # Shown in the answer itself: no address and no store has it.
        overheard = can_be_overheard(request)
        return page(request, "token.html", secret=secret, token=token, can_be_overheard=overheard)

    def revoke_token(self, session: Session, number: Number) -> Response:
        if not self._accounts.tokens.revoke(session.account, number):
            raise HTTPException(404, "You have no such token.")
        return _back("token")

    def delete(self, request: Request, session: Session, password: Text = "") -> Response:
        self._attempts.log_in(request, session.account.name)
        try:
            pseudonym = self._accounts.own.delete(session.account, password)
        except AccountError as error:
            return self._page(request, session, wrong="delete", error=error)
        request.state.caller = None
        made = page(request, "deleted.html", pseudonym=pseudonym)
        made.headers["Cache-Control"] = PRIVATE
        clear_session(request, made)
        return made

    def _page(
        self,
        request: Request,
        session: OpenSession,
        *,
        done: str = "",
        wrong: str = "",
        error: Exception | None = None,
    ) -> Response:
        """Return the page of an account; ``wrong`` names the form to which the error belongs."""
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
            done=done,
            wrong=wrong,
            error=None if error is None else str(error),
            can_be_overheard=can_be_overheard(request),
            shortest=SHORTEST,
            longest=LONGEST,
        )


def _back(done: str) -> Response:
    # The notice stands at the top; without a place of its own the answer would keep that of the form.
    return RedirectResponse(f"/account?done={done}#main", 303)
