"""Matches and results as frozen data, and the queries that write them."""

import secrets
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, func, insert, select, text

from arena.db import ladder
from arena.db.database import from_row, grouped
from arena.db.errors import BotDisqualified
from arena.db.schema import OPEN_MATCH, BotRow, BotVersionRow, DealRow, MatchRow, MatchSeatRow, SubmissionRow
from arena.ladder.card_counts import Tally
from arena.protocol.match import Clock, GameRecord, Limits, MatchSpec, RuntimeName, SeatReport, decode, encode
from arena.protocol.states import BotState, MatchKind, MatchState
from arena.protocol.status import Seated
from arena.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMatch:
    """A match to play: one table with one or more deals.

    Raises ValueError if there are no deals, a deal is repeated, the table isn't filled with different
    versions, the number of seatings is wrong, or a seating leaves a bot out. A qualification match must have
    one deal and one seat for the submission, and must not be ``soon``.
    """

    id: str  # at most 60 characters; its games are called `<id>-0`, `<id>-1`, …
    rules: Rules
    bots: tuple[int | None, ...]  # version ids; None for the submission
    # One per deal, 32 hexadecimal digits each, all different. When a rated match is claimed, seeds that
    # were dealt before are replaced (see `deal`).
    seeds: tuple[str, ...]
    clock: Clock
    limits: Limits  # each bot's sandbox limits
    runtime: RuntimeName
    created: datetime  # UTC
    # One per deal: for each seat, an index into `bots`; empty if all bots keep their seats.
    seatings: tuple[tuple[int, ...], ...] = ()
    soon: bool = False  # whether it skips the queue so that a new bot is rated soon
    submission: str | None = None  # its id, if this is a qualification match, which is unrated

    def __post_init__(self) -> None:
        if self.submission is not None and self.bots.count(None) != 1:
            raise ValueError(f"match {self.id}: the submission needs 1 seat, not {self.bots.count(None)}")
        if self.submission is not None and (self.soon or len(self.seeds) > 1):
            raise ValueError(
                f"match {self.id}: a qualification match must have one deal, and soon must be False"
            )
        if not self.seeds:
            raise ValueError(f"match {self.id} has no deals")
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"match {self.id} repeats a deal, which a bot could remember")
        if len(self.bots) != self.rules.players or len(set(self.bots)) < len(self.bots):
            raise ValueError(
                f"match {self.id}: a table of {self.rules.players} players needs {self.rules.players} "
                f"different versions, not {self.bots}"
            )
        places = list(range(self.rules.players))
        if self.seatings and (
            len(self.seatings) != len(self.seeds) or any(sorted(each) != places for each in self.seatings)
        ):
            raise ValueError(
                f"match {self.id}: {len(self.seeds)} deals need {len(self.seeds)} seatings, each with every "
                f"bot in one seat, not {self.seatings}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedSeat:
    """A participant in a match."""

    version: int | None  # id; None for a submission that is not yet a version
    bot: str
    number: int  # of the version, from 1; for a submission, the next free number
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A match that the caller has claimed and must play."""

    spec: MatchSpec  # for a worker; every later write must specify its `attempt`
    seats: tuple[ClaimedSeat, ...]  # in the order of the specification's bots
    rated: bool  # whether its games count for the ladder

    def seated(self, game: int) -> tuple[ClaimedSeat, ...]:
        """Return the participants of a game in seat order."""
        return tuple(self.seats[bot] for bot in self.spec.bots(game))


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedGame:
    """A finished game, checked against the rules by the caller. Tuples have one entry per seat.

    Raises ValueError if the tuples differ in length, or a bot doesn't have exactly one seat.
    """

    id: str  # at most 64 characters
    bots: tuple[int, ...]  # for each seat, an index into the match's bots
    record: GameRecord
    replay: str  # the public replay (`sushigo-replay/1`) as JSON text
    points: tuple[int, ...]
    after_two: tuple[int, ...]  # points after two rounds
    puddings: tuple[int, ...]
    places: tuple[int, ...]  # from 1; seats that the stand-in took over come last
    faults: tuple[int, ...]
    taken_over: tuple[bool, ...]  # whether the stand-in finished the game for that seat
    cards: Tally  # counts of the cards taken; not per seat

    def __post_init__(self) -> None:
        each_seat = (
            self.bots,
            self.points,
            self.after_two,
            self.puddings,
            self.places,
            self.faults,
            self.taken_over,
        )
        sizes = {len(each) for each in each_seat}
        if len(sizes) > 1:
            raise ValueError(
                f"game {self.id}: bots, points, after_two, puddings, places, faults and taken_over need one "
                "entry per seat"
            )
        if sorted(self.bots) != list(range(len(self.bots))):
            raise ValueError(f"game {self.id}: each bot in the match must have one seat, not {self.bots}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedMatch:
    """The result of a claim."""

    match: str
    attempt: int  # the claim's attempt number
    reports: tuple[SeatReport, ...]  # one per bot in the match
    games: tuple[FinishedGame, ...]  # in the order of the seeds; fewer than seeds after a crash
    ended: datetime  # UTC
    launch_seconds: float = 0.0  # time it took to start the bots; used for metrics and not stored


_FIRST, _SOON, _IN_TURN = 0, 1, 2
"""Qualifications come first: authors are waiting for them. Matches for bots new to the ladder come next."""


def add(connection: Connection, new: NewMatch, *, challenge: int | None = None) -> None:
    """Write the rows of a match, which is rated unless it belongs to a challenge or a submission.

    Raises BotDisqualified, or ValueError if a version doesn't exist or the submission has no image.
    """
    ladder.lock(connection)  # so that no other transaction disqualifies a bot or takes this number
    sources: dict[int | None, str] = {}
    columns = (BotVersionRow.id, BotVersionRow.source, BotRow.name, BotRow.state, BotRow.reason)
    versions = select(*columns).join(BotRow, BotRow.id == BotVersionRow.bot_id)
    for row in connection.execute(versions.where(BotVersionRow.id.in_(new.bots))):
        if row.state == BotState.DISQUALIFIED:
            raise BotDisqualified(row.name, row.reason)
        sources[row.id] = row.source
    kind = MatchKind.RATED if challenge is None else MatchKind.CHALLENGE
    precedence = _SOON if new.soon else _IN_TURN
    submission_number = None
    if new.submission is not None:
        submission = connection.execute(
            select(SubmissionRow.number, SubmissionRow.source).where(SubmissionRow.id == new.submission)
        ).one_or_none()
        if submission is None or submission.source is None:
            raise ValueError(f"match {new.id}: the submission {new.submission} has no image")
        sources[None] = submission.source
        kind, precedence, submission_number = MatchKind.QUALIFICATION, _FIRST, submission.number
    if missing := set(new.bots) - sources.keys():
        raise ValueError(f"match {new.id}: unknown versions {missing}")
    spec = MatchSpec(
        match=new.id,
        attempt=0,  # set by each claim
        rules=new.rules,
        seeds=new.seeds,
        seats=tuple(sources[bot] for bot in new.bots),
        clock=new.clock,
        limits=new.limits,
        runtime=new.runtime,
        seatings=new.seatings,
    )
    values = {
        "id": new.id,
        "number": select(func.coalesce(func.max(MatchRow.number), 0) + 1).scalar_subquery(),
        "challenge_number": challenge,
        **asdict(new.rules),
        "deals": len(new.seeds),
        "created": new.created,
        "spec": encode(spec),
        "runtime": new.runtime,
        "kind": kind,
        "precedence": precedence,
        "state": MatchState.WAITING,
        "attempt": 0,
        "voids": 0,
    }
    connection.execute(insert(MatchRow).values(values))
    seats = [
        {
            "match_id": new.id,
            "seat": seat,
            "version_id": bot,
            "submission_number": submission_number if bot is None else None,
        }
        for seat, bot in enumerate(new.bots)
    ]
    connection.execute(insert(MatchSeatRow), seats)


_SEED_BYTES: Final = 16


def deal(connection: Connection, spec: MatchSpec) -> MatchSpec:
    """Replace seeds that were dealt before, record all seeds as dealt, and return the new specification."""
    dealt = _already_dealt(connection, spec.seeds)
    seeds = tuple(secrets.token_hex(_SEED_BYTES) if seed in dealt else seed for seed in spec.seeds)
    connection.execute(insert(DealRow), [{"seed": seed} for seed in seeds])
    return replace(spec, seeds=seeds)


def discard_deals(connection: Connection) -> None:
    """Record the deals of all open rated matches as dealt: the arena that was backed up may deal them too."""
    rated = select(MatchRow.spec).where(text(OPEN_MATCH), MatchRow.kind == MatchKind.RATED)
    specs = connection.execute(rated).scalars()
    seeds = {seed for spec in specs for seed in decode(spec, MatchSpec).seeds}
    if new := seeds - _already_dealt(connection, seeds):
        connection.execute(insert(DealRow), [{"seed": seed} for seed in sorted(new)])


def _already_dealt(connection: Connection, seeds: Collection[str]) -> set[str]:
    return set(connection.execute(select(DealRow.seed).where(DealRow.seed.in_(seeds))).scalars())


BOT: Final = func.coalesce(BotRow.name, SubmissionRow.bot).label("bot")
AUTHOR: Final = func.coalesce(BotRow.author, SubmissionRow.author).label("author")


def seated(*columns: Any) -> Select[*tuple[Any, ...]]:  # noqa: ANN401 - columns of any type
    """Select columns of seats, and of the versions, bots and submissions in them, in seat order."""
    return (
        select(*columns)
        .select_from(MatchSeatRow)
        .outerjoin(BotVersionRow, BotVersionRow.id == MatchSeatRow.version_id)
        .outerjoin(BotRow, BotRow.id == BotVersionRow.bot_id)
        .outerjoin(SubmissionRow, SubmissionRow.number == MatchSeatRow.submission_number)
        .order_by(MatchSeatRow.match_id, MatchSeatRow.seat)
    )


def report_of(row: Row[*tuple[Any, ...]]) -> SeatReport:
    """Return a sandbox's report from a row with ``report`` and ``stderr``."""
    stderr = (row.stderr or b"").decode("utf-8", "replace")
    return replace(decode(row.report, SeatReport), stderr=stderr)


def participants(connection: Connection, matches: Collection[str]) -> dict[str, tuple[Seated, ...]]:
    """Return each match's participants in seat order."""
    query = seated(MatchSeatRow.match_id, BOT, BotVersionRow.number.label("version"))
    seats = grouped(connection.execute(query.where(MatchSeatRow.match_id.in_(matches))), "match_id")
    # A match that was deleted after its id was read has no seats.
    return {match: tuple(from_row(Seated, seat) for seat in seats.get(match, ())) for match in matches}
