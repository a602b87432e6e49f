"""A person's seat: decisions go to the launcher, and the person's choices come back from it."""

from collections.abc import Callable, Sequence

from arena.play.referee.player import Ask, Event, Hello, Listener, Lost, PlayerAnswer
from arena.rules import Move, View


class PersonPlayer:
    """A person's :class:`arena.play.referee.player.SeatPlayer`. ``asked`` gets each of their decisions."""

    def __init__(self, asked: Callable[[View], None]) -> None:
        self._asked = asked
        self._listener: Listener | None = None
        self._seat = 0

    async def open(self, seat: int, listener: Listener) -> None:
        """Greet immediately: the person joined before the bots."""
        self._seat, self._listener = seat, listener
        listener.greeted(seat, Hello(games_at_once=1, sdk=""))

    def send(self, events: Sequence[Event]) -> None:
        """Pass decisions on. A view contains all other information for the person."""
        for event in events:
            if isinstance(event, Ask):
                self._asked(event.view)

    def choose(self, round_number: int, turn: int, move: Move) -> None:
        """Play a person's choice."""
        if self._listener is not None:
            answer = PlayerAnswer(game=0, round=round_number, turn=turn, move=move)
            self._listener.answered(self._seat, [answer])

    def dismiss(self, lost: Lost) -> None:
        """Do nothing: a person is never late."""

    async def close(self, void: str | None = None) -> None:
        """Do nothing."""
