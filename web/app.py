"""The application: routes, static files, headers and errors put together."""

from typing import Final

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from arena.accounts import Accounts
from arena.store import Desk, Reads
from arena.submitting.receiver import Receiver
from web import errors
from web.account_api import account_api
from web.account_pages import account_pages
from web.api import api
from web.attempts import Attempts
from web.caller import Callers
from web.entry_pages import entry_pages
from web.headers import SecurityHeaders
from web.pages import pages
from web.same_site import SameSite
from web.submission_api import submission_api

_LARGEST_BODY: Final = 64 * 1024
"""Of forms and of data; a route that takes more says so itself."""


def create_app(reads: Reads, accounts: Accounts, desk: Desk, receiver: Receiver) -> FastAPI:
    """Return the site.

    Args:
        reads: Those of an open store; who opened it closes it.
        accounts: Those of the same store.
        desk: That of the same store.
        receiver: Takes files for it.
    """
    app = FastAPI(title="Kaiten", openapi_url=None, max_body_size=_LARGEST_BODY)
    app.add_middleware(SameSite)
    app.add_middleware(SecurityHeaders)
    callers, attempts = Callers(accounts), Attempts()
    app.include_router(pages(reads, callers))
    app.include_router(entry_pages(accounts, callers, attempts))
    app.include_router(account_pages(accounts, callers, attempts))
    app.include_router(api(reads))
    app.include_router(account_api(accounts, callers))
    app.include_router(submission_api(desk, receiver.begin, callers))
    app.mount("/static", StaticFiles(packages=[("web", "static")]))
    errors.install(app, callers)
    return app
