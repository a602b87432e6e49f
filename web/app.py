"""The application: routes, static files, headers and errors put together."""

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from arena.store import Reads
from web import errors
from web.api import api
from web.headers import SecurityHeaders
from web.pages import pages


def create_app(reads: Reads) -> FastAPI:
    """Return the site.

    Args:
        reads: Those of an open store; who opened it closes it.
    """
    app = FastAPI(title="Kaiten", openapi_url=None)
    app.add_middleware(SecurityHeaders)
    app.include_router(pages(reads))
    app.include_router(api(reads))
    app.mount("/static", StaticFiles(packages=[("web", "static")]))
    errors.install(app)
    return app
