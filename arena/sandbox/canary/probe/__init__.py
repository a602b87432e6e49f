"""Tries to break out of a container that is started like a bot's container.

Needs only Python's standard library, and is copied only into the canary's image. ``/run/arena/task`` contains
the task's name and the limits; each attempt stops at twice its limit. Observations go to stderr, as lines of
JSON prefixed with ``canary``; only the last line counts. Nothing is judged here.
"""
