"""Kinds of faults, and which of them end a bot's game."""

from enum import StrEnum
from typing import Final


class Fault(StrEnum):
    """Reason for a stand-in's decision. After the last three the stand-in plays the rest of the game."""

    TIMEOUT = "timeout"
    ILLEGAL = "illegal"
    PROTOCOL = "protocol"
    CRASH = "crash"
    ABSENT = "absent"
    EXPELLED = "expelled"

    @property
    def meaning(self) -> str:
        """Short description of the fault."""
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
"""After one of these the bot is disconnected, so the stand-in plays to the end."""

FAULTS_TO_TAKE_OVER: Final = 3
"""After this many faults in one game, the stand-in plays the rest of it."""
