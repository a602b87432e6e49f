"""Players for tests, beside the real one: a function in this process, and a script of answers."""

import asyncio
from collections.abc import Callable, Sequence

from arena.play.referee.player import Ask, Event, Hello, Listener, Lost, PlayerAnswer
from arena.protocol.faults import Fault
from arena.rules import Move, View


class InProcessPlayer:
    """A bot that is a function.

    Args:
        choose: Returns a move, or raises: that is its crash.
        games_at_once: What it says in its greeting.
    """

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
        """Greet as soon as the loop runs."""
        self._seat, self._listener = seat, listener
        asyncio.get_running_loop().call_soon(listener.greeted, seat, Hello(self._games_at_once, "in-process"))

    def send(self, events: Sequence[Event]) -> None:
        """Answer what is asked, after the caller has returned."""
        self.told += events
        asks = [event for event in events if isinstance(event, Ask)]
        if asks:
            asyncio.get_running_loop().call_soon(self._answer, asks)

    def dismiss(self, lost: Lost) -> None:
        """Remember it."""
        self.dismissed = lost

    async def close(self, void: str | None = None) -> None:
        """Remember it."""
        self.closed = True
        self.void = void

    def _answer(self, asks: list[Ask]) -> None:
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
