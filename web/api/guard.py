"""Who may have what belongs to somebody: callers with the scope that it takes."""

from typing import Annotated, Final

from fastapi import Depends

from arena.accounts import Scope
from web.caller import Caller, Callers
from web.problems import Problem

_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="Kaiten"'}


class Guard:
    """Lets callers with a scope in; a dependency of the routes of data that belongs to somebody.

    Args:
        callers: Know who asks.
    """

    def __init__(self, callers: Callers) -> None:
        self._callers = callers

    def __call__(self, scope: Scope | None = None) -> object:
        """Return a dependency that gives the caller, who may do this."""

        def allowed(caller: Annotated[Caller | None, Depends(self._callers.note)]) -> Caller:
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
