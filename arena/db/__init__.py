"""The store of bots, matches, games, ratings and accounts, on SQLite or PostgreSQL.

    store = open_store("sqlite:///data/arena.sqlite3")
    store.bots.add_version(NewVersion(bot="greedy", ...))
    store.ratings.standings()

Repositories return frozen data. Each call is one transaction. Functions that take a connection run in their
caller's transaction. Ids and times come from the caller.
"""
