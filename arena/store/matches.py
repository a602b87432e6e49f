"""What goes into the store and comes out of its queue: plain, frozen data."""

from dataclasses import dataclass
from datetime import datetime

from arena.cardstats import Tally
from arena.match import Clock, GameRecord, Limits, MatchSpec, RuntimeName, SeatReport
from arena.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSet:
    """Matches to be played: the same deals, the bots moved one seat on each time.

    Attributes:
        id: Of the set, at most 40 characters; its matches are called ``<id>-0``, ``<id>-1``, …
        rules: What is played.
        seeds: One a deal, 32 hexadecimal digits each, all different.
        seatings: One a match: ids of versions in seat order.
        clock: Time limits.
        limits: Sandbox limits of every seat.
        runtime: How the bots are run.
        created: UTC.
        soon: Whether these matches are played before others that wait, so that somebody new is rated soon.

    Raises:
        ValueError: No deal or no match, a deal twice, or a seating that doesn't
            fill the table with different versions.
    """

    id: str
    rules: Rules
    seeds: tuple[str, ...]
    seatings: tuple[tuple[int, ...], ...]
    clock: Clock
    limits: Limits
    runtime: RuntimeName
    created: datetime
    soon: bool = False

    def __post_init__(self) -> None:
        if not self.seeds or not self.seatings:
            raise ValueError(f"set {self.id} has {len(self.seeds)} deals and {len(self.seatings)} matches")
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"set {self.id} has a deal twice: a bot could remember it")
        for versions in self.seatings:
            if len(versions) != self.rules.players or len(set(versions)) < len(versions):
                raise ValueError(
                    f"set {self.id}: a table of {self.rules.players} needs that many different versions,"
                    f" not {versions}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewQualification:
    """A match of one deal that a submission plays against the house. It is not rated.

    Attributes:
        id: Of the match's set, at most 40 characters.
        submission: Its id.
        seed: Of the deal, 32 hexadecimal digits.
        seats: In seat order: ids of versions, and None where the submission sits.
        clock: Time limits.
        limits: Sandbox limits of every seat.
        runtime: How the bots are run.
        created: UTC.

    Raises:
        ValueError: The submission doesn't sit there exactly once.
    """

    id: str
    submission: str
    seed: str
    seats: tuple[int | None, ...]
    clock: Clock
    limits: Limits
    runtime: RuntimeName
    created: datetime

    def __post_init__(self) -> None:
        if self.seats.count(None) != 1:
            raise ValueError(f"set {self.id}: the submission sits there {self.seats.count(None)} times")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedSeat:
    """Who sits there.

    Attributes:
        version: Id; None for a submission that is none yet.
        bot: Name.
        number: Of the version, from 1; for a submission the one that would be next.
        author: Name.
    """

    version: int | None
    bot: str
    number: int
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A match that the caller has to play now.

    Attributes:
        spec: For a worker; its ``attempt`` is the one that every later write must name.
        seats: In seat order.
        rated: Whether its games are for the ladder.
    """

    spec: MatchSpec
    seats: tuple[ClaimedSeat, ...]
    rated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedGame:
    """A game to be rated, checked against the rules by the caller. One entry a seat in every tuple.

    Attributes:
        id: Given by the caller, at most 64 characters.
        record: As it was played.
        replay: The public replay (``sushigo-replay/1``), as JSON text.
        points: Final points.
        puddings: Puddings at the end.
        places: From 1; seats that were taken over rank below the rest.
        faults: How many.
        taken_over: Whether the stand-in played it to the end.
        cards: What cards were taken in it, counted by the caller; not one entry a seat.

    Raises:
        ValueError: Not the same number of seats everywhere.
    """

    id: str
    record: GameRecord
    replay: str
    points: tuple[int, ...]
    puddings: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[int, ...]
    taken_over: tuple[bool, ...]
    cards: Tally

    def __post_init__(self) -> None:
        sizes = {
            len(each) for each in (self.points, self.puddings, self.places, self.faults, self.taken_over)
        }
        if len(sizes) > 1:
            raise ValueError(
                f"game {self.id}: points, puddings, places, faults and taken_over need one entry a seat"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedMatch:
    """What came of a claim.

    Attributes:
        match: Its id.
        attempt: That of the claim.
        reports: One a seat.
        games: In the order of the seeds; fewer than those after a crash.
        ended: UTC.
        launch_seconds: What its bots took to start. It is counted and not kept.
    """

    match: str
    attempt: int
    reports: tuple[SeatReport, ...]
    games: tuple[FinishedGame, ...]
    ended: datetime
    launch_seconds: float = 0.0
