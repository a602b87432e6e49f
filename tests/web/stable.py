"""Someone's bot with a history: versions, games, what it printed, and others to play against."""

import random
from dataclasses import dataclass, replace
from datetime import timedelta

from arena.db.audit import NewAuditEntry
from arena.db.bots import NewVersion
from arena.db.credentials import KnownAccount
from arena.db.matches import FinishedMatch, NewMatch
from arena.db.store import Store
from arena.protocol.match import Clock, Decision, GameRecord, Limits, RuntimeName
from arena.protocol.states import Role
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import START, add_bots, finish, host_report, play_set

NOTE = "keeping <wasabi>\N{RIGHT-TO-LEFT OVERRIDE} for squid"
"""What a bot notes with each of its decisions."""

LONG_NOTE = NOTE + "\n" * 60 + "the end of a long note"
"""What it notes with the first one."""

STDERR = (
    "secret of mine \x1b[31m\n"
    + "x" * 5000
    + "\n</pre><script>alert(1)</script>\n[... 9 bytes left out ...]\n"
)
"""What it prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stable:
    """Who owns what.

    Attributes:
        ann: Owns the bot ``mine``, which has three versions.
        ben: Owns ``other``.
        versions: Ids of the versions of ``mine``.
        other: Id of the version of ``other``.
        house: Ids of ``greedy`` and ``random``.
    """

    ann: KnownAccount
    ben: KnownAccount
    versions: tuple[int, ...]
    other: int
    house: tuple[int, ...]


def fill_stable(world: World, *, silent: bool = False) -> Stable:
    """Add the people, an operator ``oper``, the bots, and some games of ``mine`` with logs.

    Seat 1 of ``logged-0-0`` is the second version of ``mine``, between ``other`` and ``greedy``; unless it is
    ``silent``, each has printed and noted something. The machine holds untrusted bots.
    """
    store = world.store
    ann, ben = world.add("ann"), world.add("ben")
    world.add("oper", Role.OPERATOR)
    house = tuple(add_bots(store, [("greedy", "house"), ("random", "house")]))
    first = add_version(store, ann, "mine", 1)
    other = add_version(store, ben, "other", 1)
    play_set(store, [(first, other, house[0])], Rules(players=3), name="early")
    second = add_version(store, ann, "mine", 2)
    play_logged(store, (other, second, house[0]), silent=silent)
    third = add_version(store, ann, "mine", 3)
    store.activity.record_host(host_report(), set())
    return Stable(ann=ann, ben=ben, versions=(first, second, third), other=other, house=house)


def add_version(store: Store, owner: KnownAccount, bot: str, number: int) -> int:
    """Add a version of someone's bot and return its id."""
    digest = f"{random.Random(f'{bot}@{number}').getrandbits(256):064x}"  # noqa: S311 - the same each time
    return store.bots.add_version(
        NewVersion(
            bot=bot,
            author=owner.name,
            house=False,
            source=f"sha256:{digest}",
            created=START + timedelta(days=number),
            account=owner.id,
            note=f"note of {bot}@{number} <i>",
            size=1_234_567 * number,
            sha256=digest[::-1],
        )
    )


def play_logged(store: Store, versions: tuple[int, ...], *, silent: bool = False) -> None:
    """Play a rated match of one game, ``logged-0-0``.

    Args:
        store: Where to.
        versions: Who sits where.
        silent: Whether nobody prints or notes anything. Otherwise each does, in words of its own seat.
    """
    new = NewMatch(
        id="logged-0",
        rules=Rules(players=len(versions)),
        seeds=("5" * 32,),
        bots=versions,
        clock=Clock(),
        limits=Limits(),
        runtime=RuntimeName.DOCKER,
        created=START,
    )
    store.queue.add(new)
    play_next(store, silent=silent)


def play_next(store: Store, *, silent: bool = False) -> None:
    """Play the match that is due. Each bot prints and notes something, in words of its own seat."""
    claim = store.leases.claim("here", "worker", START, RuntimeName.DOCKER)
    assert claim is not None
    dice = random.Random(claim.spec.match)  # noqa: S311 - a game that can be repeated
    finished = finish(claim, dice, ended=START + timedelta(hours=1), faults=0.2)
    assert store.results.record(finished if silent else _talkative(finished))


def _talkative(match: FinishedMatch) -> FinishedMatch:
    """Let each seat of a match have printed and noted something."""
    reports = tuple(
        replace(report, stderr=f"seat {seat}: {STDERR}", exit_code=seat, out_of_memory=seat == 1)
        for seat, report in enumerate(match.reports)
    )
    games = tuple(replace(game, record=_noted(game.record)) for game in match.games)
    return replace(match, reports=reports, games=games)


def _noted(record: GameRecord) -> GameRecord:
    steps = tuple(
        tuple(
            decision and _said(decision, seat, NOTE if turn else LONG_NOTE)
            for seat, decision in enumerate(step)
        )
        for turn, step in enumerate(record.steps)
    )
    return GameRecord(seed=record.seed, steps=steps)


def _said(decision: Decision, seat: int, note: str) -> Decision:
    trouble = f"seat {seat} sent <nothing>" if decision.fault else None
    return replace(decision, note=f"seat {seat}: {note}", trouble=trouble)


def bench(store: Store, bot: str, why: str) -> None:
    """Let a bot sit out."""
    store.bot_states.bench(bot, why, START, _entry("bench", bot))


def disqualify(store: Store, bot: str, why: str) -> None:
    """Take a bot off the ladder for good."""
    store.bot_states.disqualify(bot, why, START, _entry("disqualify", bot))


def _entry(what: str, bot: str) -> NewAuditEntry:
    return NewAuditEntry(at=START, who="terminal:test", what=what, subject=f"bot:{bot}")
