"""The fault suite: kills, disconnects and starves real arenas, sends them false records, and counts the rows.

Run ``python -m tests.faults --help`` for its options.
"""
