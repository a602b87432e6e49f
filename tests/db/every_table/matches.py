"""Matches, of every kind and in every state."""

import json
from dataclasses import dataclass, replace

from arena.protocol.match import Clock, Limits
from arena.rules import Rules
from tests.db.every_table import bots, submissions
from tests.db.every_table.bots import CHEAT, GREEDY, LEFT, NEW, OLD, RETIRED, TIRED, Version
from tests.db.every_table.moments import at


@dataclass(frozen=True, kw_only=True)
class Match:
    """A match.

    Attributes:
        number: Its own.
        rules: What is played.
        seats: Versions, and numbers of submissions that are none yet.
        kind: What it is for.
        state: How far it is.
        games: How many were played.
        faults: How often a decision is a fault.
        others: Columns of its row that are of interest.
    """

    number: int
    rules: Rules
    seats: tuple[Version | int, ...]
    kind: str = "rated"
    state: str = "done"
    games: int = 1
    faults: float = 0
    others: tuple[tuple[str, object], ...] = ()

    @property
    def id(self) -> str:
        """Give its id; one is as long as can be."""
        return f"match-{self.number}".ljust(64 if self.number == 1 else 0, "-")

    @property
    def seeds(self) -> list[str]:
        """Give the seeds of its deals."""
        return [f"{self.number:016x}{deal:016x}" for deal in range(max(1, self.games))]


TWO = Rules(players=2)
FAULTY = Match(number=1, rules=Rules(players=3), seats=(OLD, GREEDY, LEFT), games=3, faults=0.1)
CHEATED = Match(number=2, rules=replace(TWO, dummy=True, soy_sauce=True), seats=(GREEDY, CHEAT))
AGAIN = Match(
    number=3,
    rules=Rules(players=4, pass_both_ways=True),
    seats=(GREEDY, NEW, LEFT, TIRED),
    games=2,
    others=(("attempt", 3), ("voids", 2), ("reason", "engine gone \N{SUSHI}")),
)
SILENT = Match(number=4, rules=TWO, seats=(NEW, RETIRED), games=0)
QUARANTINED = Match(
    number=5,
    rules=TWO,
    seats=(LEFT, TIRED),
    state="quarantined",
    games=0,
    others=(("attempt", 3), ("voids", 3), ("reason", "x" * 5000), ("ended", at(250))),
)
RUNNING = Match(
    number=6,
    rules=TWO,
    seats=(NEW, TIRED),
    state="running",
    games=0,
    others=(
        ("attempt", 2),
        ("started", at(260)),
        ("coordinator", "c" * 64),
        ("worker", "here"),
        ("leased_until", 1e9),
        ("lease_clock", "some boot"),
        ("losses", 1),
    ),
)
WAITING = Match(number=7, rules=Rules(players=3), seats=(GREEDY, NEW, TIRED), state="waiting", games=0)
QUALIFIED = Match(number=8, rules=TWO, seats=(submissions.ACTIVE, GREEDY), kind="qualification")
QUALIFIES = Match(
    number=9,
    rules=TWO,
    seats=(submissions.QUALIFYING, GREEDY),
    kind="qualification",
    state="waiting",
    games=0,
    others=(("precedence", 0),),
)
CHALLENGED = Match(
    number=10, rules=TWO, seats=(CHEAT, NEW), kind="challenge", others=(("challenge_number", 1),)
)
MATCHES = (
    *(FAULTY, CHEATED, AGAIN, SILENT, QUARANTINED, RUNNING, WAITING),
    *(QUALIFIED, QUALIFIES, CHALLENGED),
)


def rows() -> dict[str, list[dict[str, object]]]:
    """Return the rows of matches, their seats and their deals."""
    return {
        "match": [_match(match) for match in MATCHES],
        "deal": [{"seed": seed} for match in MATCHES if match.kind == "rated" for seed in match.seeds],
        "match_seat": [_seat(match, seat, who) for match in MATCHES for seat, who in enumerate(match.seats)],
    }


def _match(match: Match) -> dict[str, object]:
    over = match.state == "done"
    return {
        "id": match.id,
        "number": match.number,
        "challenge_number": None,
        **_rules(match.rules),
        "deals": len(match.seeds),
        "created": at(90 + match.number),
        "spec": json.dumps(_spec(match)).encode(),
        "runtime": "docker",
        "kind": match.kind,
        "precedence": 2,
        "state": match.state,
        "attempt": int(over),
        "voids": 0,
        "started": at(100) if over else None,
        "ended": at(110) if over else None,
        "reason": None,
        **dict.fromkeys(("coordinator", "worker", "leased_until", "lease_clock")),
        "losses": 0,
        "logs": True,
        "replays": True,
    } | dict(match.others)


def _spec(match: Match) -> dict[str, object]:
    """Return the specification without the fields that have a default."""
    clock, limits = Clock(), Limits()
    return {
        "match": match.id,
        "attempt": 0,
        "rules": _rules(match.rules),
        "seeds": match.seeds,
        "seats": [_source(who) for who in match.seats],
        "clock": {name: getattr(clock, name) for name in ("start_millis", "move_millis", "bank_millis")},
        "limits": {name: getattr(limits, name) for name in ("cpus", "memory_mib", "pids", "tmp_mib")},
        "runtime": "docker",
    }


def _rules(rules: Rules) -> dict[str, object]:
    return {name: getattr(rules, name) for name in ("players", "pass_both_ways", "soy_sauce", "dummy")}


def _seat(match: Match, seat: int, who: Version | int) -> dict[str, object]:
    over = match.state == "done"
    report = {
        "image": _source(who),
        "runtime": "docker/runc",
        "limits": ["memory 256 MiB", "0.4 CPUs"],
        "sdk": "",
        "exit_code": None,
        "out_of_memory": False,
        "stderr": "",
        "trouble": "it never said Hello \N{SUSHI}" if seat == 1 else None,
    }
    return {
        "match_id": match.id,
        "seat": seat,
        "version_id": None if isinstance(who, int) else who.id,
        "submission_number": who if isinstance(who, int) else None,
        "report": json.dumps(report).encode() if over else None,
        "stderr": b"\xff\0 not UTF-8" if over and seat == 0 else None,
    }


def _source(who: Version | int) -> str:
    return "sha256:b" if isinstance(who, int) else bots.source(who)
