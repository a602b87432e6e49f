"""Conformance tests for programs: recorded games of every variant, and findings about the answers."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from arena.local.ask_program import GameToAsk, ProgramRun, Reply
from arena.local.puzzle import rules_text
from arena.protocol.faults import Fault
from arena.rules import Move, Rules, apply, new_game, seats_to_move, shuffled_deck, simulation_seed, view

_SEED: Final = 475

_EVERY_RULES: Final = tuple(
    Rules(players=players, pass_both_ways=both, soy_sauce=soy, dummy=dummy)
    for players, dummy in ((2, False), (3, False), (4, False), (5, False), (2, True))
    for both, soy in product((False, True), repeat=2)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceFinding:
    """A program's compliance with one rule of the protocol."""

    rule: str
    tried: int  # how often the rule applied
    wrong: int
    first: str | None  # the first violation
    required: bool = True  # False if only the variant with a dummy requires it


def conformance_games() -> tuple[GameToAsk, ...]:
    """Return one game of random legal moves per variant. The games are always the same."""
    return tuple(_random_game(rules, number) for number, rules in enumerate(_EVERY_RULES))


def findings(replies: Sequence[Reply], end: ProgramRun) -> Iterator[ConformanceFinding]:
    """Yield findings about a program's answers to :func:`conformance_games`, rule by rule."""
    yield _finding("each request gets one move, in time, with its game, round and turn", [
        (reply, None if reply.fault is Fault.ILLEGAL else reply.trouble) for reply in replies
    ])  # fmt: skip
    answered = [reply for reply in replies if reply.fault in {None, Fault.ILLEGAL}]
    yield _finding("each move has its request's nonce", [
        (reply, None if reply.nonce else "the nonce is missing") for reply in answered
    ])  # fmt: skip
    plain = [reply for reply in answered if not reply.view.control]
    control = [reply for reply in answered if reply.view.control]
    yield _finding("each move is legal", [(reply, reply.trouble) for reply in plain])
    yield _finding("a program that controls the dummy gives it a card", [
        (reply, reply.trouble) for reply in control
    ], required=False)  # fmt: skip
    stayed = end.lost is None
    yield ConformanceFinding(
        rule="the program plays all games in a match", tried=1, wrong=0 if stayed else 1, first=end.lost
    )
    if stayed:
        code = end.exit_code
        how = "still running after 2 s" if code is None else f"exited with code {code}"
        yield ConformanceFinding(
            rule="the program exits after MatchEnd, with code 0",
            tried=1,
            wrong=0 if code == 0 else 1,
            first=None if code == 0 else how,
        )


def _finding(
    rule: str, troubles: Sequence[tuple[Reply, str | None]], *, required: bool = True
) -> ConformanceFinding:
    wrong = [(reply, trouble) for reply, trouble in troubles if trouble is not None]
    first = None
    if wrong:
        reply, trouble = wrong[0]
        seen = reply.view
        table = f"game {reply.game} ({rules_text(seen.rules)})"
        first = f"{table}, round {seen.round}, turn {seen.turn}: {trouble}"
    return ConformanceFinding(
        rule=rule, tried=len(troubles), wrong=len(wrong), first=first, required=required
    )


def _random_game(rules: Rules, number: int) -> GameToAsk:
    dice = random.Random(number)  # noqa: S311 - recorded games aren't secret
    seed = simulation_seed(_SEED, number)
    state = new_game(rules, shuffled_deck(rules, seed))
    steps: list[tuple[Move | None, ...]] = []
    while not state.over:
        moves: list[Move | None] = [None] * rules.players
        for seat in seats_to_move(state):
            legal = view(state, seat).legal_moves()
            # random() returns the same numbers in every version of Python.
            moves[seat] = legal[int(dice.random() * len(legal))]
        steps.append(tuple(moves))
        state = apply(state, moves)
    return GameToAsk(rules, seed.hex(), number % rules.players, tuple(steps))
