"""Create an arena with many games: ``python -m benchmarks.crowd FOLDER --bots 10000 --games 1000000``.

Fills an SQLite store in a few minutes, to measure the cost of pages after years of use. The store's own code
writes the ladder's log and all data that follows from it (ratings, changes, curves, meetings, highlights), in
large batches and with a very cheap rating step. The data is therefore consistent, but the ratings differ from
those of a rebuild.

The first and the latest games are played, checked and recorded as in an arena. Games of a few watched bots
reuse the record and the replay of one of the first games with the same number of seats. All other games have
fillers instead. Card statistics have realistic sizes: each match adds the counts of the first match with
the same number of seats. The store has no accounts, submissions or bots' logs.
"""

import argparse
import math
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, insert, select

from arena.db import card_counts, ladder
from arena.db.card_counts import CardRepository
from arena.db.database import Database, OpenTransaction
from arena.db.matches import NewMatch
from arena.db.projections import LoggedEvent
from arena.db.schema import BotRow, BotVersionRow, DealRow, GameRow, GameSeatRow, MatchRow, MatchSeatRow
from arena.db.store import Store, open_store
from arena.ladder.card_counts import Tally, nothing
from arena.ladder.rating import Rating
from arena.ladder.rating_events import VersionStarted
from arena.protocol.match import Clock, Limits, MatchSpec, RuntimeName, SeatReport, encode
from arena.protocol.states import MatchKind, MatchState
from arena.rules import PLAYER_COUNTS, Rules
from benchmarks.played import played

DEALS: Final = 6
_BATCH_GAMES: Final = 10_000
"""Games written per transaction."""
_PLAYED_GAMES: Final = 60
"""Number of games at the end that are actually played."""
_NEAR: Final = 60
"""Number of consecutive bots, by strength, from which a match's bots are drawn."""
_HOUSE: Final = 20
_FIRST: Final = PLAYER_COUNTS * 3
"""Table sizes of the first matches. These have two games each, all with the first bots, so that some bots
have more games than a page shows. Together they have ``DEALS`` games of each table size."""
_FAULTY: Final = 0.01
_WATCHED: Final = 50
"""One bot in this many is watched."""
_REPORT: Final = encode(SeatReport(image="sha256:0", runtime="docker/runc", limits=()))
_WORDS: Final = ("wasabi", "maki", "tempura", "sashimi", "nigiri", "dumpling", "pudding", "chopstick", "soy")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Crowd:
    """The size of the arena."""

    bots: int  # number of bots, five or more
    games: int  # number of games, rounded up to whole matches
    days: int = 90  # number of days before now over which the games are spread


@dataclass(frozen=True, slots=True)
class _DrawnMatch:
    """A match's bots, by index. The ID of a bot's version is the bot's index plus 1."""

    number: int
    bots: tuple[int, ...]

    @property
    def id(self) -> str:
        return f"crowd-{self.number}"


@dataclass(frozen=True, slots=True)
class _Sample:
    """A game's stored data, and the card statistics of a match of ``DEALS`` games."""

    record: bytes
    replay: str
    cards: Tally = field(default_factory=nothing)


_FILLER: Final = _Sample(b"{}", "x" * 900)


def fill(file: Path, crowd: Crowd) -> None:
    """Create a store in a new file."""
    url = f"sqlite:///{file}"
    with closing(open_store(url)) as store:
        dice = random.Random(1)  # noqa: S311 - must be reproducible
        database = Database(url)
        now = datetime.now(UTC)
        begin = now - timedelta(days=crowd.days)
        with database.write() as connection:
            _add_bots(connection, crowd.bots, begin)
        for players in _FIRST:
            _play_one(store, dice, range(players), begin)
        with database.read() as connection:
            samples = _samples(connection)
        written = 2 * len(_FIRST)
        for batch in _batches(crowd.bots, crowd.games - written - _PLAYED_GAMES, dice):
            with database.write() as connection:
                at = begin + (now - begin) * (written / crowd.games)
                written += _play(connection, batch, samples, dice, at)
        database.close()
        play_for_real(store, dice, crowd.bots, _PLAYED_GAMES, now)


def is_watched(bot: str) -> bool:
    """Return True if the games of this bot have records and replays."""
    return int(bot.rpartition("-")[2]) % _WATCHED == 0


def play_for_real(store: Store, dice: random.Random, bots: int, games: int, ended: datetime) -> None:
    """Play this many games between some of the bots, two per match, and record them as in an arena."""
    for _ in range(math.ceil(games / 2)):
        _play_one(store, dice, _draw_neighbours(dice, bots, dice.choice(PLAYER_COUNTS)), ended)


def _play_one(store: Store, dice: random.Random, bots: Sequence[int], ended: datetime) -> None:
    new = NewMatch(
        id=f"played-{dice.getrandbits(64):x}",
        rules=Rules(players=len(bots)),
        seeds=tuple(dice.randbytes(16).hex() for _ in range(2)),
        bots=tuple(bot + 1 for bot in bots),
        clock=Clock(),
        limits=Limits(),
        runtime=RuntimeName.DOCKER,
        created=ended,
    )
    store.queue.add(new)
    claim = store.leases.claim("here", "worker", ended, RuntimeName.DOCKER)
    if claim is None or not store.results.record(played(claim, dice, ended)):
        raise RuntimeError("the store did not accept a match")


def _samples(connection: Connection) -> dict[int, _Sample]:
    """Return the first game of each table size, with the card statistics of its ``DEALS`` games."""
    rows = connection.execute(
        select(GameRow.players, GameRow.record, GameRow.replay).order_by(GameRow.number.desc())
    )
    return {
        row.players: _Sample(
            row.record, row.replay, CardRepository(OpenTransaction(connection)).find(row.players)
        )
        for row in rows
    }


def _add_bots(connection: Connection, bots: int, at: datetime) -> None:
    numbers = ladder.lock(connection)
    names = [f"{_WORDS[bot % len(_WORDS)]}-{bot:05}" for bot in range(bots)]
    connection.execute(
        insert(BotRow),
        [
            {
                "id": bot + 1,
                "name": name,
                "author": "house" if bot < _HOUSE else f"author-{bot // 3:04}",
                "house": bot < _HOUSE,
                "newest": 1,
                "playing": 1,
            }
            for bot, name in enumerate(names)
        ],
    )
    connection.execute(
        insert(BotVersionRow),
        [
            {"id": bot + 1, "bot_id": bot + 1, "number": 1, "source": f"sha256:{bot:064x}", "created": at}
            for bot in range(bots)
        ],
    )
    log = [
        LoggedEvent(numbers.events + bot + 1, VersionStarted(version=bot + 1, previous=None))
        for bot in range(bots)
    ]
    for first in range(0, len(log), _BATCH_GAMES):
        ladder.append(connection, log[first : first + _BATCH_GAMES], numbers.games, barred=frozenset())


def _batches(bots: int, left: int, dice: random.Random) -> Iterator[list[_DrawnMatch]]:
    """Draw matches until there are enough games. Yield them in batches of about ``_BATCH_GAMES`` games."""
    batch: list[_DrawnMatch] = []
    games, number = 0, len(_FIRST)
    while left > 0:
        seated = _draw_neighbours(dice, bots, dice.choice(PLAYER_COUNTS))
        batch.append(_DrawnMatch(number := number + 1, tuple(seated)))
        games += DEALS
        left -= DEALS
        if games >= _BATCH_GAMES or left <= 0:
            yield batch
            batch, games = [], 0


def _draw_neighbours(dice: random.Random, bots: int, count: int) -> list[int]:
    """Draw ``count`` bots of nearly the same strength."""
    first = dice.randrange(max(1, bots - _NEAR))
    return dice.sample(range(first, min(bots, first + _NEAR)), count)


def _play(
    connection: Connection,
    batch: Sequence[_DrawnMatch],
    samples: Mapping[int, _Sample],
    dice: random.Random,
    at: datetime,
) -> int:
    """Store matches with their games and ratings; return the number of games."""
    numbers = ladder.lock(connection)
    rows: dict[type, list[Row]] = {
        kind: [] for kind in (MatchRow, MatchSeatRow, DealRow, GameRow, GameSeatRow)
    }
    log: list[LoggedEvent] = []
    cards: list[Tally] = []
    for seated in batch:
        match, bots = seated.id, seated.bots
        is_seen = any(bot % _WATCHED == 0 for bot in bots)
        sample = samples[len(bots)] if is_seen else _FILLER
        cards.append(samples[len(bots)].cards)
        rows[MatchRow].append(_match_row(seated, at))
        rows[MatchSeatRow] += [
            {"match_id": match, "seat": seat, "version_id": bot + 1, "report": _REPORT, "stderr": b""}
            for seat, bot in enumerate(bots)
        ]
        for deal in range(DEALS):
            at += timedelta(milliseconds=1)
            number = numbers.games + len(log) + 1
            seats = _seats(number, dice.sample(bots, len(bots)), dice)
            rows[DealRow].append({"seed": f"{seated.number:016x}{deal:016x}"})
            rows[GameSeatRow] += seats
            rows[GameRow].append(
                {
                    "number": number,
                    "id": f"{match}-{deal}",
                    "match_id": match,
                    "position": deal,
                    "players": len(bots),
                    "ended": at,
                    "replay": sample.replay,
                    "record": sample.record,
                }
            )
            log.append(ladder.game_event(numbers.events + len(log) + 1, number, at, seats))
    for kind, made in rows.items():
        connection.execute(insert(kind), made)
    ladder.append(connection, log, numbers.games + len(log), barred=frozenset(), rate=_rate)
    card_counts.add(connection, cards)
    return len(log)


def _rate(ratings: Sequence[Rating], places: Sequence[int]) -> tuple[Rating, ...]:
    """Rate a game approximately, with an Elo step proportional to each rating's uncertainty."""
    return tuple(
        Rating(
            own.mean
            + own.deviation
            / 10
            * sum(
                (place < other) - (place > other) - math.tanh((own.mean - theirs.mean) / 10)
                for theirs, other in zip(ratings, places, strict=True)
            ),
            max(0.9, own.deviation * 0.98),
        )
        for own, place in zip(ratings, places, strict=True)
    )


def _seats(number: int, bots: Sequence[int], dice: random.Random) -> list[Row]:
    skills = [dice.gauss(bot / 20, 2.0) for bot in bots]
    order = sorted(skills, reverse=True)
    return [
        {
            "game_number": number,
            "seat": seat,
            "version_id": bot + 1,
            "points": 60 - 7 * order.index(skill) + dice.randrange(6),
            "puddings": dice.randrange(4),
            "place": order.index(skill) + 1,
            "faults": int(dice.random() < _FAULTY),
            "taken_over": False,
            "median_micros": int(dice.lognormvariate(8 + bot % 5, 0.1)),
        }
        for seat, (bot, skill) in enumerate(zip(bots, skills, strict=True))
    ]


def _match_row(seated: _DrawnMatch, at: datetime) -> Row:
    spec = MatchSpec(
        match=seated.id,
        attempt=1,
        rules=Rules(players=len(seated.bots)),
        seeds=(),
        seats=(),
        clock=Clock(),
        limits=Limits(),
        runtime=RuntimeName.DOCKER,
    )
    return {
        "id": seated.id,
        "number": seated.number,
        "players": len(seated.bots),
        "pass_both_ways": False,
        "soy_sauce": False,
        "dummy": False,
        "deals": DEALS,
        "created": at,
        "spec": encode(spec),
        "runtime": RuntimeName.DOCKER,
        "kind": MatchKind.RATED,
        "precedence": 2,
        "state": MatchState.DONE,
        "attempt": 1,
        "voids": 0,
        "started": at,
        "ended": at,
    }


def main() -> None:
    """Create a store, and print how long it took."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.crowd", description="Create an arena with many games."
    )
    parser.add_argument("folder", type=Path, help="data directory of the new arena")
    parser.add_argument("--bots", type=int, default=10_000, help="number of bots (default: %(default)s)")
    parser.add_argument(
        "--games", type=int, default=1_000_000, help="number of rated games (default: %(default)s)"
    )
    arguments = parser.parse_args()
    file: Path = arguments.folder / "arena.sqlite3"
    if file.exists():
        sys.exit(f"{file} already exists: choose another folder")
    file.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    fill(file, Crowd(arguments.bots, arguments.games))
    took, size = time.monotonic() - begin, file.stat().st_size / 2**20
    print(f"{file}: {arguments.bots} bots, {arguments.games} games, {size:.0f} MiB, {took:.0f} s")


if __name__ == "__main__":
    main()
