"""The ``arena`` command: one module per command or set of related commands, and a table of them in ``main``.

Data goes to stdout, messages to stderr. Exit codes: 0 success; 1 a check or an action failed; 2 incorrect
usage or unusable input; 130 interrupted with Ctrl-C, SIGTERM or SIGHUP. To keep the help fast, a command's
module is imported only when it is needed, and imports slow modules inside its functions.
"""
