"""A coordinator's connection to a scheduler: lists the workers and sends them matches."""

import asyncio
import math
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

from distributed import Client, Security
from distributed import Future as DaskFuture
from tornado.ioloop import IOLoop

from arena.scheduler.cluster.capacity import ClusterMember
from arena.scheduler.cluster.host import SEAT
from arena.scheduler.cluster.member import configure_dask
from arena.scheduler.cluster.messages import EXTRA, WorkerCard, WorkerState, read, topic_of

_CALL_SECONDS: Final = 10.0
"""Timeout for calls to the scheduler, long enough for a busy host."""

_FETCH_SECONDS: Final = 1.0
"""Pause before a result is fetched again after the connection has failed."""

_MAX_FETCH_SECONDS: Final = 30.0
"""Time for these attempts. A worker may stay connected although the scheduler can't reach it: without this
limit, its match would end only at the coordinator's deadline, up to an hour later."""

_MAX_NAME_LENGTH: Final = 64

OnProgress = Callable[[str, bytes], None]
"""Receives a match's ticket and progress data from its worker."""


class SchedulerUnreachable(Exception):
    """The scheduler can't be reached; the message says why."""


class Link:
    """A single connection, which is never re-established. Raises SchedulerUnreachable.

    ``on_progress`` receives this session's progress messages.
    """

    def __init__(self, address: str, security: Security, session: str, on_progress: OnProgress) -> None:
        configure_dask()
        self.address = address
        # Workers whose card or state can't be read: (name, reason) by address.
        self.unreadable: dict[str, tuple[str, str]] = {}

        def receive(event: tuple[float, Any]) -> None:
            message = event[1]
            if isinstance(message, dict) and isinstance(message.get("data"), bytes):
                on_progress(str(message.get("ticket")), message["data"])

        with ExitStack() as opened:
            try:
                loop = opened.enter_context(_event_loop())
                with warnings.catch_warnings():
                    # Library versions may differ, because only bytes are exchanged.
                    warnings.simplefilter("ignore")
                    self._client = _Client(
                        address,
                        security=security,
                        timeout=_CALL_SECONDS,
                        loop=loop,
                        set_as_default=False,
                        # Only the scheduler needs to be reachable from here.
                        direct_to_workers=False,
                    )
                opened.callback(self._client.end)
                self._client.subscribe_topic(topic_of(session), receive)
            except Exception as error:  # after any dask error, there is no connection
                raise SchedulerUnreachable(str(error) or type(error).__name__) from error
            self._loop = loop
            self._opened = opened.pop_all()

    def members(self) -> tuple[ClusterMember, ...]:
        """Return the workers whose cards and states can be read. Raises SchedulerUnreachable."""
        scheduler = self._client.scheduler
        if self._client.status != "running" or scheduler is None:
            raise SchedulerUnreachable(f"the connection to {self.address} was lost")
        try:
            known = self._client.sync(scheduler.identity, callback_timeout=_CALL_SECONDS)
        except (OSError, TimeoutError, RuntimeError) as error:
            raise SchedulerUnreachable(str(error) or f"{self.address} is not responding") from error
        found = [self._read(address, info) for address, info in known["workers"].items()]
        self.unreadable = {
            address: why for address, why in self.unreadable.items() if address in known["workers"]
        }
        return tuple(member for member in found if member is not None)

    def submit(
        self, member: ClusterMember, seats: int, function: Callable[..., bytes], *arguments: object
    ) -> Future[bytes]:
        """Call a function on this worker only, without retries. To cancel the call, cancel the future."""
        task = self._client.submit(
            function,
            *arguments,
            workers=[member.address],
            allow_other_workers=False,
            resources={SEAT: seats},
            pure=False,
            retries=0,
        )
        answer: Future[bytes] = Future()

        def cancel(done: Future[bytes]) -> None:
            if done.cancelled() and task.status != "cancelled":
                task.cancel()

        answer.add_done_callback(cancel)
        self._loop.add_callback(_forward, self._client, task, answer)
        return answer

    def _read(self, address: str, info: dict[str, Any]) -> ClusterMember | None:
        try:
            member = _member(address, info)
        except ValueError as error:
            self.unreadable[address] = (str(info.get("name"))[:_MAX_NAME_LENGTH], str(error))
            return None
        self.unreadable.pop(address, None)
        return member

    def close(self) -> None:
        """Close the connection; its matches in flight are lost."""
        self._opened.close()


async def _forward(client: Client, task: DaskFuture[bytes], answer: Future[bytes]) -> None:
    """Complete ``answer`` with the task's result, error or cancellation, unless it was cancelled."""
    try:
        result = await _fetched(client, task)
    except CancelledError:
        answer.cancel()
        answer.set_running_or_notify_cancel()
    except Exception as error:  # noqa: BLE001 - whatever the task raised
        if answer.set_running_or_notify_cancel():
            answer.set_exception(error)
    else:
        if answer.set_running_or_notify_cancel():
            answer.set_result(result)
    finally:
        # An error's traceback would keep the task until the next garbage collection.
        task.release()


async def _fetched(client: Client, task: DaskFuture[bytes]) -> bytes:
    """Return a task's result, or raise its error.

    If the connection fails during the fetch, or the scheduler can't reach the worker, fetch the result again,
    and raise TimeoutError after ``_MAX_FETCH_SECONDS``; dask's own executor would never complete the future.
    Each result is fetched separately: dask would fetch several together, and drop all of them if it couldn't
    reach one of their workers.
    """
    # These members have no type annotations in dask, and no public equivalent for this event loop.
    scheduler: Any = client.scheduler
    state: Any = task._state  # noqa: SLF001 - as above
    deadline = math.inf
    while True:
        await state.wait()
        if task.status != "finished":
            await task._result()  # noqa: SLF001 - as above; raises its error
        with suppress(OSError):
            response = await scheduler.gather(keys=[task.key])
            if response["status"] == "OK":
                result: bytes = response["data"][task.key]
                return result
        deadline = min(deadline, time.monotonic() + _MAX_FETCH_SECONDS)
        if time.monotonic() >= deadline:
            raise TimeoutError("its result can't be fetched, because the scheduler can't reach it")
        await asyncio.sleep(_FETCH_SECONDS)


class _Client(Client):
    """A client that never reconnects and leaves nothing open after an error."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - see Client
        try:
            super().__init__(*args, **options)  # type: ignore[no-untyped-call]
        except BaseException:
            self.end()
            raise
        # Seconds to keep trying to reconnect: none, because dask wouldn't renew the
        # subscription to progress messages.
        self._timeout = 0

    def end(self) -> None:
        """Close the client, whatever state it is in."""
        with suppress(Exception):  # for example a timeout, because the scheduler may be frozen
            self.close(timeout=_CALL_SECONDS)
        self.status = "closed"


@contextmanager
def _event_loop() -> Iterator[IOLoop]:
    """Run an event loop in a thread. dask would leave its own loop running after each failed connection."""
    begun: Future[tuple[IOLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        stop = asyncio.Event()
        begun.set_result((IOLoop.current(), stop))
        await stop.wait()

    def run() -> None:
        try:
            with asyncio.Runner() as runner:
                runner.get_loop()  # fail here, if at all, because run() would leave an unawaited coroutine
                runner.run(serve())
        except BaseException as error:
            if begun.done():
                raise
            begun.set_exception(error)

    thread = threading.Thread(target=run, name="dask client", daemon=True)
    thread.start()
    loop, stop = begun.result()
    try:
        yield loop
    finally:
        loop.add_callback(stop.set)
        thread.join(_CALL_SECONDS)


def _member(address: str, info: dict[str, Any]) -> ClusterMember | None:
    """Return a worker, or None if it isn't the arena's or hasn't reported its card and state yet.

    Raises ValueError if the worker can't be used.
    """
    card, state = info.get(EXTRA), info.get("metrics", {}).get(EXTRA)
    if not (isinstance(card, bytes) and isinstance(state, bytes)):
        return None
    found = ClusterMember(address=address, card=read(card, WorkerCard), state=read(state, WorkerState))
    if found.card.name != info.get("name"):
        raise ValueError(
            f"the name on its card is {found.card.name!r}, but the scheduler has {info.get('name')!r}"
        )
    return found
