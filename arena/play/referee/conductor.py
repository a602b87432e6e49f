"""Connects a match to its players, in an event loop."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Final

from arena.platform.cpu_time import CpuSample, HostDelayMeter
from arena.play.referee.clock import RefereeClock, Stopwatch, uncounted_note
from arena.play.referee.match import RefereedMatch
from arena.play.referee.player import Event, GameStarted, Hello, Lost, PlayerAnswer, SeatPlayer
from arena.protocol.faults import Fault

_CLOSE_SECONDS: Final = 2.0
_TICK_SECONDS: Final = 0.05
_GRACE_SECONDS: Final = 0.25
"""Delay before an overdue decision times out: an answer that arrived in time may still be on its way through
the referee's threads. An answer that arrives during this delay is late."""

_LAG_SECONDS: Final = 0.005
"""Shorter delays within the referee are ignored."""

_SAMPLE_SECONDS: Final = 0.1
"""Maximum age of the last measurement of a bot's waits when the bot's clock begins to run. A measurement
takes a few microseconds."""


_MAX_PAUSE_SECONDS: Final = 5.0
"""If the referee's pauses before a bot's Hello were longer than this in total, they may have made the bot
exit. Time for which bots held up the referee doesn't count: otherwise they could make their match void."""


class RefereePaused(Exception):
    """The referee wasn't running while bots were starting, so bots that exited aren't at fault."""


class Conductor:
    """Carries events between a match and its players until the match is over.

    ``start_seconds`` limits the time from :meth:`started` to the bot's Hello.
    """

    def __init__(
        self,
        match: RefereedMatch,
        players: Sequence[SeatPlayer],
        *,
        start_seconds: float,
        now: RefereeClock,
    ) -> None:
        self._match = match
        self._players = players
        self._start_seconds = start_seconds
        self._now = now
        self._paused_before = 0.0  # length of the pauses before any bot could start
        self._absent = set(range(len(players)))
        self._meters: dict[int, HostDelayMeter] = {}
        self._sampled_at: dict[int, float] = {}
        self._starts: dict[int, Stopwatch] = {}
        self._over = asyncio.Event()
        self._failure: Exception | None = None

    async def open(self) -> None:
        """Open every player."""
        await asyncio.gather(*(player.open(seat, self) for seat, player in enumerate(self._players)))
        self._now()
        self._paused_before = self._paused()

    async def run(self) -> None:
        """Play the match to its end, then close the players.

        If an arena fault ended the match, raises the exception that caused the fault, whatever its type.
        """
        while not self._over.is_set():
            try:
                async with asyncio.timeout(_TICK_SECONDS):
                    await self._over.wait()
            except TimeoutError:
                self._apply(self._tick)
        # A bot that keeps its connection open must not delay the result.
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                void = "arena fault: the match does not count" if self._failure else None
                closing = (player.close(void) for player in self._players)
                # The match is over, so an error that a bot causes while its stream is closed changes nothing.
                await asyncio.gather(*closing, return_exceptions=True)
        if self._failure is not None:
            raise self._failure

    def started(self, seat: int, meter: HostDelayMeter | None = None) -> None:
        """Start the time limit for a seat's Hello. ``meter``, if given, measures the host's delays."""
        now = self._now()
        self._starts[seat] = Stopwatch(now)
        if meter is not None:
            self._meters[seat] = meter
            self._sampled_at[seat] = now

    def ended(self, seat: int, why: str) -> None:
        """Handle the end of a sandbox.

        If the bot has sent its Hello, its stream is still read to the end.
        """
        if seat in self._absent:
            self.lost(seat, Lost(Fault.CRASH, why))

    def greeted(self, seat: int, hello: Hello) -> None:
        """Handle a bot's Hello."""
        if seat in self._absent:
            self._absent.remove(seat)
            self._apply(lambda now: self._match.greeted(seat, hello, now))

    def answered(self, seat: int, answers: Sequence[PlayerAnswer], lag: float = 0.0) -> None:
        """Handle a bot's answers."""

        def take(now: float) -> None:
            self._message_passed(seat)
            if self._is_slow(seat, now) or self._needs_sample(seat, now):
                self._deduct_host_delay(seat, now)
            if lag > _LAG_SECONDS:
                self._match.deduct(seat, CpuSample(lag, 0.0), now)
            self._match.answered(seat, answers, now)

        self._apply(take)

    def lost(self, seat: int, lost: Lost) -> None:
        """Handle the loss of a bot."""
        if seat in self._absent:
            self._absent.remove(seat)
            self._now()
            # Include all pauses since the sockets were opened: bots may start before ``started`` is called.
            paused = self._paused() - self._paused_before
            if paused > _MAX_PAUSE_SECONDS:
                why = f"was not running for {paused:.1f} s while the bot in seat {seat} was starting"
                self.failed(RefereePaused(f"the referee {why}, and the bot then exited: {lost.why}"))
                return
        self._apply(lambda now: self._match.lose(seat, lost, now))

    def failed(self, error: Exception) -> None:
        """End the match with this error, unless it is over."""
        if not self._over.is_set():
            self._failure = error
            self._over.set()

    def _paused(self) -> float:
        return self._now.missed - self._now.held_up

    def _tick(self, now: float) -> None:
        for seat in self._meters:
            if seat in self._absent or self._is_slow(seat, now):
                self._deduct_host_delay(seat, now)
        for seat in self._absent - self._waiting_for_cpu(self._absent):
            if seat in self._starts and self._greeting_is_late(seat, now):
                self._absent.remove(seat)
                lost = Lost(Fault.ABSENT, self._absence_text(seat))
                self._players[seat].dismiss(lost)
                self._match.lose(seat, lost, now)
        grace = _GRACE_SECONDS + self._now.behind
        self._match.tick(now, grace, self._waiting_for_cpu(self._match.late(now, grace)))

    def _greeting_is_late(self, seat: int, now: float) -> bool:
        taken = self._starts[seat].seconds(now)
        return taken > self._start_seconds + _GRACE_SECONDS + self._now.behind

    def _absence_text(self, seat: int) -> str:
        return f"no valid Hello within {self._start_seconds:g} s of its start" + uncounted_note(
            self._starts[seat].uncounted
        )

    def _waiting_for_cpu(self, seats: Collection[int]) -> frozenset[int]:
        """Return the seats whose bots are runnable but not running. Their waits can't be measured yet."""
        return frozenset(seat for seat in seats if seat in self._meters and self._meters[seat].is_waiting())

    def _is_slow(self, seat: int, now: float) -> bool:
        began = self._match.clock_began(seat)
        return began is not None and now - began > _TICK_SECONDS

    def _needs_sample(self, seat: int, now: float) -> bool:
        return now - self._sampled_at.get(seat, now) > _SAMPLE_SECONDS

    def _deduct_host_delay(self, seat: int, now: float) -> None:
        """Deduct from a bot's time the host's delay since the last call."""
        if seat not in self._meters:
            return
        sample = self._meters[seat].sample()
        self._sampled_at[seat] = now
        if seat in self._absent:
            self._starts[seat].deduct(sample, now)
        else:
            self._match.deduct(seat, sample, now)

    def _message_passed(self, seat: int) -> None:
        if seat in self._meters:
            self._meters[seat].message_passed()

    def _apply(self, happened: Callable[[float], None]) -> None:
        """Apply an event to the match, and send the resulting messages."""
        if self._over.is_set():
            return
        try:
            now = self._now()
            happened(now)
            for seat, events in self._match.outbox():
                self._players[seat].send(events)
                self._message_passed(seat)
                if self._needs_sample(seat, now) or _opens_a_game(events):
                    self._deduct_host_delay(seat, now)
        except Exception as error:  # noqa: BLE001 - gRPC would end the stream of the bot whose message came last
            self.failed(error)
            return
        if self._match.over:
            self._over.set()


def _opens_a_game(events: Sequence[Event]) -> bool:
    return any(type(event) is GameStarted for event in events)
