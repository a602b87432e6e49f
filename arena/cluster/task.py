"""The one thing that dask is given to do: what is sent is the name of this function, and bytes."""

from contextlib import suppress
from typing import Any, Final

from distributed import WorkerPlugin, get_worker

from arena.cluster.messages import topic_of, write
from arena.cluster.seating import Seating

NAME: Final = "kaiten-seats"


class Seats(WorkerPlugin):
    """What a worker's tasks play with, and what hears that nobody waits for one of them any more.

    Args:
        seating: Of the host.
    """

    name = NAME

    def __init__(self, seating: Seating) -> None:
        self.seating = seating

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:  # noqa: ANN401, ARG002 - as dask has it
        """End a match whose coordinator has gone or has given it up: its result could reach nobody."""
        if finish in {"cancelled", "released", "forgotten"}:
            self.seating.stop(str(key))

    def teardown(self, worker: Any) -> None:  # noqa: ANN401, ARG002 - as dask has it
        """End all matches: the connection on which their results would go has gone."""
        self.seating.stop_all()


def play_here(spec: bytes, session: str, ticket: str) -> bytes:
    """Play a match on the worker that runs this, and return the bytes of an answer.

    Args:
        spec: A :class:`arena.match.MatchSpec`.
        session: Of the coordinator that asks.
        ticket: By which it knows the match.
    """
    worker = get_worker()
    seats = worker.plugins[NAME]
    if not isinstance(seats, Seats):
        raise TypeError(f"the plugin {NAME} is {seats!r}")

    def progress(data: bytes) -> None:
        with suppress(Exception):  # it is worth no match, whatever dask has against it
            worker.log_event(topic_of(session), {"ticket": ticket, "data": data})

    return write(seats.seating.play(spec, session, str(worker.get_current_task()), progress))
