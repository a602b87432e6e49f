"""What happens when a bot does not answer as it should.

The rules know only legal play, so a seat that fails is played by a stand-in:
for that one decision, or, after its third fault in a game or once its stream
is gone, to the end of the game.
"""

from typing import Final

from arena.match import Fault
from arena.rules import Move, View

FINAL_FAULTS: Final = frozenset({Fault.CRASH, Fault.ABSENT, Fault.EXPELLED})
"""After one of these there is no bot any more, so the stand-in plays to the end."""

FAULTS_TO_TAKE_OVER: Final = 3
"""With this many faults in one game the stand-in plays the rest of it."""


def stand_in(view: View) -> Move:
    """Return the stand-in's move: the first card of the hand in the order of the table of kinds.

    It never uses chopsticks. In control of the dummy it gives the dummy the
    next card of the hand. It follows from the view alone, so that a record
    can be checked.
    """
    if view.control:
        return Move((view.hand[0],), view.hand[1])
    return Move((view.hand[0],))
