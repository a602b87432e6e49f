"""Functions that hostile bots share. Runs in a bot's container."""

import json
import os
from collections.abc import Callable
from typing import Final

from arena.rules import Move, View

MOMENT: Final = (2, 3)
"""Round and turn of the decision at which most attacks are made."""


def tell(**facts: object) -> None:
    """Report on stderr what the attack did and saw. Later facts replace earlier ones of the same name."""
    os.write(2, f"\n{json.dumps(facts)}\n".encode())


def choose(view: View) -> Move:
    """Play like the honest bots."""
    return view.legal_moves()[-1]


def play(attack: Callable[[], object] | None = None) -> None:
    """Play honestly, and call ``attack`` once, when the decision at MOMENT is open."""
    from arena.sdk import run  # noqa: PLC0415 - programs that never play needn't load gRPC

    def hooked(view: View) -> Move:
        if attack is not None and (view.round, view.turn) == MOMENT:
            attack()
        return choose(view)

    run(hooked, games_at_once=1)


def honest() -> None:
    """Play the match without an attack."""
    play()
