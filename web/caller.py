"""Who asks: a browser with a session, a program with a token, or nobody."""

from dataclasses import dataclass
from typing import Final

from fastapi import HTTPException, Request

from arena.accounts import Accounts, Scope, scopes_of
from arena.store import ApiToken, Bots, BotState, KnownAccount, OpenSession
from web.cookies import session_secret
from web.wayback import log_in_first

_BEARER: Final = "bearer "
_SECRET: Final = 200
"""No secret of ours is as long as this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks.

    Attributes:
        account: Theirs.
        scopes: What they may do.
        session: That of the browser, or None.
        token: That of the program, or None.
        benched: Names of the bots that sit out; looked up for a browser, whose pages say so.
    """

    account: KnownAccount
    scopes: frozenset[Scope]
    session: OpenSession | None
    token: ApiToken | None
    benched: tuple[str, ...]


class Callers:
    """Finds out who asks, and notes it on the request for pages, headers and errors.

    Args:
        accounts: Those of the site.
        bots: Those of its people.
    """

    def __init__(self, accounts: Accounts, bots: Bots) -> None:
        self._accounts = accounts
        self._bots = bots

    def note(self, request: Request) -> Caller | None:
        """Find out who asks and note it; a dependency of every page, and of data that is somebody's."""
        if not hasattr(request.state, "caller"):
            request.state.caller = self.find(request)
        return caller_of(request)

    def find(self, request: Request) -> Caller | None:
        """Find out who asks as things stand now; what was noted may have changed since."""
        # A request with this header is let past the check for other sites, so cookies don't count in it.
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
            benched=self._benched(found.account),
        )

    def _benched(self, account: KnownAccount) -> tuple[str, ...]:
        return tuple(bot.name for bot in self._bots.of_account(account.id) if bot.state is BotState.BENCHED)

    def _with_token(self, header: str) -> Caller | None:
        secret = header[len(_BEARER) :].strip()
        if header[: len(_BEARER)].lower() != _BEARER or len(secret) > _SECRET:
            return None
        found = self._accounts.tokens.find(secret)
        if found is None:
            return None
        return Caller(account=found.account, scopes=found.scopes, session=None, token=found.token, benched=())


def caller_of(request: Request) -> Caller | None:
    """Return who asks, as far as it was found out for this request."""
    found: Caller | None = getattr(request.state, "caller", None)
    return found


class LogInFirst(HTTPException):
    """A page for people who are logged in. It becomes a way to the form, and from there back to it.

    Args:
        request: For that page.
    """

    def __init__(self, request: Request) -> None:
        super().__init__(303, "Log in first.", {"Location": log_in_first(request)})
