"""Notices that a page shows once, after a change: for example, that the password has been changed.

A cookie names the notice. If the page's address named it, every reload would show it again, and a link could
make the site claim something that hasn't happened.
"""

from collections.abc import Callable
from typing import Final

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

_COOKIE: Final = "kaiten-notice"
_SECONDS: Final = 60
"""How long the cookie is valid, in case the browser doesn't load the page."""


def redirect_with_notice(request: Request, path: str, notice: str) -> Response:
    """Redirect to the page at ``path``, which shows this notice."""
    # Redirect to the notice at the top. Without a fragment, the browser would keep the form's.
    response = RedirectResponse(f"{path}#main", 303)
    response.set_cookie(
        _COOKIE,
        notice,
        max_age=_SECONDS,
        path=path,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
    return response


def with_notice(request: Request, show: Callable[[str], Response]) -> Response:
    """Return the page that ``show`` returns for the notice, and make sure that it isn't shown again.

    The notice is an empty string if there is none, and is not checked: a browser may send anything.
    """
    notice = request.cookies.get(_COOKIE, "")
    response = show(notice)
    if notice:
        response.delete_cookie(_COOKIE, path=request.url.path)
    return response
