"""The worker: offers this host's seats to a scheduler until a signal says to end."""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Final

import msgspec
import structlog
from distributed import Security, Worker
from distributed.comm.core import connect

from arena.cluster.addresses import is_loopback
from arena.cluster.member import Standing, Told, told_by_signals, until, wait_for
from arena.cluster.messages import EXTRA, Card, write
from arena.cluster.seating import Seating
from arena.cluster.task import Seats
from arena.cluster.tuning import NOWHERE, tune

_log = structlog.get_logger()

SEAT: Final = "seat"
"""dask's name for what a match takes of a worker, one a bot."""

_AGAIN_SECONDS: Final = 0.5
_CALL_SECONDS: Final = 2.0
_NOTICE_SECONDS: Final = 3.0
"""Until every coordinator has read of a worker that it leaves, and what was on its way to it is there."""

_FETCH_SECONDS: Final = 10.0
"""So long a worker that leaves waits until its last results have been fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """Where a worker stands.

    Attributes:
        scheduler: Its address, as dask writes it.
        host: The scheduler's host alone.
        port: Where the scheduler reaches this worker; 0 for a free one.
        security: How they talk.
        card: What it says of itself; ``run`` is filled in whenever it joins.
        folder: For what dask writes.
    """

    scheduler: str
    host: str
    port: int
    security: Security
    card: Card
    folder: Path


async def run_worker(post: Post, seating: Seating, standing: Standing, say: Callable[[str], None]) -> None:
    """Play what coordinators send, until SIGTERM; what is under way then ends first.

    A second SIGTERM ends it at once.
    Where the scheduler is away, matches are ended, since their results could reach nobody, and the worker
    joins again as soon as it is back.

    Args:
        post: Where it stands.
        seating: Plays the matches.
        standing: Is told whether it is a member.
        say: Is told when it has joined and when it leaves.
    """
    tune()
    standing.missing = "it has not joined yet"
    async with standing.turning():
        with told_by_signals() as told:
            while await _reached(post, told, standing):
                await _serve(post, seating, told, standing, say)
                seating.stop_all()
                await until(lambda: seating.idle)


async def _reached(post: Post, told: Told, standing: Standing) -> bool:
    """Wait until the scheduler answers, or somebody says to end; tell which."""
    said = ""
    while not told.once.is_set():
        try:
            comm = await connect(post.scheduler, **post.security.get_connection_args("worker"))
            await comm.close()
        except (OSError, ssl.SSLError) as error:
            if str(error) != said:
                said = str(error)
                standing.missing = f"the scheduler can't be reached: {said}"
                _log.warning(
                    "the scheduler can't be reached; it is tried again", scheduler=post.scheduler, error=said
                )
            await wait_for(told.once, _AGAIN_SECONDS)
        else:
            return True
    return False


async def _serve(
    post: Post, seating: Seating, told: Told, standing: Standing, say: Callable[[str], None]
) -> None:
    """Join, play, and leave when told or when the connection goes."""
    worker = _worker(post, seating, standing)
    try:
        await worker
    except (OSError, RuntimeError, TimeoutError, ValueError) as error:
        reason = _in_words(error)
        missing = f"it could not join: {reason}"
        if standing.missing != missing:
            _log.warning("could not join; it is tried again", scheduler=post.scheduler, error=reason)
        standing.missing = missing
        await worker.close()
        await wait_for(told.once, _AGAIN_SECONDS)
        return
    begun = asyncio.create_task(_begin(worker, post, standing, say))
    gone = asyncio.create_task(worker.finished())
    asked = asyncio.create_task(told.once.wait())
    await asyncio.wait({gone, asked}, return_when=asyncio.FIRST_COMPLETED)
    begun.cancel()
    if told.once.is_set():
        standing.missing = "it leaves, and takes no more matches"
        say("takes no more matches, and ends when those under way have ended")
        seating.leave()
        await worker.heartbeat()
        await wait_for(told.twice, _NOTICE_SECONDS)
        seating.shut()
        await _play_out(worker, seating, told, gone)
        await worker.close()
    else:
        asked.cancel()
        standing.missing = "the scheduler is away"
        _log.warning("the scheduler is away; what was played is given up", scheduler=post.scheduler)
    await gone


def _in_words(error: Exception) -> str:
    """Return why a worker could not join; dask wraps what the scheduler has said."""
    said = str(error.__cause__ or error)
    if "name taken" in said:
        return "the scheduler has another worker of this name, or has not noticed yet that this one was lost"
    return said


async def _begin(worker: Worker, post: Post, standing: Standing, say: Callable[[str], None]) -> None:
    """Take matches as soon as the scheduler can call this worker: nobody could fetch results otherwise."""
    while missing := await _uncalled(worker):
        if standing.missing != missing:
            _log.warning("no match is taken", scheduler=post.scheduler, error=missing)
        standing.missing = missing
        await asyncio.sleep(_CALL_SECONDS)
    standing.missing = None
    say(f"{post.card.name} plays for {post.scheduler}, {post.card.seats} seats")
    await worker.heartbeat()


async def _uncalled(worker: Worker) -> str | None:
    """Have the scheduler call this worker, and return why it can't, or None where it can."""
    try:
        await worker.scheduler.broadcast(msg={"op": "identity"}, workers=[worker.address])
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told, and tried again
        return f"the scheduler can't call it at {worker.address}: {error}"
    return None


async def _play_out(worker: Worker, seating: Seating, told: Told, gone: asyncio.Task[None]) -> None:
    """Wait until all matches have ended and their results were fetched."""

    def hurried() -> bool:
        return told.twice.is_set() or gone.done()

    await until(lambda: seating.idle or hurried())
    with suppress(TimeoutError):
        async with asyncio.timeout(_FETCH_SECONDS):
            await until(lambda: not (worker.data or worker.active_keys) or hurried())


def _worker(post: Post, seating: Seating, standing: Standing) -> Worker:
    card = write(msgspec.structs.replace(post.card, run=token_hex(8)))

    def state() -> bytes:
        said = seating.state()
        return write(msgspec.structs.replace(said, trouble=said.trouble or standing.missing))

    return Worker(
        post.scheduler,
        name=post.card.name,
        # Without keys nobody but this machine may come.
        host=post.host if is_loopback(post.host) else None,
        port=post.port,
        security=post.security,
        nthreads=post.card.seats,
        resources={SEAT: post.card.seats},
        # Bots have limits of their own, and play in processes of their own.
        memory_limit=0,
        local_directory=str(post.folder),
        dashboard=False,
        dashboard_address=NOWHERE,
        plugins=(Seats(seating),),
        startup_information={EXTRA: lambda _: card},
        metrics={EXTRA: lambda _: state()},
    )
