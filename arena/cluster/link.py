"""A coordinator's connection to a scheduler: who is there, and a way to give each of them matches."""

import warnings
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Final

import structlog
from distributed import Client, Security

from arena.cluster.host import SEAT
from arena.cluster.messages import EXTRA, read_card, read_state, topic_of
from arena.cluster.rooms import Member
from arena.cluster.tuning import tune

_log = structlog.get_logger()

_SECONDS: Final = 10.0
"""For a scheduler to answer, however busy its host is."""

Heard = Callable[[str, bytes], None]
"""Is given the ticket of a match and what its worker tells of it."""


class SchedulerAway(Exception):
    """The scheduler does not answer. The text says how."""


class Link:
    """One connection. When it is broken it stays so: make another.

    Args:
        address: Of the scheduler, as dask writes it.
        security: How to talk.
        session: Of the coordinator.
        heard: Hears what workers tell of matches of this session.

    Raises:
        SchedulerAway: It can't be reached.
    """

    def __init__(self, address: str, security: Security, session: str, heard: Heard) -> None:
        tune()
        self.address = address
        self._useless: dict[str, str] = {}
        try:
            with warnings.catch_warnings():
                # That hosts have other versions of some library is no matter for bytes.
                warnings.simplefilter("ignore")
                self._client = Client(
                    address,
                    security=security,
                    timeout=_SECONDS,
                    set_as_default=False,
                    # Nobody but the scheduler need be reached from here.
                    direct_to_workers=False,
                )
        except (OSError, ValueError, RuntimeError) as error:
            raise SchedulerAway(str(error)) from error

        def hear(event: tuple[float, Any]) -> None:
            told = event[1]
            if isinstance(told, dict) and isinstance(told.get("data"), bytes):
                heard(str(told.get("ticket")), told["data"])

        self._client.subscribe_topic(topic_of(session), hear)

    def members(self) -> tuple[Member, ...]:
        """Return who is there.

        Raises:
            SchedulerAway: It does not answer, or the connection was lost since.
        """
        if self._client.status != "running" or self._client.scheduler is None:
            raise SchedulerAway(f"the connection to {self.address} was lost")
        try:
            known = self._client.sync(self._client.scheduler.identity, callback_timeout=_SECONDS)
        except (OSError, TimeoutError, RuntimeError) as error:
            raise SchedulerAway(str(error) or f"{self.address} does not answer") from error
        found = [self._read(address, said) for address, said in known["workers"].items()]
        self._useless = {
            address: why for address, why in self._useless.items() if address in known["workers"]
        }
        return tuple(member for member in found if member is not None)

    def executor(self, member: Member, seats: int) -> Executor:
        """Return what gives matches to this worker and to no other, and never a second time."""
        executor: Executor = self._client.get_executor(
            workers=[member.address],
            allow_other_workers=False,
            resources={SEAT: seats},
            pure=False,
            retries=0,
        )
        return executor

    def _read(self, address: str, said: dict[str, Any]) -> Member | None:
        try:
            return _member(address, said)
        except ValueError as error:
            if self._useless.get(address) != str(error):
                self._useless[address] = str(error)
                _log.warning("a worker can't be used", worker=address, error=str(error))
            return None

    def close(self) -> None:
        """End the connection; matches given over it are of no use any more."""
        self._client.close(timeout=_SECONDS)


def _member(address: str, said: dict[str, Any]) -> Member | None:
    """Read what a worker says of itself; None for one of somebody else, or that has said too little yet.

    Raises:
        ValueError: It can't be used.
    """
    card, state = said.get(EXTRA), said.get("metrics", {}).get(EXTRA)
    if not (isinstance(card, bytes) and isinstance(state, bytes)):
        return None
    found = Member(address=address, card=read_card(card), state=read_state(state))
    if found.card.name != said.get("name"):
        raise ValueError(f"it calls itself {found.card.name!r}, and {said.get('name')!r} to the scheduler")
    return found
