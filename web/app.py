"""The application: routes, static files, headers and errors put together."""

from typing import Final

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from arena.accounts import Accounts
from arena.store import Desk, Reads
from arena.submitting.receiver import Receiver
from web import errors
from web.api import account_api, public_api, submission_api
from web.attempts import Attempts
from web.caller import Callers
from web.headers import SecurityHeaders
from web.pages import account_pages, entry_pages, public_pages
from web.same_site import SameSite

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
    app.include_router(public_pages(reads, callers))
    app.include_router(entry_pages(accounts, callers, attempts))
    app.include_router(account_pages(accounts, callers, attempts))
    app.include_router(public_api(reads))
    app.include_router(account_api(accounts, callers))
    app.include_router(submission_api(desk, receiver.begin, callers))
    app.mount("/static", StaticFiles(packages=[("web", "static")]))
    errors.install(app, callers)
    return app
