"""Plays games in this process, without a sandbox, a clock or faults.

A game is a function of its seed and its bots: the global ``random`` is seeded from the game's seed, so bots
that use it repeat their choices. ``random.random()`` gives the same numbers in every version of Python; the
module's other functions do so only within one version.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from arena.play.replay.document import PublicReplay, Seat, build
from arena.rules import (
    IllegalMove,
    Move,
    Rules,
    State,
    apply,
    new_game,
    seats_to_move,
    shuffled_deck,
    simulation_seed,
    view,
)
from arena.sdk.bot import Chooser, as_move


class SimulatedBotFailed(RuntimeError):
    """A bot raised an exception (the cause) or made an illegal move. The message gives the bot and turn."""

    def __init__(
        self, text: str, seat: int, state: State, seed: bytes, moves: Sequence[Sequence[Move | None]]
    ) -> None:
        super().__init__(text)
        self.seat = seat
        self.state = state  # the position before the failed move
        self.seed = seed  # seed of the game, 16 bytes
        self.moves = moves  # every joint move before the failed one


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPlayer:
    """A bot in this process."""

    seat: Seat
    factory: Callable[[], Chooser]  # called at the start of each game


def simulate(
    rules: Rules, players: Sequence[SimulatedPlayer], number: int, games: int
) -> Iterator[PublicReplay]:
    """Play games, and yield their replays.

    A game's seed is derived from ``number`` and the game's index, counted from 0. Raises SimulatedBotFailed.
    """
    for game in range(games):
        name = f"simulate-{number}-{game}"
        seed = simulation_seed(number, game)
        state = play(rules, players, seed, name)
        yield build(game=name, seed=seed.hex(), state=state, seats=[player.seat for player in players])


def play(rules: Rules, players: Sequence[SimulatedPlayer], seed: bytes, name: str) -> State:
    """Play one game to its end.

    ``seed`` has 16 bytes and determines the deck and the bots' randomness. ``name`` is the game's name in
    error messages. Raises SimulatedBotFailed.
    """
    random.seed(int.from_bytes(seed, "big"))
    state = new_game(rules, shuffled_deck(rules, seed))
    played: list[Sequence[Move | None]] = []

    def failed(seat: int, error: BaseException) -> SimulatedBotFailed:
        where = f"game {name}, round {state.round}, turn {state.turn}, seat {seat}"
        return SimulatedBotFailed(
            f"{where}: {players[seat].seat.bot} failed: {error!r}", seat, state, seed, played
        )

    choosers: list[Chooser] = []
    for seat, player in enumerate(players):
        try:
            choosers.append(player.factory())
        except (Exception, SystemExit) as error:
            raise failed(seat, error) from error
    while not state.over:
        moves: list[Move | None] = [None] * rules.players
        for seat in seats_to_move(state):
            seen = view(state, seat)
            try:
                moves[seat] = as_move(choosers[seat].choose(seen), seen)
            except (Exception, SystemExit) as error:
                raise failed(seat, error) from error
        try:
            state = apply(state, moves)
        except IllegalMove as error:
            raise failed(error.seat, error) from error
        played.append(moves)
    return state
