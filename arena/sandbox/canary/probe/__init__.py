"""Tries to break out: run inside a container that was started as a bot's is.

Needs nothing but Python's standard library, and is copied only into the canary's image. ``/run/arena/task``
says what to try and how far: every attempt stops at twice what should be possible. What was seen goes to
stderr, in lines of JSON behind ``canary``; the last one counts. Nothing is judged here.
"""
