"""Verifies a worker's record by replaying its games under the rules."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from arena.db.matches import Claim, FinishedGame, FinishedMatch
from arena.ladder.card_counts import count_game
from arena.platform.names import HOUSE
from arena.play.launcher import MatchVoid
from arena.play.referee.clock import SeatClock
from arena.play.replay.document import Seat, build, encode
from arena.protocol.faults import Fault, places_with_faults, stand_in, taken_over
from arena.protocol.match import Decision, GameRecord, MatchRecord, MatchSpec, decode, move_of, played_again
from arena.rules import Rules, State, view

_ROUNDING_SECONDS: Final = 0.001
"""Tolerance for rounding errors, which add up: dozens of durations per game are rounded to microseconds."""


class RecordRefused(ValueError):
    """The record can't be trusted; the message describes the first error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedGame:
    """A game, possibly unfinished, whose record follows the rules."""

    record: GameRecord
    states: tuple[State, ...]  # from the deal on; step i of the record begins in state i
    faults: tuple[int, ...]  # number per seat
    moments: tuple[int | None, ...]  # per seat, the step at which the stand-in took over, or None

    @property
    def state(self) -> State:
        """The state after the last step."""
        return self.states[-1]

    @property
    def taken_over(self) -> tuple[bool, ...]:
        """Per seat, whether the stand-in took over."""
        return tuple(moment is not None for moment in self.moments)

    @property
    def places(self) -> tuple[int, ...]:
        """The final place per seat, with taken-over seats last; empty if the game is unfinished."""
        result = self.state.result
        return () if result is None else places_with_faults(result.places, self.moments)


def check_record(spec: MatchSpec, record: MatchRecord) -> tuple[CheckedGame, ...]:
    """Verify every game in a record. Raises RecordRefused."""
    if (record.match, record.attempt) != (spec.match, spec.attempt):
        raise RecordRefused(
            f"the record is for match {record.match}, attempt {record.attempt}, "
            f"not for match {spec.match}, attempt {spec.attempt}"
        )
    if len(record.seats) != spec.rules.players:
        raise RecordRefused(f"the record has {len(record.seats)} seats instead of {spec.rules.players}")
    if tuple(seat.image for seat in record.seats) != spec.seats:
        raise RecordRefused("the record's images differ from the match's")
    seeds = tuple(game.seed for game in record.games)
    if not seeds or seeds != spec.seeds[: len(seeds)]:
        raise RecordRefused("the record's games differ from the match's, or are in a different order")
    if len(seeds) < len(spec.seeds) and not any(seat.trouble for seat in record.seats):
        raise RecordRefused(f"only {len(seeds)} of {len(spec.seeds)} games were played, but no bot was lost")
    for index, game in enumerate(record.games):
        _check_clock(spec, index, game)
    return tuple(_check_game(spec.rules, index, game) for index, game in enumerate(record.games))


def _check_clock(spec: MatchSpec, index: int, game: GameRecord) -> None:
    """Check that all times are valid and that no late answers were accepted."""
    for seat in range(max(map(len, game.steps), default=0)):
        if spec.bots(index)[seat] == spec.person:
            continue
        time = SeatClock.of(spec.clock)
        for number, step in enumerate(game.steps):
            decision = step[seat] if seat < len(step) else None
            if decision is None:
                continue
            recorded = (decision.millis, decision.waited_millis)
            if any(millis is not None and not 0 <= millis < math.inf for millis in recorded):
                raise RecordRefused(
                    f"game {index}, decision {number}, seat {seat}: invalid times {recorded} ms"
                )
            taken = (decision.millis or 0.0) / 1000
            if decision.fault is Fault.TIMEOUT:
                taken = time.allowance
            elif decision.fault is None and taken > time.allowance + _ROUNDING_SECONDS:
                raise RecordRefused(
                    f"game {index}, decision {number}, seat {seat}: an answer was accepted after "
                    f"{taken:.3f} s, but only {time.allowance:.3f} s were left"
                )
            time = time.spend(taken)


def _check_game(rules: Rules, index: int, game: GameRecord) -> CheckedGame:
    checked = check_steps(rules, index, game)
    state = checked.state
    if state.result is None:
        raise RecordRefused(f"game {index} is unfinished: it stops in round {state.round}, turn {state.turn}")
    if game.totals != state.result.totals:
        recorded, correct = (_points(totals) for totals in (game.totals, state.result.totals))
        raise RecordRefused(f"game {index}: the record has {recorded}, but the rules give {correct}")
    return checked


def _points(totals: Sequence[int]) -> str:
    return f"{', '.join(map(str, totals)) or 'no'} points"


def check_steps(rules: Rules, index: int, game: GameRecord) -> CheckedGame:
    """Replay the steps of a possibly unfinished game. Raises RecordRefused if a step is wrong."""
    try:
        played = played_again(rules, game)
    except ValueError as error:
        raise RecordRefused(f"game {index}: {error}") from error
    state = played.state
    # Check the stand-in's moves before reporting an illegal step: a wrong move may be what made it illegal.
    for before, step in zip(played.states[:-1], game.steps, strict=False):
        _check_moves_of_stand_in(index, before, step)
    if played.stopped is not None:
        raise RecordRefused(f"game {index}, round {state.round}, turn {state.turn}: {played.stopped}")
    faults = [[decision.fault if decision else None for decision in step] for step in game.steps]
    moments = taken_over(faults, rules.players)
    _check_stand_in(index, game, moments)
    return CheckedGame(
        record=game,
        states=played.states,
        faults=tuple(sum(row[seat] is not None for row in faults) for seat in range(rules.players)),
        moments=moments,
    )


def _check_moves_of_stand_in(index: int, before: State, step: Sequence[Decision | None]) -> None:
    for seat, decision in enumerate(step):
        if decision is not None and decision.standin and move_of(decision) != stand_in(view(before, seat)):
            raise RecordRefused(
                f"game {index}, round {before.round}, turn {before.turn}, seat {seat}: "
                "the stand-in would have played another move"
            )


def _check_stand_in(index: int, game: GameRecord, moments: Sequence[int | None]) -> None:
    """Check that the stand-in plays after each fault and after a take-over, and at no other time."""
    for number, step in enumerate(game.steps):
        for seat, (decision, moment) in enumerate(zip(step, moments, strict=True)):
            if decision is None:
                continue
            after = moment is not None and number > moment
            if after and decision.fault is not None:
                raise RecordRefused(f"game {index}, seat {seat}: a fault after the stand-in had taken over")
            if decision.standin != (after or decision.fault is not None):
                raise RecordRefused(
                    f"game {index}, decision {number}, seat {seat}: the stand-in must play after a fault or "
                    "a take-over, and at no other time"
                )


def verified_match(claim: Claim, data: bytes, ended: datetime) -> FinishedMatch:
    """Verify the encoded record of a claimed match and prepare it for the store; ``ended`` is in UTC.

    Raises RecordRefused, or MatchVoid if the record is correct but shows an arena fault.
    """
    try:
        record = decode(data, MatchRecord)
    except ValueError as error:
        raise RecordRefused(f"the record can't be read: {error}") from error
    checked = check_record(claim.spec, record)
    _check_attendance(claim, checked)
    return FinishedMatch(
        match=record.match,
        attempt=record.attempt,
        reports=record.seats,
        games=tuple(_finished_game(claim, index, game) for index, game in enumerate(checked)),
        ended=ended,
        launch_seconds=record.launch_seconds,
    )


_LOST_BOT_FAULTS: Final = frozenset({Fault.ABSENT, Fault.CRASH})


def _check_attendance(claim: Claim, games: Sequence[CheckedGame]) -> None:
    """Check that any absences were the bots' own fault. Raises MatchVoid if the host was at fault.

    House bots always send Hello and play, so the host was at fault if a house bot was absent, or if no bot at
    a table with a house bot played a card. It was also at fault if all bots in a rated match were absent.
    This last rule doesn't apply to challenges: all bots in a challenge may belong to one author, who could
    void matches on purpose.
    """
    absent = {
        bot
        for index, game in enumerate(games)
        for step in game.record.steps
        for bot, decision in zip(claim.spec.bots(index), step, strict=True)
        if decision is not None and decision.fault is Fault.ABSENT
    }
    if claim.rated and len(absent) == len(claim.seats):
        raise MatchVoid("no bots sent Hello in time: the host was too busy to start them")
    missing = [claim.seats[bot].bot for bot in sorted(absent) if claim.seats[bot].author == HOUSE]
    if missing:
        raise MatchVoid(
            f"house bots did not send Hello in time ({', '.join(missing)}): the host was too busy to start "
            "them"
        )
    house = [seat.bot for seat in claim.seats if seat.author == HOUSE]
    first = games[0].record.steps[0]
    if house and all(decision is not None and decision.fault in _LOST_BOT_FAULTS for decision in first):
        raise MatchVoid(f"no bot played a card, not even the house bots {', '.join(house)}: the host failed")


def _finished_game(claim: Claim, index: int, game: CheckedGame) -> FinishedGame:
    players = claim.spec.rules.players
    name = f"{claim.spec.match}-{index}"
    replay = build(
        game=name,
        seed=game.record.seed,
        state=game.state,
        seats=[Seat(bot=seat.bot, version=seat.number, author=seat.author) for seat in claim.seated(index)],
        places=game.places,
        steps=game.record.steps,
    )
    return FinishedGame(
        id=name,
        bots=claim.spec.bots(index),
        record=game.record,
        replay=encode(replay).decode(),
        points=replay.totals[:players],
        after_two=game.state.scores_after(2)[:players],
        puddings=replay.puddings.counts[:players],
        places=game.places,
        faults=game.faults,
        taken_over=game.taken_over,
        cards=count_game(game.states, game.record.steps, game.places, game.taken_over),
    )
