"""Bots, sets and results with made-up outcomes: the store doesn't look into a game."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from arena.match import Clock, Decision, GameRecord, Limits, RuntimeName, SeatReport
from arena.matchmaking import seatings
from arena.rules import Rules
from arena.store import Claim, FinishedGame, FinishedMatch, NewSet, NewVersion, Store

START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def add_bot(store: Store, bot: str, *, source: str = "sha256:1", author: str = "ann") -> int:
    """Add a version of a bot and return its id."""
    new = NewVersion(bot=bot, author=author, house=author == "house", source=source, created=START)
    return store.writes.add_version(new)


def new_set(id_: str, versions: Sequence[int], *, deals: int = 2, matches: int | None = None) -> NewSet:
    """Make a set: one match a seat, or ``matches``."""
    return NewSet(
        id=id_,
        rules=Rules(players=len(versions)),
        seeds=tuple(f"{deal:032x}" for deal in range(deals)),
        seatings=seatings(versions)[:matches],
        clock=Clock(),
        limits=Limits(),
        runtime=RuntimeName.DOCKER,
        created=START,
    )


def claimed(store: Store, versions: Sequence[int], *, id_: str = "s", deals: int = 2) -> Claim:
    """Queue one match, claim it and return the claim."""
    store.writes.add_set(new_set(id_, versions, deals=deals, matches=1))
    claim = store.writes.claim(START, RuntimeName.DOCKER)
    assert claim is not None
    return claim


def finished(
    claim: Claim, places: Sequence[Sequence[int]], *, minute: int = 1, faults: Sequence[int] | None = None
) -> FinishedMatch:
    """Make the result of a claim: the places of each game, and each seat's faults in every game."""
    spec = claim.spec
    seats = len(spec.seats)
    faulty = tuple(faults or (0,) * seats)
    games = tuple(
        FinishedGame(
            id=f"{spec.match}-{index}",
            record=GameRecord(seed=spec.seeds[index], steps=((Decision(cards=("tempura",)),) * seats,)),
            replay=f'{{"game": "{spec.match}-{index}"}}',
            points=tuple(40 - place for place in each),
            puddings=tuple(range(seats)),
            places=tuple(each),
            faults=faulty,
            taken_over=tuple(count >= 3 for count in faulty),
        )
        for index, each in enumerate(places)
    )
    reports = tuple(
        SeatReport(image=source, runtime="docker/runc", limits=("memory 256 MiB",), stderr=f"seat {seat}")
        for seat, source in enumerate(spec.seats)
    )
    return FinishedMatch(
        match=spec.match,
        attempt=spec.attempt,
        reports=reports,
        games=games,
        ended=START + timedelta(minutes=minute),
    )


def outcomes(dice: random.Random, players: int, games: int) -> list[tuple[int, ...]]:
    """Draw the places of some games, with a tie now and then."""
    points = [[dice.randrange(12) for _ in range(players)] for _ in range(games)]
    return [tuple(1 + sum(other > mine for other in each) for mine in each) for each in points]
