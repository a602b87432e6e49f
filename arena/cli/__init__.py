"""The ``arena`` command: one module per command or command group, and their table in ``main``.

Data goes to stdout, messages to stderr. Exit codes: 0 success; 1 the thing checked or run is faulty; 2 wrong
usage or unusable input. A command is imported when called, and imports
what is slow when it runs, so that help is fast.
"""
