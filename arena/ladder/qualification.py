"""Decides whether a bot may play rated games: whether it qualifies, and when it is benched. Does no I/O."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena.ladder.diagnosis import (
    failed_for_network,
    last_output_line,
    network_error,
    start_error,
    text_before,
    where_choose_is,
    where_it_failed,
    where_it_was,
)
from arena.play.referee.clock import HOST_DELAY_TEXT
from arena.protocol.faults import FINAL_FAULTS, Fault
from arena.protocol.match import Decision, GameRecord, SeatReport, played_again
from arena.protocol.submissions import HINTS, Cause, CauseKind, Request, Stage
from arena.rules import Rules, view

GAMES: Final = 3
"""Number of games to play, each in a separate match with one deal."""

MAX_TIMEOUTS: Final = 2
"""Number of late decisions allowed across all games, because a host may stall."""

_TABLES: Final = (2, 3, 5)
_MAX_STDERR_LENGTH: Final = 4096

_CAUSE_KINDS: Final = {
    Fault.CRASH: CauseKind.CRASH,
    Fault.ABSENT: CauseKind.SILENT,
    Fault.EXPELLED: CauseKind.EXPELLED,
    Fault.TIMEOUT: CauseKind.SLOW,
    Fault.ILLEGAL: CauseKind.ILLEGAL,
    Fault.PROTOCOL: CauseKind.PROTOCOL,
}

MAX_REPEATS: Final = 2
"""Maximum number of times to repeat games because the host may have caused the failure."""

_HOST_RELATED_FAULTS: Final = frozenset({Fault.ABSENT, Fault.TIMEOUT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A qualification game with a verified record; ``report`` describes the bot's sandbox and stderr."""

    rules: Rules
    seat: int
    report: SeatReport
    game: GameRecord


@dataclass(frozen=True, slots=True)
class _Failure:
    """A decision with a fault."""

    game: int
    step: int
    decision: Decision
    fault: Fault


def table(game: int, house: int) -> tuple[int, int]:
    """Return the number of players and the bot's seat: first, middle or last.

    Games and seats are numbered from 0. ``house`` is the number of house bots, at least one.
    """
    players = min(_TABLES[game], house + 1)
    return players, (0, players // 2, players - 1)[game]


def _decisive_failure(played: Sequence[Played]) -> _Failure | None:
    failures = [failure for game, each in enumerate(played) for failure in _failures(game, each)]
    late = [failure for failure in failures if failure.fault is Fault.TIMEOUT]
    final = [failure for failure in failures if failure.fault in FINAL_FAULTS]
    wrong = [failure for failure in failures if failure not in late]
    # Report why the connection to the bot was lost rather than the bot's earlier faults.
    counted = final or wrong or (late if len(late) > MAX_TIMEOUTS else [])
    return counted[0] if counted else None


@dataclass(frozen=True, slots=True)
class QualificationStanding:
    """The progress of a qualification."""

    games: tuple[Played, ...]  # the games that count
    replays: int  # number of times games were discarded because the host may have delayed the bot
    cause: Cause | None  # why the bot does not qualify, or None if it has not failed so far


def standing(played: Sequence[Played]) -> QualificationStanding:
    """Return a bot's standing after its games, which are given in the order played.

    A bot fails if it never connects, if it disconnects, if it breaks the rules or the protocol, or if it is
    late more than ``MAX_TIMEOUTS`` times across all games.

    If a bot was silent or slow while the host kept it waiting, its games with faults are played again, up to
    ``MAX_REPEATS`` times. After that, the verdict is final.
    """
    games: tuple[Played, ...] = ()
    replays = 0
    cause = None
    for each in played:
        games = (*games, each)
        failure = _decisive_failure(games)
        if failure is None:
            cause = None
            continue
        cause = _cause(games, failure)
        if not _host_may_be_the_cause(failure, games):
            continue
        if replays == MAX_REPEATS:
            repeated = f"games were repeated {replays} times because the host was busy"
            cause = replace(cause, text=f"{cause.text}. Before that, {repeated}")
            break
        replays += 1
        cause = None
        games = tuple(game for game in games if not any(_failures(0, game)))
    return QualificationStanding(games, replays, cause)


def numbers(played: Sequence[Played | None]) -> tuple[int, ...]:
    """Return each game's number, from 1 to ``GAMES``; a repeated game keeps its number.

    ``played`` contains None for games that are not over or that the arena could not play.
    """
    before = [[game for game in played[:at] if game is not None] for at in range(len(played))]
    return tuple(min(len(standing(games).games) + 1, GAMES) for games in before)


def _host_may_be_the_cause(failure: _Failure, played: Sequence[Played]) -> bool:
    return failure.fault in _HOST_RELATED_FAULTS and any(map(_had_host_delay, played))


def _had_host_delay(played: Played) -> bool:
    return any(HOST_DELAY_TEXT in (failure.decision.trouble or "") for failure in _failures(0, played))


def _failures(game: int, played: Played) -> Iterator[_Failure]:
    for number, step in enumerate(played.game.steps):
        decision = step[played.seat]
        if decision is not None and decision.fault is not None:
            yield _Failure(game, number, decision, decision.fault)


def _cause(played: Sequence[Played], failure: _Failure) -> Cause:
    one = played[failure.game]
    late = sum(each.fault is Fault.TIMEOUT for game in played for each in _failures(0, game))
    report = one.report
    request = _request(failure.game, one, failure.step)
    kind = _kind(failure.fault, report)
    return Cause(
        stage=Stage.QUALIFYING,
        kind=kind,
        text=_text(kind, failure, request, report, late),
        hint=HINTS[kind],
        exit_code=report.exit_code,
        out_of_memory=report.out_of_memory,
        request=None if _never_moved(failure, report) else request,
        stderr=report.stderr[-_MAX_STDERR_LENGTH:],
    )


def _kind(fault: Fault, report: SeatReport) -> CauseKind:
    if fault in FINAL_FAULTS and (not report.limits or start_error(report.stderr)):
        return CauseKind.START
    if fault in FINAL_FAULTS and report.out_of_memory:
        return CauseKind.MEMORY
    if fault in {Fault.CRASH, Fault.ABSENT, Fault.TIMEOUT} and failed_for_network(report.stderr):
        return CauseKind.NETWORK
    return _CAUSE_KINDS[fault]


def _text(kind: CauseKind, failure: _Failure, request: Request, report: SeatReport, late: int) -> str:
    where = f"in game {request.game} of {GAMES}, round {request.round}, turn {request.turn}"
    trouble = failure.decision.trouble or failure.fault.value
    how = report.trouble or trouble
    match failure.fault:
        case _ if kind is CauseKind.START:
            text = f"the bot could not be started: {start_error(report.stderr) or how}"
        case Fault.ABSENT:
            text = f"the bot sent no Hello to the referee: {how}"
        case Fault.CRASH if _never_moved(failure, report):
            text = f"the bot disconnected before its first move: {how}"
        case Fault.CRASH:
            text = f"the bot disconnected {where}: {how}"
        case Fault.EXPELLED:
            text = f"the referee disconnected the bot {where}: {how}"
        case Fault.TIMEOUT:
            text = f"the bot was too slow {where}: {trouble}. It was late {late} times (limit {MAX_TIMEOUTS})"
        case Fault.ILLEGAL:
            text = f"the bot made an illegal move {where}: {trouble}"
        case Fault.PROTOCOL:
            text = f"the bot broke the protocol {where}: {trouble}"
    return "; ".join([text, *_details(kind, failure, request, report)])


def _details(kind: CauseKind, failure: _Failure, request: Request, report: SeatReport) -> Iterator[str]:
    """Yield additional details from the bot's stderr."""
    if kind is CauseKind.NETWORK:
        line = network_error(report.stderr)
        yield f"it tried to use the network, but bots have no network access: {line}"
    if kind is CauseKind.CRASH and _never_moved(failure, report) and report.exit_code == 0:
        yield "exiting with code 0 before Hello usually means that run() was never called"
    if failure.fault in {Fault.CRASH, Fault.ABSENT} and kind is not CauseKind.START:
        yield from _exit_position(failure.fault, report.stderr)
    if failure.fault not in FINAL_FAULTS:  # the bot keeps running, so it may have printed more
        yield from _fault_position(failure.fault, request, report.stderr)


def _exit_position(fault: Fault, stderr: str) -> Iterator[str]:
    was = where_it_was(stderr) if fault is Fault.ABSENT else None
    where = where_it_failed(stderr)
    if was is not None:
        yield f"when its time ran out, it was in {was}"
    elif where is not None:
        yield where


def _fault_position(fault: Fault, request: Request, stderr: str) -> Iterator[str]:
    # A submission's match has one game, number 0 in the protocol.
    notice = f"game 0, round {request.round}, turn {request.turn}: {fault.value}"
    before = text_before(stderr, notice)
    where = where_it_failed(before)
    last = last_output_line(stderr, notice)
    was = where_it_was(before) if fault is Fault.TIMEOUT else None
    if was is not None:
        yield f"when its time ran out, it was in {was}"
    elif where is not None:
        yield f"its stderr shows {where}"
    elif last is not None:
        yield f"its last line of output: {last}"
    place = where_choose_is(stderr) if fault is Fault.ILLEGAL else None
    if place is not None:
        yield place


def _never_moved(failure: _Failure, report: SeatReport) -> bool:
    """Return True if the bot was lost before its Hello, or at its first decision without having named an SDK.

    A crash before the Hello is also recorded at the first decision. Only the name of the SDK, which comes
    with the Hello, distinguishes such a crash from a later one.
    """
    return failure.fault is Fault.ABSENT or (
        failure.fault in FINAL_FAULTS and not report.sdk and failure.step == 0
    )


def _request(game: int, played: Played, step: int) -> Request:
    """Return the request at a step, found by replaying the game up to it."""
    seen = view(played_again(played.rules, played.game).states[step], played.seat)
    return Request(
        game=game + 1,
        players=played.rules.players,
        seat=played.seat,
        round=seen.round,
        turn=seen.turn,
        hand=tuple(card.label for card in seen.hand),
    )


BENCHING_WINDOW: Final = 10
"""Number of the active version's latest rated matches that count towards benching.

Matches before the bot was last reactivated after benching never count. The unit is the match, because one
crash ends all of a match's games that are in progress. Only its last game counts: a bot that was lost has
missed it, whereas one that is sometimes too slow has usually played it."""

BENCHING_FAILURES: Final = 5
"""A bot is benched if the stand-in finished the last game of at least this many matches in the window."""


def keeps_failing(taken_over: Sequence[bool]) -> bool:
    """Return True if a bot must be benched.

    ``taken_over`` is True for matches whose last game the stand-in finished.
    """
    return sum(taken_over[-BENCHING_WINDOW:]) >= BENCHING_FAILURES


def benching_reason(taken_over: Sequence[bool], last: str) -> str:
    """Return the public reason for benching a bot. ``last`` describes the most recent failure."""
    window = taken_over[-BENCHING_WINDOW:]
    return (
        f"the stand-in had to finish the last game in {sum(window)} of the bot's last {len(window)} rated "
        f"matches; most recently: {last}"
    )
