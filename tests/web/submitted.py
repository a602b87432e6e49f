"""A user's submissions in all stages, with games that have really been played."""

import random
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from arena.db.credentials import KnownAccount
from arena.db.store import Store
from arena.languages.registry import UploadKind
from arena.protocol.submissions import Cause, CauseKind, Request, Stage
from tests.builders import add_bots, finish
from tests.db.builders import START, claim_one
from tests.db.test_submissions import PLENTY, game, new, qualify

STDERR: Final = "ready\x1b[2J\nKeyError: '\N{RIGHT-TO-LEFT OVERRIDE}</pre><script>alert(1)</script>'\n"
"""A bot's output. Pages must neutralise its control characters and markup."""

CRASH: Final = Cause(
    stage=Stage.QUALIFYING,
    kind=CauseKind.CRASH,
    text="the bot disconnected in game 2 of 3, round 1, turn 4: it exited with code 3",
    hint="The end of stderr shows what it last said; `docker run` shows it at home.",
    exit_code=3,
    request=Request(game=2, players=3, seat=1, round=1, turn=4, hand=("maki_2", "squid_nigiri", "wasabi")),
    stderr=STDERR,
)


def send(  # noqa: PLR0913 - fields of a submission
    store: Store,
    account: KnownAccount,
    id_: str,
    bot: str = "mine",
    *,
    kind: UploadKind = UploadKind.PYTHON,
    note: str = "",
    received: datetime | None = None,
) -> None:
    """Add a user's submission. By default, it is received a minute after the previous one."""
    at = received or START + timedelta(minutes=len(store.submissions.newest(limit=100)))
    sent = replace(new(id_, bot, account.name, account.id), kind=kind, note=note, received=at)
    store.submissions.add(sent, PLENTY)


def play(store: Store, id_: str, games: int = 1) -> None:
    """Move a received submission on to its qualification, and play this many of its games."""
    qualify(store, id_, f"sha256:{id_}")
    for number in range(games):
        queue(store, id_, number)
        finish_game(store)


def queue(store: Store, id_: str, number: int = 0) -> None:
    """Queue a submission's next game, with the candidate between two house bots."""
    house = [store.bots.version_id(bot, 1) for bot in ("greedy", "random")]
    if None in house:
        house = list(add_bots(store, [("greedy", "house"), ("random", "house")]))
    seats = (house[0], None, house[1])
    assert store.submissions.add_game(game(f"{id_}-q{number}", id_, seats), played=number)


def finish_game(store: Store) -> None:
    """Play the next match. The bot in the middle prints ``STDERR`` and adds notes."""
    done = finish(claim_one(store), random.Random(3), ended=START)  # noqa: S311 - reproducible
    reports = [
        replace(report, stderr=STDERR if seat == 1 else "") for seat, report in enumerate(done.reports)
    ]
    record = done.games[0].record
    noted = tuple(decision and replace(decision, note="wasabi first") for decision in record.steps[0])
    steps = (noted, *record.steps[1:])
    played = replace(done.games[0], record=replace(record, steps=steps))
    assert store.results.record(replace(done, reports=tuple(reports), games=(played,)))
