"""``python -m arena.referee``: see :mod:`arena.referee.process`."""

from arena.referee.process import main

main()
