"""Puts the arena together: the one place that makes real clocks, ids, seeds, connections and processes.

Each module is imported by its own name: a command loads only what it uses.
"""
