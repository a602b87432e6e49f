"""How many matches there are to be played, and to be looked at. It costs as much as these are."""

from sqlalchemy import Connection, func, select, text

from arena.store.models import OPEN, QUARANTINED, Match, MatchKind, MatchState

SHOWN = (MatchState.WAITING, MatchState.RUNNING, MatchState.QUARANTINED)


def read(connection: Connection) -> dict[tuple[MatchState, MatchKind], int]:
    """Return how many matches wait, run and were put aside, of each kind, where there are none too."""
    found = dict.fromkeys(((state, kind) for state in SHOWN for kind in MatchKind), 0)
    for part in (OPEN, QUARANTINED):  # each has an index of its own
        rows = connection.execute(
            select(Match.state, Match.kind, func.count().label("many"))
            .where(text(part))
            .group_by(Match.state, Match.kind)
        )
        found |= {(MatchState(row.state), MatchKind(row.kind)): row.many for row in rows}
    return found
