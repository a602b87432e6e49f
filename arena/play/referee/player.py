"""The referee's interface to one bot.

A match is a state machine without I/O (see :mod:`arena.play.referee.match`). A player carries the match's
events to a bot and the bot's messages to the match, either by function calls or through a socket.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from arena.protocol.faults import Fault
from arena.protocol.match import Clock
from arena.rules import Move, Result, RoundScore, Rules, Turn, View


class Welcome(NamedTuple):
    """The match begins."""

    games: int
    games_at_once: int


class GameStarted(NamedTuple):
    """A game begins."""

    game: int
    seat: int
    rules: Rules
    clock: Clock


class DecisionRequested(NamedTuple):
    """A request for a decision. ``bank`` is in seconds; ``nonce`` has 32 bits and is never 0."""

    game: int
    view: View
    bank: float
    nonce: int


class TurnRevealed(NamedTuple):
    """A turn was revealed. ``stand_ins`` has one entry per seat, but is empty in automatic turns."""

    game: int
    turn: Turn
    stand_ins: tuple[bool, ...]


class RoundScored(NamedTuple):
    """A round was scored. ``scores`` has one entry per participant."""

    game: int
    round: int
    scores: tuple[RoundScore, ...]


class GameEnded(NamedTuple):
    """A game has ended. ``places`` are final, with taken-over seats last."""

    game: int
    result: Result
    places: tuple[int, ...]


class FaultNoticed(NamedTuple):
    """A fault: the stand-in made a decision for this seat."""

    game: int
    round: int
    turn: int
    fault: Fault
    text: str
    taken_over: bool


class MatchEnded(NamedTuple):
    """The match has ended after this many games."""

    games: int


Event = (
    Welcome
    | GameStarted
    | DecisionRequested
    | TurnRevealed
    | RoundScored
    | GameEnded
    | FaultNoticed
    | MatchEnded
)


class Hello(NamedTuple):
    """What a bot's first message says."""

    games_at_once: int
    sdk: str


class PlayerAnswer(NamedTuple):
    """A bot's unchecked decision."""

    game: int
    round: int
    turn: int
    move: Move | None  # None if it can't be read
    note: str = ""  # the bot's note for its owner
    broken: str | None = None  # how the message breaks the protocol; None if it doesn't
    nonce: int = 0  # the request's nonce, or 0 if the bot doesn't return it


class Lost(NamedTuple):
    """The loss of a bot, and the reason."""

    fault: Fault
    why: str


class Listener(Protocol):
    """Receives a bot's messages. Called in the event loop; must not block."""

    def greeted(self, seat: int, hello: Hello) -> None:
        """Handle the bot's Hello, which comes once, before everything else."""

    def answered(self, seat: int, answers: Sequence[PlayerAnswer], lag: float = 0.0) -> None:
        """Handle the bot's answers in one or more games, in order of arrival.

        ``lag`` is how much of the time since the request was spent in the connection itself, in seconds.
        """

    def lost(self, seat: int, lost: Lost) -> None:
        """Handle the loss of the bot; nothing comes after this."""

    def failed(self, error: Exception) -> None:
        """Handle a failure of the connection, which is an arena fault."""


class SeatPlayer(Protocol):
    """A connection to one bot."""

    async def open(self, seat: int, listener: Listener) -> None:
        """Start listening; report this bot as ``seat``."""

    def send(self, events: Sequence[Event]) -> None:
        """Send events in order, without waiting for delivery."""

    def dismiss(self, lost: Lost) -> None:
        """Send the bot the reason for losing its seat, and end the connection. Doesn't wait."""

    async def close(self, void: str | None = None) -> None:
        """End the connection because the match is over, after sending everything queued.

        ``void`` says why the match doesn't count, if the arena failed.
        """


class PersonPlayer:
    """A player for a person. ``on_request`` is called with the view of each decision."""

    def __init__(self, on_request: Callable[[View], None]) -> None:
        self._on_request = on_request
        self._listener: Listener | None = None
        self._seat = 0

    async def open(self, seat: int, listener: Listener) -> None:
        """Send Hello immediately: the person joined before the bots."""
        self._seat, self._listener = seat, listener
        listener.greeted(seat, Hello(games_at_once=1, sdk=""))

    def send(self, events: Sequence[Event]) -> None:
        """Pass on only requests for decisions: their views contain everything that the person needs."""
        for event in events:
            if isinstance(event, DecisionRequested):
                self._on_request(event.view)

    def choose(self, round_number: int, turn: int, move: Move) -> None:
        """Play a person's choice."""
        if self._listener is not None:
            answer = PlayerAnswer(game=0, round=round_number, turn=turn, move=move)
            self._listener.answered(self._seat, [answer])

    def dismiss(self, lost: Lost) -> None:
        """Do nothing: a person is never late."""

    async def close(self, void: str | None = None) -> None:
        """Do nothing."""
