"""The public replay of a game, ``sushigo-replay/1``: write it, read it, check it.

    line = encode(build(game=..., seed=..., state=state, seats=..., places=...))
    difference = verify(parse(line))    # None if it agrees with the rules
    steps = course(parse(line))         # hands and tables in each turn

docs/replay.md describes the format.
"""
