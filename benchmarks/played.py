"""Plays matches to be stored, in this process and with random moves."""

import random
from datetime import datetime

from arena.db.matches import Claim, FinishedMatch
from arena.protocol.match import Decision, GameRecord, MatchRecord, MatchSpec, SeatReport, encode
from arena.rules import Move, Rules, apply, new_game, seats_to_move, shuffled_deck, view
from arena.scheduler.check import verified_match


def played(claim: Claim, dice: random.Random, ended: datetime) -> FinishedMatch:
    """Play a match and return its result, in the form of a launcher's record that has been checked."""
    return verified_match(claim, encode(_record(claim.spec, dice)), ended)


def _record(spec: MatchSpec, dice: random.Random) -> MatchRecord:
    return MatchRecord(
        match=spec.match,
        attempt=spec.attempt,
        games=tuple(_game(spec.rules, seed, dice) for seed in spec.seeds),
        seats=tuple(SeatReport(image=image, runtime="docker/runc", limits=()) for image in spec.seats),
    )


def _game(rules: Rules, seed: str, dice: random.Random) -> GameRecord:
    state = new_game(rules, shuffled_deck(rules, bytes.fromhex(seed)))
    steps = []
    while not state.over:
        moves: list[Move | None] = [None] * rules.players
        decisions: list[Decision | None] = [None] * rules.players
        for seat in seats_to_move(state):
            move = dice.choice(view(state, seat).legal_moves())
            moves[seat] = move
            decisions[seat] = Decision(
                cards=tuple(card.label for card in move.cards),
                dummy=move.dummy.label if move.dummy else None,
                millis=round(dice.expovariate(0.2), 3),
            )
        state = apply(state, moves)
        steps.append(tuple(decisions))
    return GameRecord(seed=seed, steps=tuple(steps), totals=state.result.totals if state.result else ())
