"""The queue of matches: the database is the only one, and a match's row exists before it is played.

    waiting ──claim──▶ running ──record──▶ done
       ▲                  │
       └─────release──────┤
       └──void, at most twice ── void, the third time ──▶ quarantined

``attempt`` rises with every claim. A write that names another attempt than the
last one changes nothing, so a worker that comes back late does no harm.
"""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Select, exists, func, insert, select, text, update

from arena.match import MatchSpec, RuntimeName, decode, encode
from arena.store.matches import Claim, ClaimedSeat, NewSet
from arena.store.models import OPEN, QUARANTINED, Bot, BotVersion, Match, MatchSeat, MatchSet, MatchState

_VOIDS = 3
"""Faults of the arena in one match before somebody has to look at it."""


def add_set(connection: Connection, new: NewSet) -> tuple[str, ...]:
    """Write the rows of a set's matches and return their ids.

    Raises:
        ValueError: A version that isn't there.
    """
    rows = connection.execute(
        select(BotVersion.id, BotVersion.source).where(BotVersion.id.in_({*sum(new.seatings, ())}))
    )
    sources = {row.id: row.source for row in rows}
    for versions in new.seatings:
        if not sources.keys() >= set(versions):
            raise ValueError(f"set {new.id}: there are no versions {set(versions) - sources.keys()}")
    values = {
        "id": new.id,
        "players": new.rules.players,
        "pass_both_ways": new.rules.pass_both_ways,
        "soy_sauce": new.rules.soy_sauce,
        "dummy": new.rules.dummy,
        "deals": len(new.seeds),
        "seeds": list(new.seeds),
        "created": new.created,
    }
    number = connection.execute(insert(MatchSet).values(values).returning(MatchSet.number)).scalar_one()
    specs = [
        _spec(new, position, [sources[version] for version in versions])
        for position, versions in enumerate(new.seatings)
    ]
    connection.execute(
        insert(Match),
        [
            {
                "id": spec.match,
                "set_number": number,
                "position": position,
                "spec": encode(spec),
                "runtime": new.runtime,
                "state": MatchState.WAITING,
                "attempt": 0,
                "voids": 0,
            }
            for position, spec in enumerate(specs)
        ],
    )
    connection.execute(
        insert(MatchSeat),
        [
            {"match_id": spec.match, "seat": seat, "version_id": version}
            for spec, versions in zip(specs, new.seatings, strict=True)
            for seat, version in enumerate(versions)
        ],
    )
    return tuple(spec.match for spec in specs)


def waiting(connection: Connection, runtime: RuntimeName, *, house_only: bool = False) -> int:
    """Return how many matches wait for this runtime, or only those without strangers' bots."""
    mine = _playable(runtime, house_only=house_only).order_by(None).subquery()
    return connection.execute(select(func.count()).select_from(mine)).scalar_one()


def quarantined(connection: Connection) -> int:
    """Return how many matches have been put aside."""
    return connection.execute(select(func.count()).select_from(Match).where(text(QUARANTINED))).scalar_one()


def claim(
    connection: Connection, at: datetime, runtime: RuntimeName, *, house_only: bool = False
) -> Claim | None:
    """Take the match for this runtime that has waited longest, or return None where none waits.

    Args:
        connection: To the store, for writing.
        at: UTC.
        runtime: How bots are run here.
        house_only: Whether strangers' bots must not play here. Then their matches go on waiting.
    """
    oldest = connection.execute(
        _playable(runtime, house_only=house_only).limit(1).with_for_update(skip_locked=True, of=Match)
    ).scalar_one_or_none()
    if oldest is None:
        return None
    row = connection.execute(
        update(Match)
        .where(Match.id == oldest, Match.state == MatchState.WAITING)
        .values(state=MatchState.RUNNING, attempt=Match.attempt + 1, started=at)
        .returning(Match.spec, Match.attempt)
    ).one()
    seats = connection.execute(
        select(MatchSeat.version_id, Bot.name, BotVersion.number, Bot.author)
        .join(BotVersion, BotVersion.id == MatchSeat.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(MatchSeat.match_id == oldest)
        .order_by(MatchSeat.seat)
    )
    return Claim(
        spec=replace(decode(row.spec, MatchSpec), attempt=row.attempt),
        seats=tuple(
            ClaimedSeat(version=seat.version_id, bot=seat.name, number=seat.number, author=seat.author)
            for seat in seats
        ),
    )


def release_running(connection: Connection) -> int:
    """Let everything that runs wait again, and return how many matches that were.

    For the start of the only coordinator: whoever ran them is gone. It counts as no fault.
    """
    running = connection.execute(_open(MatchState.RUNNING).with_for_update()).scalars().all()
    connection.execute(
        update(Match)
        .where(Match.id.in_(running), Match.state == MatchState.RUNNING)
        .values(state=MatchState.WAITING, started=None)
    )
    return len(running)


def void(connection: Connection, match: str, attempt: int, reason: str, at: datetime) -> MatchState | None:
    """Drop an attempt that the arena has spoilt; the third one goes to quarantine.

    Returns:
        Where the match is now, or None where the attempt isn't the current one: then nothing changed.
    """
    mine = (Match.id == match, Match.attempt == attempt, Match.state == MatchState.RUNNING)
    voids = connection.execute(
        update(Match).where(*mine).values(voids=Match.voids + 1, reason=reason).returning(Match.voids)
    ).scalar_one_or_none()
    if voids is None:
        return None
    if voids >= _VOIDS:
        connection.execute(update(Match).where(*mine).values(state=MatchState.QUARANTINED, ended=at))
        return MatchState.QUARANTINED
    connection.execute(update(Match).where(*mine).values(state=MatchState.WAITING, started=None))
    return MatchState.WAITING


def of_the_house() -> ColumnElement[bool]:
    """Tell of a match whether all that sit in it are the arena's own bots."""
    stranger = (
        select(MatchSeat.seat)
        .join(BotVersion, BotVersion.id == MatchSeat.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(MatchSeat.match_id == Match.id, Bot.house.is_(False))
    )
    return ~exists(stranger.correlate(Match))


def _playable(runtime: RuntimeName, *, house_only: bool) -> Select[str]:
    mine = _open(MatchState.WAITING).where(Match.runtime == runtime)
    return mine.where(of_the_house()) if house_only else mine


def _open(state: MatchState) -> Select[str]:
    """Select the matches of an open state, oldest first, through the index of open matches."""
    return select(Match.id).where(text(OPEN), Match.state == state).order_by(Match.set_number, Match.position)


def _spec(new: NewSet, position: int, sources: list[str]) -> MatchSpec:
    return MatchSpec(
        match=f"{new.id}-{position}",
        attempt=0,  # none yet: a claim puts its own
        rules=new.rules,
        seeds=new.seeds,
        seats=tuple(sources),
        clock=new.clock,
        limits=new.limits,
        runtime=new.runtime,
    )
