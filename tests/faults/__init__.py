"""The fault suite: real arenas as processes, killed, cut off, starved and lied to, and what is left then.

``python -m tests.faults --help`` says how to run it.
"""
