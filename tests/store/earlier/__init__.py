"""What databases of earlier revisions hold: rows of every table, a module for each noun.

Rows are written as the newest revision has them. What a revision doesn't know yet is left out: its tables are
read from the database itself (:mod:`tests.store.earlier.tables`), so no older program is needed.
"""

from collections.abc import Mapping

from sqlalchemy import Connection

from tests.store.earlier import (
    bots,
    cards,
    challenges,
    hosts,
    live_games,
    matches,
    people,
    ratings,
    submissions,
    workers,
)
from tests.store.earlier.games import played
from tests.store.earlier.tables import Tables


def fill(connection: Connection, revision: str) -> None:
    """Write rows into all tables of a database that is at this revision."""
    tables = Tables(connection, revision)
    games = played(tables)
    parts: list[Mapping[str, list[dict[str, object]]]] = [
        people.rows(),
        bots.rows(),
        submissions.rows(),
        matches.rows(tables),
        challenges.rows(),
        *(game.rows() for game in games),
        ratings.rows(tables, games),
        cards.rows(tables, games),
        hosts.rows(),
        workers.rows(),
        live_games.rows(),
    ]
    for part in parts:
        for table, rows in part.items():
            tables.add(table, rows)
    tables.go_on_counting()
