"""What can be wrong with a store.

StoreError
├── BotTaken           a bot of that name belongs to somebody else
├── DatabaseDamaged    the file fails its integrity check, or is no database at all
├── DatabaseForeign    a database of something else
├── DatabaseNewer      made by a newer version of this program
├── DatabaseUnavailable  it can't be reached, or stays locked
├── InvitationRefused  an invitation that lets nobody in
├── NameTaken          an account of that name belongs to somebody else
├── QuotaReached       somebody has sent as much as may be sent
└── TooManyTokens      an account has as many as it may have
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


class InvitationRefused(StoreError):
    """An invitation is not known, has been used, or is too old."""


class NameTaken(StoreError):
    """An account of that name belongs to somebody else."""


class QuotaReached(StoreError):
    """Somebody has sent, or has, as much as may be."""


class TooManyTokens(StoreError):
    """An account has as many tokens as it may have."""
