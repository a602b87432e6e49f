"""Errors of the account services."""


class AccountError(Exception):
    """A refusal; the message is for the user."""


class Busy(AccountError):
    """Too many passwords are being checked."""


class NoSuchAccount(AccountError):
    """No account has that name."""


class PasswordRefused(AccountError):
    """A new password can't be used."""


class RegistrationRefused(AccountError):
    """Registration is closed, or needs an invitation."""


class TokenRefused(AccountError):
    """A token can't be created."""


class WrongCredentials(AccountError):
    """The name, the password or a token is wrong or no longer valid; a login doesn't reveal which."""
