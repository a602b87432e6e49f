"""Analyses a recorded game with playouts: finishes the game many times from each position and option.

In a playout, identical simple players (:mod:`arena.sdk.search`) finish the round, and the results of later
rounds are drawn from samples. All of a decision's options are tried with the same deals and the same first
moves by the other seats, so differences in value reflect quality, not luck. An analysis also contains the
house bots' choices.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from math import sqrt
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from types import MappingProxyType
from typing import Final

from arena.play.analysis.futures import NOISE, Futures
from arena.play.analysis.grading import grade, summaries, turning_points
from arena.play.botfiles import FILE, BotBroken, bot_names, load_bot
from arena.play.replay.document import PublicReplay, labels
from arena.play.replay.verify import RecordedDecision, decisions, log_of
from arena.protocol.analysis import (
    ANALYSIS_FORMAT,
    AnalysedDecision,
    AnalysedTurn,
    Analysis,
    Grade,
    Option,
    Outlook,
)
from arena.rules import Move, State, View, check_move, replay, seat_view
from arena.sdk.bot import Bot, as_move, new_chooser
from arena.sdk.search import World, decode, encode, playout, simple_move, worlds

ANALYST: Final = "playouts"
VERSION: Final = 2
"""Version of the analyst: increase it with every change that affects results."""
PLAYOUTS: Final = 600
"""Default number of playouts. With it, analysing a game takes at most about 20 s of CPU time."""
_FINALISTS: Final = 6
"""A quarter of the playouts try all options. The rest try only this many of the best, and the one played."""
_DIGITS: Final = 4

Deal = Callable[[Random], World]


def analyse(
    recorded: PublicReplay,
    *,
    seed: int = 0,
    playouts: int = PLAYOUTS,
    bots: Mapping[str, Bot] = MappingProxyType({}),
) -> Analysis:
    """Analyse a game; the same arguments give the same numbers.

    ``playouts``, which must be at least ``MIN_PLAYOUTS``, is the number of playouts for each position, each
    of the best options and the option played. Other options get a quarter of that number. The analysis
    includes the moves that ``bots`` would have played. Raises InvalidReplay if the game breaks the rules; the
    message describes the first difference.
    """
    recorded_decisions = decisions(recorded)
    states = replay(log_of(recorded)).states
    futures = {
        number: Futures(next(group), _random(seed, number))
        for number, group in groupby(states[:-1], key=lambda state: state.round)
    }
    turns = tuple(
        turn_of(state, futures[state.round], _random(seed, step), playouts)
        for step, state in enumerate(states[:-1])
    )
    others = house_moves(bots, recorded_decisions, len(recorded.seats), seed)
    graded = tuple(
        judged(each, futures[each.view.round], _random(seed, each.step, each.view.seat), playouts, moves)
        for each, moves in zip(recorded_decisions, others, strict=True)
    )
    result = _first_place_shares(recorded.rules_places)
    return Analysis(
        format=ANALYSIS_FORMAT,
        analyst=ANALYST,
        version=VERSION,
        playouts=playouts,
        seed=seed,
        game=recorded.game,
        turns=turns,
        result=result,
        decisions=graded,
        seats=summaries(turns, result, graded),
        turning_points=turning_points(turns, result),
    )


def _random(*parts: int) -> Random:
    return Random("/".join(map(str, parts)))  # noqa: S311 - must be reproducible


def _first_place_shares(places: Sequence[int]) -> tuple[float, ...]:
    return tuple([1 / places.count(1) if place == 1 else 0.0 for place in places])


def turn_of(state: State, futures: Futures, rng: Random, playouts: int) -> AnalysedTurn:
    """Return the seats' outlooks before a turn. ``futures`` must be for the same round."""
    seats = range(state.rules.players)
    return AnalysedTurn(
        round=state.round,
        turn=state.turn,
        known=tuple(
            [_outlooks(worlds(seat_view(state, seat)), futures, rng, playouts)[seat] for seat in seats]
        ),
        dealt=_outlooks(_deal_actual_hands(state), futures, rng, playouts),
    )


def _deal_actual_hands(state: State) -> Deal:
    """Return a function that deals the actual hands."""
    deal = worlds(seat_view(state, 0))

    def as_dealt(rng: Random) -> World:
        world = deal(rng)
        world.hands = [[int(card) for card in hand] for hand in state.hands]
        world.pile = [int(card) for card in reversed(state.pile)]
        return world

    return as_dealt


def _outlooks(deal: Deal, futures: Futures, rng: Random, playouts: int) -> tuple[Outlook, ...]:
    ends = []
    for _ in range(playouts):
        world = deal(rng)
        playout(world, rng, NOISE)
        ends.append(futures.outlooks(world, futures.draw(rng)))
    chances, points = (list(zip(*part, strict=True)) for part in zip(*ends, strict=True))
    return tuple(
        [
            Outlook(chance=round(fmean(a), _DIGITS), points=round(fmean(b), _DIGITS))
            for a, b in zip(chances, points, strict=True)
        ]
    )


@dataclass(slots=True)
class _OptionResults:
    """A seat's results with one option, one entry per playout."""

    chances: list[float] = field(default_factory=list)
    points: list[float] = field(default_factory=list)

    @property
    def value(self) -> tuple[float, float]:
        """Sort key for options: the chance, then the points."""
        return fmean(self.chances), fmean(self.points)


def judged(
    decision: RecordedDecision,
    futures: Futures,
    rng: Random,
    playouts: int,
    others: Mapping[str, Move] = MappingProxyType({}),
) -> AnalysedDecision:
    """Return a decision with the values of all its options.

    ``futures`` must be for the same round. ``others`` are the house bots' choices, keyed by bot name.
    """
    view = decision.view
    deal = worlds(view)
    options = deal(rng).moves(view.seat)
    played = _option_code(decision.move, options)
    tries = {option: _OptionResults() for option in options}
    first_playouts = max(2, playouts // 4)
    _try_out(options, first_playouts, view, deal, futures, rng, tries)
    order = sorted(options, key=lambda option: tries[option].value, reverse=True)
    finalists = order[:_FINALISTS]
    if played not in finalists:
        finalists.append(played)
    _try_out(finalists, playouts - first_playouts, view, deal, futures, rng, tries)
    finalists.sort(key=lambda option: tries[option].value, reverse=True)
    order = finalists + [option for option in order if option not in finalists]
    house = {name: order.index(_option_code(move, options)) for name, move in others.items()}
    return _analysed_decision(decision, order, played, tries, house)


def _option_code(move: Move, options: Sequence[int]) -> int:
    """Return a move's code in ``options``, which list a pair of cards only once if the order can't matter."""
    code = encode(move)
    return code if code in options else encode(Move(move.cards[::-1], move.dummy))


def _try_out(  # noqa: PLR0913, PLR0917 - private, and called twice
    options: Sequence[int],
    count: int,
    view: View,
    deal: Deal,
    futures: Futures,
    rng: Random,
    tries: dict[int, _OptionResults],
) -> None:
    seat, seats = view.seat, range(view.rules.players)
    for _ in range(count):
        world, drawn = deal(rng), futures.draw(rng)
        moves = [0 if other == seat else simple_move(world, other, rng, NOISE) for other in seats]
        for option in options:
            trial = world.copy()
            moves[seat] = option
            trial.step(moves)
            playout(trial, rng, NOISE)
            chances, points = futures.outlooks(trial, drawn)
            tries[option].chances.append(chances[seat])
            tries[option].points.append(points[seat])


def _analysed_decision(
    decision: RecordedDecision,
    order: Sequence[int],
    played: int,
    tries: dict[int, _OptionResults],
    house: dict[str, int],
) -> AnalysedDecision:
    best, own = tries[order[0]], tries[played]
    # The best option and the one played were tried with the same deals, so the differences vary less than
    # the values themselves.
    differences = [a - b for a, b in zip(best.chances, own.chances, strict=True)]
    lost, margin = fmean(differences), 2 * stdev(differences) / sqrt(len(differences))
    return AnalysedDecision(
        round=decision.view.round,
        turn=decision.view.turn,
        seat=decision.view.seat,
        standin=decision.standin,
        options=tuple([_option(decode(code), tries[code]) for code in order]),
        played=order.index(played),
        house=house,
        lost_chance=round(lost, _DIGITS),
        lost_points=round(best.value[1] - own.value[1], _DIGITS),
        margin=round(margin, _DIGITS),
        grade=Grade.BEST if played == order[0] else grade(lost, margin),
    )


def _option(move: Move, tries: _OptionResults) -> Option:
    chance, points = (round(value, _DIGITS) for value in tries.value)
    dummy = None if move.dummy is None else move.dummy.label
    return Option(cards=labels(move.cards), dummy=dummy, chance=chance, points=points)


_AIMLESS: Final = frozenset({"random"})
"""Bots whose choices are not informative."""


def house_bots(folder: Path) -> dict[str, Bot]:
    """Return a folder's house bots that are written in Python and play to win, keyed by name.

    Bots that can't be loaded are left out.
    """
    bots = {}
    for name in bot_names(folder):
        if name not in _AIMLESS:
            with suppress(BotBroken):
                bots[name] = load_bot(folder / name / FILE)
    return bots


def house_moves(
    bots: Mapping[str, Bot], recorded: Sequence[RecordedDecision], seats: int, seed: int
) -> list[dict[str, Move]]:
    """Return the bots' moves for each decision, keyed by bot name. These moves don't change the game.

    A bot that raises an exception or plays an illegal move has no entry for that decision. The same arguments
    give the same moves.
    """
    found: list[dict[str, Move]] = [{} for _ in recorded]
    before = random.getstate()  # bots draw from the shared generator
    try:
        for name, bot in bots.items():
            choosers = [new_chooser(bot) for _ in range(seats)]
            for moves, (step, view, *_) in zip(found, recorded, strict=True):
                random.seed(f"{seed}/{step}/{view.seat}/{name}")
                try:
                    move = as_move(choosers[view.seat].choose(view), view)
                    check_move(view.seat, view.hand, view.tables[view.seat], move, control=view.control)
                except Exception:  # noqa: BLE001, S112 - a modified sample bot may raise anything
                    continue
                moves[name] = move
    finally:
        random.setstate(before)
    return found
