"""Errors that the store raises. :class:`StoreError` is their base class."""

from datetime import timedelta


class StoreError(Exception):
    """An error in the store; the message says what to do."""


class BotDisqualified(StoreError):
    """An operator has disqualified the bot."""

    def __init__(self, bot: str, reason: str | None) -> None:
        super().__init__(f"{bot} was disqualified: {reason}")


class BotTaken(StoreError):
    """A bot's name is reserved, belongs to another author, or is too similar to another name."""


class CredentialsChanged(StoreError):
    """The password or token that authorised the change is no longer valid, or the account was deleted."""


class DatabaseChanged(StoreError):
    """Another version of this program has changed the tables since the database was opened."""


class DatabaseRefused(StoreError):
    """The database is damaged, in use, not empty, or not of the expected kind or version."""


class DatabaseUnavailable(StoreError):
    """The database can't be reached, or stays locked. A failed write took effect completely or not at all."""


class DatabaseUnwritable(DatabaseUnavailable):
    """The database is read-only at the moment."""


class InvitationRefused(StoreError):
    """The invitation is unknown, used or expired."""


class LastOperator(StoreError):
    """The account is the last operator."""


class NameTaken(StoreError):
    """An account's name is taken, or too similar to one that is."""


class NoSuchBot(StoreError):
    """No bot has that name."""


class NoSuchMatch(StoreError):
    """No match has that id."""


class NoSuchVersion(StoreError):
    """The bot has no version with that number."""


class QuotaReached(StoreError):
    """An account has reached a quota; ``wait`` is the time until more is allowed, or None if unknown."""

    def __init__(self, text: str, wait: timedelta | None = None) -> None:
        super().__init__(text)
        self.wait = wait


class SameContent(StoreError):
    """The bot already has a version or an open submission with the same file."""


class TooManySubscriptions(StoreError):
    """The account has reached the maximum number of subscriptions."""


class TooManyTokens(StoreError):
    """The account has reached the maximum number of tokens."""


class VersionGone(StoreError):
    """The version's image was removed to free space, so the version can't play."""


class WrongState(StoreError):
    """The state of the bot, match or account doesn't allow the operation, or is already the requested one."""
