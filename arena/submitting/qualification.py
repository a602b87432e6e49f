"""Which games a bot has to play before it may be rated, and what became of it in them. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from arena.match import Decision, Fault, GameRecord, SeatReport
from arena.recorded import played_again
from arena.referee.faults import FINAL_FAULTS
from arena.rules import Rules, view
from arena.submitting.hints import HINTS
from arena.submitting.stages import Cause, CauseKind, Request, Stage

GAMES: Final = 3
"""Games to play, each a match of its own with one deal."""

MOST_TIMEOUTS: Final = 2
"""Decisions that may come too late in all of them: a host may have a hiccup."""

_TABLES: Final = (2, 3, 5)
_STDERR_CHARACTERS: Final = 4096

_KINDS: Final = {
    Fault.CRASH: CauseKind.CRASH,
    Fault.ABSENT: CauseKind.SILENT,
    Fault.EXPELLED: CauseKind.EXPELLED,
    Fault.TIMEOUT: CauseKind.SLOW,
    Fault.ILLEGAL: CauseKind.ILLEGAL,
    Fault.PROTOCOL: CauseKind.PROTOCOL,
}

_CANNOT_START: Final = re.compile(r"^arena: can't start .*", re.MULTILINE)
"""What the init of a bot's container says."""

_WANTS_NETWORK: Final = re.compile(
    r"network is unreachable|name resolution|name or service not known|nodename nor servname"
    r"|could not resolve|unknown host|no such host|no route to host|getaddrinfo"
    r"|ENETUNREACH|EAI_AGAIN|ENOTFOUND",
    re.IGNORECASE,
)
"""What libraries of many languages say where there is no network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A qualification game, as its match was recorded and checked.

    Attributes:
        rules: What was played.
        seat: The bot's.
        report: What became of its sandbox, with what it printed.
        game: The record.
    """

    rules: Rules
    seat: int
    report: SeatReport
    game: GameRecord


@dataclass(frozen=True, slots=True)
class _Failure:
    """A decision that was not the bot's own."""

    game: int
    step: int
    decision: Decision
    fault: Fault


def table(game: int, house: int) -> tuple[int, int]:
    """Return how many play a game, and where the bot sits: first, in the middle, last.

    Args:
        game: From 0 to ``GAMES`` - 1.
        house: How many bots of the house there are, at least one.
    """
    players = min(_TABLES[game], house + 1)
    return players, (0, players // 2, players - 1)[game]


def judge(played: Sequence[Played]) -> Cause | None:
    """Return why a bot does not qualify, or None while nothing speaks against it.

    It fails with a decision after which there was no bot any more, with one that the rules or the protocol
    forbid, and with more than ``MOST_TIMEOUTS`` late ones in all games.

    Args:
        played: The games so far, in their order.
    """
    failures = [failure for game, each in enumerate(played) for failure in _failures(game, each)]
    late = [failure for failure in failures if failure.fault is Fault.TIMEOUT]
    final = [failure for failure in failures if failure.fault in FINAL_FAULTS]
    wrong = [failure for failure in failures if failure not in late]
    # Why it went is worth more than how it limped before.
    if final:
        return _cause(played, final[0], late)
    if wrong:
        return _cause(played, wrong[0], late)
    if len(late) > MOST_TIMEOUTS:
        return _cause(played, late[0], late)
    return None


def _failures(game: int, played: Played) -> Iterator[_Failure]:
    for number, step in enumerate(played.game.steps):
        decision = step[played.seat]
        if decision is not None and decision.fault is not None:
            yield _Failure(game, number, decision, decision.fault)


def _cause(played: Sequence[Played], failure: _Failure, late: Sequence[_Failure]) -> Cause:
    one = played[failure.game]
    report = one.report
    request = _request(failure.game, one, failure.step)
    kind = _kind(failure.fault, report)
    return Cause(
        stage=Stage.QUALIFYING,
        kind=kind,
        text=_text(kind, failure, request, report, len(late)),
        hint=HINTS[kind],
        exit_code=report.exit_code,
        out_of_memory=report.out_of_memory,
        request=None if _played_nothing(failure, report) else request,
        stderr=report.stderr[-_STDERR_CHARACTERS:],
    )


def _kind(fault: Fault, report: SeatReport) -> CauseKind:
    if fault in FINAL_FAULTS and (not report.limits or _CANNOT_START.search(report.stderr)):
        return CauseKind.START
    if fault in FINAL_FAULTS and report.out_of_memory:
        return CauseKind.MEMORY
    if fault in {Fault.CRASH, Fault.ABSENT, Fault.TIMEOUT} and _WANTS_NETWORK.search(report.stderr):
        return CauseKind.NETWORK
    if fault is Fault.ABSENT and report.exit_code is not None:
        return CauseKind.CRASH
    return _KINDS[fault]


def _text(kind: CauseKind, failure: _Failure, request: Request, report: SeatReport, late: int) -> str:
    where = f"in game {request.game} of {GAMES}, round {request.round}, turn {request.turn}"
    said = failure.decision.trouble or failure.fault.value
    how = report.trouble or said
    match failure.fault:
        case _ if kind is CauseKind.START:
            text = f"the bot could not be started: {_line(_CANNOT_START, report.stderr) or how}"
        case Fault.ABSENT:
            text = f"the bot never connected to the referee: {how}"
        case Fault.CRASH if _played_nothing(failure, report):
            text = f"the bot was gone before its first move: {how}"
        case Fault.CRASH:
            text = f"the bot was gone {where}: {how}"
        case Fault.EXPELLED:
            text = f"the bot was sent away {where}: {how}"
        case Fault.TIMEOUT:
            text = f"the bot was too slow {where}: {said}. It was late {late} times, {MOST_TIMEOUTS} pass"
        case Fault.ILLEGAL:
            text = f"the bot made a move that the rules forbid, {where}: {said}"
        case Fault.PROTOCOL:
            text = f"the bot sent what the protocol forbids, {where}: {said}"
    if kind is CauseKind.NETWORK:
        text += (
            f"; it tried to reach the network, which bots don't have: {_line(_WANTS_NETWORK, report.stderr)}"
        )
    return text


def _played_nothing(failure: _Failure, report: SeatReport) -> bool:
    """Whether it went before it said Hello, or with its very first decision."""
    return failure.fault is Fault.ABSENT or (
        failure.fault in FINAL_FAULTS and not report.sdk and failure.step == 0
    )


def _line(wanted: re.Pattern[str], stderr: str) -> str | None:
    return next((line.strip() for line in reversed(stderr.splitlines()) if wanted.search(line)), None)


def _request(game: int, played: Played, step: int) -> Request:
    """Return what was asked, by playing the game up to there."""
    seen = view(played_again(played.rules, played.game).states[step], played.seat)
    return Request(
        game=game + 1,
        players=played.rules.players,
        seat=played.seat,
        round=seen.round,
        turn=seen.turn,
        hand=tuple(card.label for card in seen.hand),
    )
