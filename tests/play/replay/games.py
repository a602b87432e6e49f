"""Random games, and replays of them."""

from collections.abc import Mapping

from arena.play.replay.document import PublicReplay, Seat, build
from arena.protocol.faults import Fault, places_with_faults, taken_over
from arena.protocol.match import Decision
from arena.rules import Move, Rules, State, seats_to_move
from tests.rules.helpers import random_game

SEED = bytes(range(16))


def seats(rules: Rules) -> list[Seat]:
    """Return a bot for every seat."""
    return [Seat(bot=f"bot-{number}", version=number + 1, author="ann") for number in range(rules.players)]


def played(rules: Rules, seed: bytes = SEED) -> State:
    """Play a game at random to its end."""
    *_, (end, _) = random_game(rules, seed)
    return end


def spread(state: State, chosen: list[Move]) -> list[Move | None]:
    """Return a move for each seat that was asked, and None for the others."""
    moves: list[Move | None] = [None] * state.rules.players
    for seat, move in zip(seats_to_move(state), chosen, strict=True):
        moves[seat] = move
    return moves


def replay_of(rules: Rules, seed: bytes = SEED) -> PublicReplay:
    """Return the replay of a random game without faults."""
    return build(game="game-1", seed=seed.hex(), state=played(rules, seed), seats=seats(rules))


def faulty(rules: Rules, faults: Mapping[tuple[int, int], Fault], seed: bytes = SEED) -> PublicReplay:
    """Return the replay of a random game with these faults by (step, seat), as a referee would record it."""
    steps: list[list[Decision | None]] = []
    for _, moves in random_game(rules, seed):
        if moves is None:
            break
        rows = [[faults.get((step, seat)) for seat in range(rules.players)] for step in range(len(steps) + 1)]
        gone = taken_over(rows, rules.players)
        steps.append(
            [
                Decision(
                    cards=tuple(card.label for card in move.cards),
                    millis=None if rows[-1][seat] else 1.5,
                    fault=rows[-1][seat],
                    standin=rows[-1][seat] is not None or gone[seat] is not None,
                )
                if move
                else None
                for seat, move in enumerate(moves)
            ]
        )
    state = played(rules, seed)
    assert state.result is not None
    history = [[decision.fault if decision else None for decision in step] for step in steps]
    return build(
        game="game-1",
        seed=seed.hex(),
        state=state,
        seats=seats(rules),
        places=places_with_faults(state.result.places, taken_over(history, rules.players)),
        steps=steps,
    )
