"""Assembles the arena: only this package creates real clocks, ids, seeds, connections and processes.

Import its modules by name, so that a command loads only what it uses.
"""
