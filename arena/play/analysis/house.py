"""The house bots' choices in the decisions of a recorded game."""

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.play.botfiles import BotBroken, Factory, known, load
from arena.play.replay.decisions import RecordedDecision
from arena.rules import Move, check_move
from arena.sdk.bot import as_move

_AIMLESS: Final = frozenset({"random"})
"""Bots whose choices are not informative."""


def house_bots(folder: Path) -> dict[str, Factory]:
    """Return the house bots of a folder that are written in Python and play to win, by name.

    Bots that can't be loaded are left out.
    """
    bots = {}
    for name in known(folder):
        if name not in _AIMLESS:
            with suppress(BotBroken):
                bots[name] = load(folder / name)
    return bots


def house_moves(
    bots: Mapping[str, Factory], made: Sequence[RecordedDecision], seats: int, seed: int
) -> list[dict[str, Move]]:
    """Return each bot's move for each decision, by the bot's name; the game continues as recorded.

    A bot that raises an error, or plays an illegal move, is left out of that decision. The same arguments
    give the same moves.
    """
    before = random.getstate()  # bots draw from the shared generator
    try:
        return _moves(bots, made, seats, seed)
    finally:
        random.setstate(before)


def _moves(
    bots: Mapping[str, Factory], made: Sequence[RecordedDecision], seats: int, seed: int
) -> list[dict[str, Move]]:
    found: list[dict[str, Move]] = [{} for _ in made]
    for name, new in bots.items():
        choosers = [new() for _ in range(seats)]
        for moves, (step, view, *_) in zip(found, made, strict=True):
            random.seed(f"{seed}/{step}/{view.seat}/{name}")
            try:
                move = as_move(choosers[view.seat](view), view)
                check_move(view.seat, view.hand, view.tables[view.seat], move, control=view.control)
            except Exception:  # noqa: BLE001, S112 - a sample that was changed may raise anything
                continue
            moves[name] = move
    return found
