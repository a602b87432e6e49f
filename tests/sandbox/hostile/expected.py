"""What a match with an attacker must come to: played without processes, clocks or sandboxes."""

from arena.play.referee.stand_in import places_with_faults, stand_in, taken_over
from arena.protocol.match import GameRecord, MatchSpec
from arena.rules import Move, State, apply, asked, new_game, shuffled_deck, view
from tests.sandbox.hostile.bot import choose


def differences(spec: MatchSpec, game: GameRecord, places: tuple[int, ...]) -> tuple[str, ...]:
    """Compare a game with the same seed in process: all play honestly, and the stand-in where it is due.

    ``places`` are those of the game that count. Returns everything that is not equal, in words.
    """
    faults = [[decision.fault if decision else None for decision in step] for step in game.steps]
    moments = taken_over(faults, spec.rules.players)
    state = new_game(spec.rules, shuffled_deck(spec.rules, bytes.fromhex(spec.seeds[0])))
    found: list[str] = []
    for number, step in enumerate(game.steps):
        if state.over:
            return (*found, "the game went on after its end")
        gone = [
            faults[number][seat] is not None or (moment is not None and number > moment)
            for seat, moment in enumerate(moments)
        ]
        moves = _moves(state, gone)
        for seat, (decision, move) in enumerate(zip(step, moves, strict=True)):
            played = None if decision is None else decision.cards
            wanted = None if move is None else tuple(card.label for card in move.cards)
            if played != wanted:
                found.append(
                    f"seat {seat} played {played} and not {wanted} in round {state.round}, turn {state.turn}"
                )
        state = apply(state, moves)
    if state.result is None:
        return (*found, "the game ended before its end")
    if places != places_with_faults(state.result.places, moments):
        found.append(f"the places are {places}")
    return tuple(found)


def _moves(state: State, gone: list[bool]) -> list[Move | None]:
    moves: list[Move | None] = [None] * state.rules.players
    for seat in asked(state):
        seen = view(state, seat)
        moves[seat] = stand_in(seen) if gone[seat] else choose(seen)
    return moves
