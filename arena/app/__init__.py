"""Assembles the arena: creates clocks, seeds and random generators, and passes them to other packages.

Import the modules by name, so that a command loads only those that it uses.
"""
