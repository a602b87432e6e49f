"""Plays a worker's record again before anything in it is believed."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.match import Decision, GameRecord, MatchRecord, MatchSpec
from arena.recorded import move_of, played_again
from arena.referee.faults import stand_in
from arena.referee.places import places_with_faults, taken_over
from arena.rules import Result, Rules, State, view


class RecordRefused(ValueError):
    """The record is not one of this match, or the rules can't have produced it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedGame:
    """A game that the rules agree with.

    Attributes:
        record: As it came.
        states: From the deal to the end of the game; each step of the record begins in the one of its index.
        result: Of the last of them.
        faults: How many, one a seat.
        taken_over: Whether the stand-in played the seat to the end, one a seat.
        places: Those that count, one a seat.
    """

    record: GameRecord
    states: tuple[State, ...]
    result: Result
    faults: tuple[int, ...]
    taken_over: tuple[bool, ...]
    places: tuple[int, ...]

    @property
    def state(self) -> State:
        """At the end of the game."""
        return self.states[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSteps:
    """Steps of a game that the rules agree with.

    Attributes:
        states: From the deal on, one more than there are steps.
        faults: How many, one a seat.
        moments: At which step the stand-in took the seat over, or None; one a seat.
    """

    states: tuple[State, ...]
    faults: tuple[int, ...]
    moments: tuple[int | None, ...]


def check_record(spec: MatchSpec, record: MatchRecord) -> tuple[CheckedGame, ...]:
    """Play every game of a record again.

    Raises:
        RecordRefused: It names the first thing that is wrong.
    """
    if (record.match, record.attempt) != (spec.match, spec.attempt):
        raise RecordRefused(
            f"the record is of match {record.match}, attempt {record.attempt}, "
            f"not of match {spec.match}, attempt {spec.attempt}"
        )
    if len(record.seats) != spec.rules.players:
        raise RecordRefused(f"the record has {len(record.seats)} seats, the match {spec.rules.players}")
    if tuple(seat.image for seat in record.seats) != spec.seats:
        raise RecordRefused("the record is of other images than the match")
    seeds = tuple(game.seed for game in record.games)
    if not seeds or seeds != spec.seeds[: len(seeds)]:
        raise RecordRefused("the games of the record are not those of the match, from the first on")
    if len(seeds) < len(spec.seeds) and not any(seat.trouble for seat in record.seats):
        raise RecordRefused(f"{len(seeds)} of {len(spec.seeds)} games were played, and no bot was lost")
    return tuple(_check_game(spec.rules, index, game) for index, game in enumerate(record.games))


def _check_game(rules: Rules, index: int, game: GameRecord) -> CheckedGame:
    steps = check_steps(rules, index, game)
    state = steps.states[-1]
    if state.result is None:
        raise RecordRefused(f"game {index} ends in round {state.round}, turn {state.turn}")
    if game.totals != state.result.totals:
        told, true = (_points(totals) for totals in (game.totals, state.result.totals))
        raise RecordRefused(f"game {index}: the record counts {told}, the rules {true}")
    return CheckedGame(
        record=game,
        states=steps.states,
        result=state.result,
        faults=steps.faults,
        taken_over=tuple(moment is not None for moment in steps.moments),
        places=places_with_faults(state.result.places, steps.moments),
    )


def _points(totals: Sequence[int]) -> str:
    return f"{', '.join(map(str, totals)) or 'no'} points"


def check_steps(rules: Rules, index: int, game: GameRecord) -> CheckedSteps:
    """Play the steps of a game again, as many as there are.

    Raises:
        RecordRefused: It names the first thing that is wrong.
    """
    try:
        played = played_again(rules, game)
    except ValueError as error:
        raise RecordRefused(f"game {index}: {error}") from error
    state = played.state
    # The steps that the rules allow, first: one wrong move can make a later one illegal.
    for before, step in zip(played.states[:-1], game.steps, strict=False):
        _check_moves_of_stand_in(index, before, step)
    if played.stopped is not None:
        raise RecordRefused(f"game {index}, round {state.round}, turn {state.turn}: {played.stopped}")
    faults = [[decision.fault if decision else None for decision in step] for step in game.steps]
    moments = taken_over(faults, rules.players)
    _check_stand_in(index, game, moments)
    return CheckedSteps(
        states=played.states,
        faults=tuple(sum(row[seat] is not None for row in faults) for seat in range(rules.players)),
        moments=moments,
    )


def _check_moves_of_stand_in(index: int, before: State, step: Sequence[Decision | None]) -> None:
    for seat, decision in enumerate(step):
        if decision is not None and decision.standin and move_of(decision) != stand_in(view(before, seat)):
            raise RecordRefused(
                f"game {index}, round {before.round}, turn {before.turn}, seat {seat}: "
                "that is not the stand-in's move"
            )


def _check_stand_in(index: int, game: GameRecord, moments: Sequence[int | None]) -> None:
    """The stand-in plays where there is a fault and after a take-over, and nowhere else."""
    for number, step in enumerate(game.steps):
        for seat, (decision, moment) in enumerate(zip(step, moments, strict=True)):
            if decision is None:
                continue
            after = moment is not None and number > moment
            if after and decision.fault is not None:
                raise RecordRefused(f"game {index}, seat {seat}: a fault after the stand-in had taken over")
            if decision.standin != (after or decision.fault is not None):
                raise RecordRefused(
                    f"game {index}, decision {number}, seat {seat}: the stand-in plays where there is "
                    "a fault and after it has taken over, and nowhere else"
                )
