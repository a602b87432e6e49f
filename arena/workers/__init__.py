"""Who plays matches for a coordinator: this host, or others. They know no database and no secrets.

What goes to a worker is the bytes of a :class:`arena.match.MatchSpec`, what comes back those of a
:class:`arena.match.MatchRecord`. Between them stands a :class:`concurrent.futures.Executor`, whoever plays.
"""
