"""Tries to break out, from inside a container that is started like a bot's.

Needs only Python's standard library, and is copied only into the canary's image. ``/run/arena/task`` gives
the attempts and their extent: each stops at twice the limit. Observations go to stderr, in lines of JSON
after ``canary``; the last one counts. Nothing is judged here.
"""
