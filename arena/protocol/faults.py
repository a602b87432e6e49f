"""The ways in which a bot can be at fault, and which of them end its game."""

from enum import StrEnum
from typing import Final


class Fault(StrEnum):
    """Why the stand-in made a decision. After the last three it plays the rest of the game."""

    TIMEOUT = "timeout"
    ILLEGAL = "illegal"
    PROTOCOL = "protocol"
    CRASH = "crash"
    ABSENT = "absent"
    EXPELLED = "expelled"

    @property
    def meaning(self) -> str:
        """What happened, in a few words."""
        return _MEANINGS[self]


_MEANINGS: Final = {
    Fault.TIMEOUT: "no answer in time",
    Fault.ILLEGAL: "a move that the rules forbid",
    Fault.PROTOCOL: "a message that breaks the protocol",
    Fault.CRASH: "exited, or closed its stream",
    Fault.ABSENT: "no valid Hello in time",
    Fault.EXPELLED: "disconnected by the referee for what it sent",
}

FINAL_FAULTS: Final = frozenset({Fault.CRASH, Fault.ABSENT, Fault.EXPELLED})
"""After one of these the bot is gone, so the stand-in plays to the end."""

FAULTS_TO_TAKE_OVER: Final = 3
"""With this many faults in one game the stand-in plays the rest of it."""
