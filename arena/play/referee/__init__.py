"""The referee of one match: requests decisions, runs the clocks, and handles faults.

It runs as an unprivileged child process because it parses untrusted input. It has no access to the database,
to Docker or to bots' names.
"""
