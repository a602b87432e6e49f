"""Games in this process: no sandbox, no clock, no faults.

A game is a function of its seed and its bots: before each one the global
``random`` is seeded from the game's seed. Bots that draw from ``random``
therefore repeat; ``random.random()`` does so in every version of Python, other
functions of the module within one.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.botfiles import Chooser, Factory
from arena.replay import PublicReplay, Seat, build
from arena.rules import (
    IllegalMove,
    Move,
    Rules,
    State,
    apply,
    asked,
    new_game,
    shuffled_deck,
    simulation_seed,
    view,
)
from arena.sdk.answer import as_move


class BotFailed(RuntimeError):
    """A bot raised, or answered what the rules forbid; names bot, game, round and turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """A bot in this process.

    Attributes:
        seat: As in replays.
        factory: Makes the chooser of one game.
    """

    seat: Seat
    factory: Factory


def simulate(rules: Rules, players: Sequence[Player], number: int, games: int) -> Iterator[PublicReplay]:
    """Play games, each from a seed derived from ``number`` and its own number, from 0.

    Raises:
        BotFailed: A bot raised or answered illegally.
    """
    for game in range(games):
        name = f"simulate-{number}-{game}"
        seed = simulation_seed(number, game)
        state = play(rules, players, seed, name)
        yield build(game=name, seed=seed.hex(), state=state, seats=[player.seat for player in players])


def play(rules: Rules, players: Sequence[Player], seed: bytes, name: str) -> State:
    """Play one game to its end.

    Args:
        rules: What is played.
        players: One a seat.
        seed: 16 bytes; deck and the bots' dice follow from it.
        name: The game's, for errors.

    Raises:
        BotFailed: A bot raised or answered illegally.
    """
    random.seed(int.from_bytes(seed, "big"))
    state = new_game(rules, shuffled_deck(rules, seed))
    choosers: list[Chooser] = []
    for seat, player in enumerate(players):
        try:
            choosers.append(player.factory())
        except (Exception, SystemExit) as error:
            raise _failed(players, seat, name, state, error) from error
    while not state.over:
        moves: list[Move | None] = [None] * rules.players
        for seat in asked(state):
            seen = view(state, seat)
            try:
                moves[seat] = as_move(choosers[seat](seen), seen)
            except (Exception, SystemExit) as error:
                raise _failed(players, seat, name, state, error) from error
        try:
            state = apply(state, moves)
        except IllegalMove as error:
            raise _failed(players, error.seat, name, state, error) from error
    return state


def _failed(players: Sequence[Player], seat: int, name: str, state: State, error: BaseException) -> BotFailed:
    bot = players[seat].seat.bot
    where = f"game {name}, round {state.round}, turn {state.turn}"
    what = "answered illegally" if isinstance(error, IllegalMove) else f"failed with {type(error).__name__}"
    return BotFailed(f"bot {bot} on seat {seat} {what} in {where}: {error}")
