"""Assembles the arena: only this package creates real clocks, ids, seeds, connections and processes.

Import the modules by name, so that a command loads only those that it uses.
"""
