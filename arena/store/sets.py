"""Matches to be played, written as rows that wait."""

from datetime import datetime

from sqlalchemy import Connection, insert, select

from arena.match import MatchSpec, encode
from arena.rules import Rules
from arena.store.bot_models import BotVersion
from arena.store.matches import NewQualification, NewSet
from arena.store.models import Match, MatchKind, MatchSeat, MatchSet, MatchState
from arena.store.submission_models import Submission

_FIRST, _SOON, _IN_TURN = 0, 1, 2
"""Who waits for a qualification waits at a screen; then come those who are new to the ladder."""


def add_set(connection: Connection, new: NewSet, *, kind: MatchKind = MatchKind.RATED) -> tuple[str, ...]:
    """Write the rows of a set's matches and return their ids.

    Raises:
        ValueError: A version that isn't there.
    """
    sources = _sources(connection, new.id, {*sum(new.seatings, ())})
    number = _add_match_set(connection, new.id, new.rules, new.seeds, new.created)
    for position, versions in enumerate(new.seatings):
        spec = MatchSpec(
            match=f"{new.id}-{position}",
            attempt=0,  # none yet: a claim puts its own
            rules=new.rules,
            seeds=new.seeds,
            seats=tuple(sources[version] for version in versions),
            clock=new.clock,
            limits=new.limits,
            runtime=new.runtime,
        )
        precedence = _SOON if new.soon else _IN_TURN
        _add_match(connection, number, spec, position=position, kind=kind, precedence=precedence)
        seats = [
            {"match_id": spec.match, "seat": seat, "version_id": version}
            for seat, version in enumerate(versions)
        ]
        connection.execute(insert(MatchSeat), seats)
    return tuple(f"{new.id}-{position}" for position in range(len(new.seatings)))


def add_qualification(connection: Connection, new: NewQualification) -> str:
    """Write the row of a submission's match and return its id.

    Raises:
        ValueError: A version that isn't there, or a submission without an image.
    """
    sources = _sources(connection, new.id, {version for version in new.seats if version is not None})
    submission = connection.execute(
        select(Submission.number, Submission.source).where(Submission.id == new.submission)
    ).one_or_none()
    if submission is None or submission.source is None:
        raise ValueError(f"set {new.id}: the submission {new.submission} has no image")
    rules = Rules(players=len(new.seats))
    spec = MatchSpec(
        match=f"{new.id}-0",
        attempt=0,
        rules=rules,
        seeds=(new.seed,),
        seats=tuple(submission.source if version is None else sources[version] for version in new.seats),
        clock=new.clock,
        limits=new.limits,
        runtime=new.runtime,
    )
    number = _add_match_set(connection, new.id, rules, spec.seeds, new.created)
    _add_match(connection, number, spec, position=0, kind=MatchKind.QUALIFICATION, precedence=_FIRST)
    seats = [
        {
            "match_id": spec.match,
            "seat": seat,
            "version_id": version,
            "submission_number": submission.number if version is None else None,
        }
        for seat, version in enumerate(new.seats)
    ]
    connection.execute(insert(MatchSeat), seats)
    return spec.match


def _sources(connection: Connection, id_: str, versions: set[int]) -> dict[int, str]:
    rows = connection.execute(select(BotVersion.id, BotVersion.source).where(BotVersion.id.in_(versions)))
    sources = {row.id: row.source for row in rows}
    if missing := versions - sources.keys():
        raise ValueError(f"set {id_}: there are no versions {missing}")
    return sources


def _add_match_set(
    connection: Connection, id_: str, rules: Rules, seeds: tuple[str, ...], created: datetime
) -> int:
    values = {
        "id": id_,
        "players": rules.players,
        "pass_both_ways": rules.pass_both_ways,
        "soy_sauce": rules.soy_sauce,
        "dummy": rules.dummy,
        "deals": len(seeds),
        "seeds": list(seeds),
        "created": created,
    }
    return connection.execute(insert(MatchSet).values(values).returning(MatchSet.number)).scalar_one()


def _add_match(  # noqa: PLR0913 - what a waiting match is made of
    connection: Connection,
    number: int,
    spec: MatchSpec,
    *,
    position: int,
    kind: MatchKind,
    precedence: int,
) -> None:
    values = {
        "id": spec.match,
        "set_number": number,
        "position": position,
        "spec": encode(spec),
        "runtime": spec.runtime,
        "kind": kind,
        "precedence": precedence,
        "state": MatchState.WAITING,
        "attempt": 0,
        "voids": 0,
    }
    connection.execute(insert(Match).values(values))
