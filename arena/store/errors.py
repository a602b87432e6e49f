"""What can be wrong with a store.

StoreError
├── BotTaken           a bot of that name belongs to somebody else
├── DatabaseDamaged    the file fails its integrity check, or is no database at all
├── DatabaseForeign    a database of something else
├── DatabaseNewer      made by a newer version of this program
└── DatabaseUnavailable  it can't be reached, or stays locked
"""


class StoreError(Exception):
    """Something is wrong with the store; the text says what to do."""


class BotTaken(StoreError):
    """A bot of that name belongs to another author."""


class DatabaseDamaged(StoreError):
    """The file fails its integrity check, or is no database at all."""


class DatabaseForeign(StoreError):
    """The database holds something else."""


class DatabaseNewer(StoreError):
    """The database was made by a newer version of this program."""


class DatabaseUnavailable(StoreError):
    """The database can't be reached, or stays locked. What was to be written is all there or not at all."""
