"""The ``arena`` command: one module per command or command group, and their table in ``main``.

Data goes to stdout, messages to stderr. Exit codes: 0 success; 1 a check or an action failed; 2 incorrect
usage or unusable input. To keep the help fast, a command's module is imported only when it is needed. It
imports slow modules inside its functions.
"""
