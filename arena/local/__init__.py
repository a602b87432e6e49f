"""Plays, compares and rates bots on their author's machine, without an arena."""
