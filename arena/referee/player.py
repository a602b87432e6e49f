"""The referee's side of one bot.

A match is a state machine without input or output of its own (see
:mod:`arena.referee.match`). A player carries its events to a bot and brings
back what the bot says, whatever lies between: a call, or a socket into a
container.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from arena.match import Fault
from arena.referee.events import Event
from arena.rules import Move


class Hello(NamedTuple):
    """A bot's greeting."""

    games_at_once: int
    sdk: str


class Answer(NamedTuple):
    """A bot's decision, not checked yet.

    Attributes:
        game: The game's number in the match, as the bot gave it.
        round: As the bot gave it.
        turn: As the bot gave it.
        move: What it wants to play, or None where that can't be read.
        note: For its owner.
        broken: In words, how the message breaks the protocol, or None.
    """

    game: int
    round: int
    turn: int
    move: Move | None
    note: str = ""
    broken: str | None = None


class Lost(NamedTuple):
    """A bot that will not say anything any more, and why."""

    fault: Fault
    why: str


class Listener(Protocol):
    """Who hears what a bot says. Called in the event loop; returns at once."""

    def greeted(self, seat: int, hello: Hello) -> None:
        """Take the bot's greeting; it comes once, and first."""

    def answered(self, seat: int, answers: Sequence[Answer]) -> None:
        """Take the bot's answers, to one game or several."""

    def lost(self, seat: int, lost: Lost) -> None:
        """Take note that the bot is gone; nothing comes after it."""

    def failed(self, error: Exception) -> None:
        """Take note that the line did not work, which is no bot's fault."""


class Player(Protocol):
    """A line to one bot."""

    async def open(self, seat: int, listener: Listener) -> None:
        """Begin to listen; the listener hears of this bot as ``seat``."""

    def send(self, events: Sequence[Event]) -> None:
        """Send events in this order, without waiting for them to arrive."""

    async def close(self) -> None:
        """End the line because the match is over. What was sent before still goes out."""
