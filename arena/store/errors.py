"""What can be wrong with a store.

StoreError
├── BotDisqualified    an operator took it off the ladder
├── BotTaken           a bot of that name belongs to somebody else
├── DatabaseChanged    another version of this program has changed the tables
├── DatabaseDamaged    the file fails its integrity check, or is no database at all
├── DatabaseForeign    a database of something else
├── DatabaseNewer      made by a newer version of this program
├── DatabaseNotEmpty   a backup is restored into an empty one only
├── DatabaseUnavailable  it can't be reached, or stays locked
│   └── DatabaseUnwritable  it can be read, and not written to
├── InvitationRefused  an invitation that lets nobody in
├── LastOperator       without it nobody could operate the arena
├── NoSuchBot          there is none of that name
├── NoSuchMatch        there is none of that id
├── NoSuchVersion      a bot has none of that number
├── NameTaken          an account of that name belongs to somebody else
├── QuotaReached       somebody has sent as much as may be sent
├── SameContent        a bot has this file already
├── TooManyTokens      an account has as many as it may have
├── VersionGone        a version's image was removed
└── WrongState         something is not in a state that allows it
"""

from datetime import timedelta


class StoreError(Exception):
    """Something is wrong with the store; the text says what to do."""


class BotDisqualified(StoreError):
    """An operator took the bot off the ladder for good."""


class BotTaken(StoreError):
    """A bot of that name belongs to another author."""


class DatabaseChanged(StoreError):
    """The tables are those of another version of this program, which has been here since."""


class DatabaseDamaged(StoreError):
    """The file fails its integrity check, or is no database at all."""


class DatabaseForeign(StoreError):
    """The database holds something else."""


class DatabaseNewer(StoreError):
    """The database was made by a newer version of this program."""


class DatabaseNotEmpty(StoreError):
    """There is something in a database that has to be empty."""


class DatabaseUnavailable(StoreError):
    """The database can't be reached, or stays locked. What was to be written is all there or not at all."""


class DatabaseUnwritable(DatabaseUnavailable):
    """The database can be read, and can't be written to just now."""


class InvitationRefused(StoreError):
    """An invitation is not known, has been used, or is too old."""


class LastOperator(StoreError):
    """Without this account nobody could operate the arena."""


class NameTaken(StoreError):
    """An account of that name belongs to somebody else."""


class NoSuchBot(StoreError):
    """There is no bot of that name."""


class NoSuchMatch(StoreError):
    """There is no match of that id."""


class NoSuchVersion(StoreError):
    """The bot has no version of that number."""


class QuotaReached(StoreError):
    """Somebody has sent, or has, as much as may be.

    Args:
        text: What is too much.
        wait: How long it takes until there is room again; None where that can't be known.
    """

    def __init__(self, text: str, wait: timedelta | None = None) -> None:
        super().__init__(text)
        self.wait = wait


class SameContent(StoreError):
    """A version of the bot was made of this very file, or one is about to be."""


class TooManyTokens(StoreError):
    """An account has as many tokens as it may have."""


class VersionGone(StoreError):
    """The image of a version was removed to make room, so it can't play again."""


class WrongState(StoreError):
    """A bot, a match or an account is not in a state that allows what was asked for, or is so already."""
