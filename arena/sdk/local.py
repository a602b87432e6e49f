"""Games in process: no referee, no clock, no container. For trying a bot out and for its tests."""

from collections.abc import Sequence

from arena.rules import Move, Rules, State, apply, asked, new_game, shuffled_deck, simulation_seed, view
from arena.sdk.answer import as_move
from arena.sdk.bot import Bot, GameOver, new_chooser


def play(bots: Sequence[Bot], rules: Rules | None = None, seed: int = 0) -> State:
    """Play one game.

    Args:
        bots: One a seat.
        rules: What is played; without them, the basic game for that many bots.
        seed: The same number deals the same cards.

    Returns:
        The end of the game: ``result`` has totals and places, ``rounds`` the
        scores, ``turns`` everything that was played.

    Raises:
        IllegalMove: A bot chose what a rule forbids.
        TypeError: A bot returned what is no answer.
        ValueError: There are not as many bots as seats.
    """
    rules = rules or Rules(players=len(bots))
    if len(bots) != rules.players:
        raise ValueError(f"{len(bots)} bots for {rules.players} seats")
    choosers = [new_chooser(bot) for bot in bots]
    state = new_game(rules, shuffled_deck(rules, simulation_seed(seed, 0)))
    while state.result is None:
        moves: list[Move | None] = [None] * rules.players
        for seat in asked(state):
            seen = view(state, seat)
            moves[seat] = as_move(choosers[seat].choose(seen), seen)
        state = apply(state, moves)
    for seat, chooser in enumerate(choosers):
        if chooser.game_over:
            chooser.game_over(GameOver(rules, seat, state.turns, state.result))
    return state
