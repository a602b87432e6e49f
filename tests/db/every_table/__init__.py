"""Rows of every table, a module for each noun: what a database of the newest revision can hold."""

from collections.abc import Callable, Mapping

from sqlalchemy import Connection

from tests.db.every_table import (
    analyses,
    bots,
    cards,
    challenges,
    hosts,
    live_games,
    matches,
    people,
    person_games,
    ratings,
    submissions,
    workers,
)
from tests.db.every_table.games import played
from tests.db.every_table.tables import Tables

Rows = list[dict[str, object]]


def fill(connection: Connection, then: Callable[[str, Rows], Rows] = lambda _, rows: rows) -> None:
    """Write rows into all tables of a database.

    ``then`` makes a table's rows of the newest revision those of the database's revision.
    """
    tables = Tables(connection)
    games = played()
    parts: list[Mapping[str, Rows]] = [
        people.rows(),
        bots.rows(),
        submissions.rows(),
        challenges.rows(),
        matches.rows(),
        *(game.rows() for game in games),
        ratings.rows(games),
        analyses.rows(games),
        cards.rows(games),
        hosts.rows(),
        workers.rows(),
        live_games.rows(),
        person_games.rows(),
    ]
    for part in parts:
        for table, rows in part.items():
            tables.add(table, then(table, rows))
    tables.go_on_counting()
