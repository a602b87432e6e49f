"""The command ``arena``: one module per command or group of commands, and the table of them in ``main``.

Data goes to stdout, messages to stderr. Exit codes: 0 success; 1 what was checked or run is faulty; 2 wrong
usage or unusable input. A command is imported only when it is called, which keeps the others fast.
"""
