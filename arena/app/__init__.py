"""Assembles the arena: creates clocks, seeds and random generators, and passes them to other packages.

Import its modules individually, so that a command loads only those that it uses.
"""
