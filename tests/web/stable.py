"""Games for `World.filled`: those of all bots, or of a user's bot that has versions, output and opponents."""

import random
from dataclasses import dataclass, replace
from datetime import timedelta

from arena.db.audit import NewAuditEntry
from arena.db.bots import NewVersion
from arena.db.credentials import KnownAccount
from arena.db.matches import FinishedMatch
from arena.db.store import Store
from arena.protocol.match import Decision, GameRecord
from arena.protocol.states import Role
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import START, add_bots, fill, finish, host_report, play_matches
from tests.db.builders import claim_one, new_match

NOTE = "keeping <wasabi>\N{RIGHT-TO-LEFT OVERRIDE} for squid"
"""A bot's note with each of its decisions except the first."""

LONG_NOTE = NOTE + "\n" * 60 + "the end of a long note"
"""A bot's note with its first decision."""

STDERR = (
    "secret of mine \x1b[31m\n"
    + "x" * 5000
    + "\n</pre><script>alert(1)</script>\n[... 9 bytes left out ...]\n"
)
"""A bot's output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stable:
    """Accounts and the IDs of their bots' versions."""

    ann: KnownAccount  # the owner of ``mine``
    ben: KnownAccount  # the owner of ``other``
    versions: tuple[int, ...]  # the three of ``mine``
    other: int
    house: tuple[int, ...]  # ``greedy`` and ``random``


def fill_games(world: World) -> None:
    """Add the bots and the games of :func:`tests.builders.fill`."""
    fill(world.store)


def fill_stable(world: World, *, silent: bool = False) -> Stable:
    """Add the accounts, the operator ``oper``, the bots, and some games of ``mine`` with logs.

    Seat 1 of ``logged-0-0`` is the second version of ``mine``, between ``other`` and ``greedy``. Unless
    ``silent`` is set, each seat has output and notes. The host passes every control.
    """
    store = world.store
    ann, ben = world.add("ann"), world.add("ben")
    world.add("oper", Role.OPERATOR)
    house = tuple(add_bots(store, [("greedy", "house"), ("random", "house")]))
    first = add_version(store, ann, "mine", 1)
    other = add_version(store, ben, "other", 1)
    play_matches(store, [(first, other, house[0])], Rules(players=3), name="early")
    second = add_version(store, ann, "mine", 2)
    play_logged(store, (other, second, house[0]), silent=silent)
    third = add_version(store, ann, "mine", 3)
    store.activity.record_host(host_report(), set())
    return Stable(ann=ann, ben=ben, versions=(first, second, third), other=other, house=house)


def add_version(store: Store, owner: KnownAccount, bot: str, number: int) -> int:
    """Add a version of a user's bot and return its ID."""
    digest = f"{random.Random(f'{bot}@{number}').getrandbits(256):064x}"  # noqa: S311 - reproducible
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
    """Play a rated match of one game, ``logged-0-0``, as :func:`play_next` does."""
    store.queue.add(replace(new_match("logged-0", versions), seeds=("5" * 32,), created=START))
    play_next(store, silent=silent)


def play_next(store: Store, *, silent: bool = False) -> None:
    """Play the next match. Unless ``silent``, each bot has output and notes that name its seat."""
    claim = claim_one(store)
    dice = random.Random(claim.spec.match)  # noqa: S311 - reproducible
    finished = finish(claim, dice, ended=START + timedelta(hours=1), faults=0.2)
    assert store.results.record(finished if silent else _talkative(finished))


def play_all(store: Store) -> None:
    """Play all waiting matches."""
    while store.activity.totals().matches_waiting:
        play_next(store)


def _talkative(match: FinishedMatch) -> FinishedMatch:
    """Add output and notes of each seat to a match."""
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
    """Bench a bot."""
    store.bot_states.bench(bot, why, START, _entry("bench", bot))


def disqualify(store: Store, bot: str, why: str) -> None:
    """Disqualify a bot."""
    store.bot_states.disqualify(bot, why, START, _entry("disqualify", bot))


def _entry(what: str, bot: str) -> NewAuditEntry:
    return NewAuditEntry(at=START, who="terminal:test", what=what, subject=f"bot:{bot}")
