"""Who may have what belongs to somebody: callers with the scope that it takes."""

from typing import Annotated, Final

from fastapi import Depends, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from arena.accounts import Scope
from web.caller import Caller, Callers
from web.cookies import PLAIN_NAME, SECURE_NAME
from web.problems import Problem

_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="Kaiten"'}

# These two look at nothing: they are here for the description of the API. Callers find out who asks.
_TOKEN: Final = HTTPBearer(
    scheme_name="token",
    description="A token of an account, kaiten_…, made at /account. The list names the scope that it takes.",
    auto_error=False,
)
_SESSION: Final = APIKeyCookie(
    scheme_name="session",
    name=SECURE_NAME,
    description=f"The site's own session, for its pages; over plain HTTP it is called {PLAIN_NAME}.",
    auto_error=False,
)


class Guard:
    """Lets callers with a scope in; a dependency of the routes of data that belongs to somebody.

    Args:
        callers: Know who asks.
    """

    def __init__(self, callers: Callers) -> None:
        self._callers = callers

    def __call__(self, scope: Scope | None = None) -> object:
        """Return a dependency that gives the caller, who may do this."""
        scopes = [] if scope is None else [scope.value]

        def allowed(
            caller: Annotated[Caller | None, Depends(self._callers.note)],
            _token: Annotated[object, Security(_TOKEN, scopes=scopes)],
            _session: Annotated[object, Security(_SESSION, scopes=scopes)],
        ) -> Caller:
            if caller is None:
                raise Problem(401, "There is no token or session that works.", headers=_CHALLENGE)
            if scope is not None and scope not in caller.scopes:
                raise Problem(
                    403,
                    f"This takes the scope {scope}.",
                    hint=f"Make a token with the scope {scope} at /account.",
                )
            return caller

        return Depends(allowed)


def may_see(caller: Caller, account: int | None) -> bool:
    """Whether what belongs to an account is for a caller too: its owner, or an operator."""
    return account == caller.account.id or Scope.OPERATE in caller.scopes
