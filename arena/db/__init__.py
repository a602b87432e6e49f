"""The store of bots, matches, games, ratings and accounts, on SQLite or PostgreSQL.

    store = open_store("sqlite:///data/arena.sqlite3")
    store.bots.add_version(NewVersion(bot="greedy", ...))
    store.ratings.standings()

Repositories return frozen data. Each call is normally one transaction. Functions that take a connection run
in their caller's transaction. Times and text ids come from the caller; the database assigns integer ids.
"""
