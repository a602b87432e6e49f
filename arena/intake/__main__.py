"""``python -m arena.intake``: read one archive, for :mod:`arena.intake.reader`."""

from arena.intake.archive.process import main

if __name__ == "__main__":
    main()
