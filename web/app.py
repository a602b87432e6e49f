"""The application: routes, static files, headers and errors put together."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.staticfiles import StaticFiles

from arena.accounts import Accounts
from arena.owners import Owners
from arena.store import Store, StoreError
from arena.submitting.receiver import Receiver
from web import errors
from web.api import (
    account_api,
    bots_api,
    card_sheet,
    cards_api,
    challenge_api,
    description_api,
    games_api,
    health_api,
    histories_api,
    live_api,
    logs_api,
    public_api,
    replay_api,
    status_api,
    submission_api,
)
from web.attempts import Attempts
from web.boards import Boards
from web.caller import Callers
from web.documents import open_shelf
from web.kept import KeptPages
from web.metrics import SiteMetrics
from web.observed import Observed
from web.pages import (
    account_pages,
    badge_pages,
    bot_pages,
    card_pages,
    challenge_pages,
    document_pages,
    entry_pages,
    front_pages,
    game_pages,
    leaderboard_pages,
    live_pages,
    own_bots_pages,
    public_pages,
    status_pages,
    submission_pages,
    viewer_pages,
)
from web.same_site import SameSite
from web.site import Site
from web.uploaded import counted

_LARGEST_BODY: Final = 64 * 1024
"""Of forms and of data; a route that takes more says so itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the site is made of.

    Attributes:
        store: An open one; who opened it closes it.
        accounts: Those of that store.
        receiver: Takes files for it.
        owners: Acts for owners of its bots.
        metrics: Count what it does.
        now: The clock, UTC.
    """

    store: Store
    accounts: Accounts
    receiver: Receiver
    owners: Owners
    metrics: SiteMetrics
    now: Callable[[], datetime]


def create_app(parts: Parts) -> FastAPI:
    """Return the site."""
    reads, accounts = parts.store.reads, parts.accounts
    boards = Boards(reads, parts.now)
    # An address with a slash too many is not there: a redirect would go to whatever host the request names.
    app = Site(
        lambda site: Observed(KeptPages(site, parts.store.pulse, parts.now), parts.metrics),
        title="Kaiten",
        lifespan=_opening(boards),
        openapi_url=None,
        max_body_size=_LARGEST_BODY,
        redirect_slashes=False,
    )
    app.add_middleware(SameSite)
    callers, attempts = Callers(accounts, parts.store.bots), Attempts()
    app.include_router(front_pages(parts.store, boards, callers, parts.now))
    app.include_router(leaderboard_pages(boards, callers))
    app.include_router(badge_pages(boards, parts.store.bots))
    app.include_router(public_pages(reads, callers))
    app.include_router(status_pages(parts.store, callers, parts.receiver.has_room, parts.now))
    app.include_router(document_pages(open_shelf(), callers))
    app.include_router(game_pages(parts.store, callers))
    app.include_router(viewer_pages(reads, callers))
    app.include_router(live_pages(parts.store.live, callers))
    app.include_router(card_sheet(reads))
    app.include_router(card_pages(reads, callers))
    app.include_router(bot_pages(parts.store, boards, parts.owners, callers))
    app.include_router(challenge_pages(parts.store, callers))
    app.include_router(entry_pages(accounts, callers, attempts, parts.metrics))
    app.include_router(account_pages(accounts, callers, attempts))
    app.include_router(own_bots_pages(parts.store, boards, callers))
    app.include_router(submission_pages(parts.store, parts.receiver, callers))
    app.include_router(health_api(parts.store.check))
    app.include_router(replay_api(reads))
    app.include_router(description_api())
    app.include_router(public_api(boards))
    app.include_router(status_api(parts.store, callers, parts.receiver.has_room, parts.now))
    app.include_router(games_api(reads))
    app.include_router(live_api(parts.store.live, callers))
    app.include_router(cards_api(reads))
    app.include_router(logs_api(reads, callers))
    app.include_router(bots_api(parts.store.bots, parts.owners, callers))
    app.include_router(histories_api(parts.store))
    app.include_router(challenge_api(parts.store.challenges, parts.owners, callers))
    app.include_router(account_api(accounts, callers))
    app.include_router(
        submission_api(parts.store.desk, counted(parts.receiver.begin, parts.metrics), callers)
    )
    app.mount("/static", StaticFiles(packages=[("web", "static")]))
    errors.install(app, callers)
    return app


def _opening(boards: Boards) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Return what is done before anybody is let in: lists are read, so that the first visitor need not wait.

    Where the database does not answer just then, whoever asks for a list has it read.
    """

    @asynccontextmanager
    async def opening(_: FastAPI) -> AsyncIterator[None]:
        with suppress(StoreError):
            await run_in_threadpool(boards.read_all)
        yield

    return opening
