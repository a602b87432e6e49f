"""A player for tests: a bot that runs in this process."""

import asyncio
from collections.abc import Callable, Sequence

from arena.play.referee.player import DecisionRequested, Event, Hello, Listener, Lost, PlayerAnswer
from arena.protocol.faults import Fault
from arena.rules import Move, View


class InProcessPlayer:
    """A bot that is a function. A RuntimeError that it raises counts as a crash."""

    def __init__(self, choose: Callable[[View], Move], games_at_once: int = 1) -> None:
        self.told: list[Event] = []
        self.closed = False
        self.void: str | None = None
        self.dismissed: Lost | None = None
        self._choose = choose
        self._games_at_once = games_at_once
        self._seat = 0
        self._listener: Listener | None = None

    async def open(self, seat: int, listener: Listener) -> None:
        """Greet in the next iteration of the event loop."""
        self._seat, self._listener = seat, listener
        asyncio.get_running_loop().call_soon(listener.greeted, seat, Hello(self._games_at_once, "in-process"))

    def send(self, events: Sequence[Event]) -> None:
        """Answer the requests after the caller has returned."""
        self.told += events
        asks = [event for event in events if isinstance(event, DecisionRequested)]
        if asks:
            asyncio.get_running_loop().call_soon(self._answer, asks)

    def dismiss(self, lost: Lost) -> None:
        """Store the reason."""
        self.dismissed = lost

    async def close(self, void: str | None = None) -> None:
        """Store that it was called, and the text."""
        self.closed = True
        self.void = void

    def _answer(self, asks: list[DecisionRequested]) -> None:
        if self._listener is None:
            return
        try:
            answers = [
                PlayerAnswer(ask.game, ask.view.round, ask.view.turn, self._choose(ask.view)) for ask in asks
            ]
        except RuntimeError as error:
            self._listener.lost(self._seat, Lost(Fault.CRASH, str(error)))
            return
        self._listener.answered(self._seat, answers)
