"""Assembles the arena: creates clocks, seeds and random number generators, and passes them on.

Import its modules individually, so that a command loads only those that it uses.
"""
