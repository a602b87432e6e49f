"""Joins a match to its players, in an event loop."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from arena.match import Fault
from arena.referee.match import Match
from arena.referee.player import Answer, Hello, Lost, Player

_CLOSE_SECONDS: Final = 2.0
_TICK_SECONDS: Final = 0.05
"""How late a late decision may be found. An answer that comes in this while is late all the same."""


class Conductor:
    """Carries events between a match and its players until the match is over.

    Args:
        match: Not begun.
        players: One a seat.
        start_seconds: From :meth:`started` to the bot's greeting.
        now: A monotonic clock, in seconds.
    """

    def __init__(
        self,
        match: Match,
        players: Sequence[Player],
        *,
        start_seconds: float,
        now: Callable[[], float],
    ) -> None:
        self._match = match
        self._players = players
        self._start_seconds = start_seconds
        self._now = now
        self._waiting: dict[int, float] = {}
        self._absent = set(range(len(players)))
        self._over = asyncio.Event()
        self._failure: Exception | None = None

    async def open(self) -> None:
        """Let every player listen."""
        await asyncio.gather(*(player.open(seat, self) for seat, player in enumerate(self._players)))

    async def run(self) -> None:
        """Play the match to its end, then end the lines.

        Raises:
            Exception: Whatever went wrong in the match itself: the arena's fault, not a bot's.
        """
        while not self._over.is_set():
            try:
                async with asyncio.timeout(_TICK_SECONDS):
                    await self._over.wait()
            except TimeoutError:
                self._hear(self._tick)
        # A bot that does not let go of its line must not hold up the result.
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await asyncio.gather(*(player.close() for player in self._players))
        if self._failure is not None:
            raise self._failure

    def started(self, seat: int) -> None:
        """Let the time for a seat's greeting run: its sandbox has been started."""
        self._waiting[seat] = self._now() + self._start_seconds

    def ended(self, seat: int, why: str) -> None:
        """Note that a sandbox has ended. A bot that has greeted is heard to the end of its stream."""
        if seat in self._absent:
            self.lost(seat, Lost(Fault.CRASH, why))

    def greeted(self, seat: int, hello: Hello) -> None:
        """Take a bot's greeting."""
        if seat in self._absent:
            self._absent.remove(seat)
            self._hear(lambda now: self._match.greeted(seat, hello, now))

    def answered(self, seat: int, answers: Sequence[Answer]) -> None:
        """Take a bot's answers."""
        self._hear(lambda now: self._match.answered(seat, answers, now))

    def lost(self, seat: int, lost: Lost) -> None:
        """Take note that a bot is gone."""
        self._absent.discard(seat)
        self._hear(lambda now: self._match.lose(seat, lost, now))

    def failed(self, error: Exception) -> None:
        """End the match with this error."""
        self._failure = error
        self._over.set()

    def _tick(self, now: float) -> None:
        for seat in [seat for seat in self._absent if now > self._waiting.get(seat, now)]:
            self._absent.remove(seat)
            why = f"no valid Hello within {self._start_seconds:g} s of its start"
            self._match.lose(seat, Lost(Fault.ABSENT, why), now)
        self._match.tick(now)

    def _hear(self, happened: Callable[[float], None]) -> None:
        """Pass on what happened, and send what follows from it."""
        if self._over.is_set():
            return
        try:
            happened(self._now())
            for seat, events in self._match.outbox():
                self._players[seat].send(events)
        except Exception as error:  # noqa: BLE001 - the library would blame the bot whose message came last
            self.failed(error)
            return
        if self._match.over:
            self._over.set()
