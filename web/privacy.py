"""For whose eyes a page is made: some of it is for the owners of bots and for operators alone."""

from dataclasses import dataclass

from fastapi import Request

from arena.accounts import Scope
from web.caller import caller_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Who looks at a page.

    Attributes:
        account: Theirs; None for somebody who is not logged in.
        operator: Whether they may see what is everybody's.
    """

    account: int | None
    operator: bool

    def owns(self, account: int | None) -> bool:
        """Whether what belongs to this account is theirs; what belongs to nobody is nobody's."""
        return account is not None and account == self.account

    def may_see(self, account: int | None) -> bool:
        """Whether they may see what is private to the owner of this account."""
        return self.operator or self.owns(account)


def viewer_of(request: Request) -> Viewer:
    """Return who looks. Pages are for browsers, so a token opens nothing private in them."""
    caller = caller_of(request)
    if caller is None or caller.session is None:
        return Viewer(account=None, operator=False)
    return Viewer(account=caller.account.id, operator=Scope.OPERATE in caller.scopes)
