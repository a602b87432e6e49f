"""Errors of the account services, and a check for account names."""

from arena.platform.names import WrongName, check_name, is_reserved


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


def check_account_name(name: str) -> None:
    """Check that an account may have this name. Raises WrongName; its message says what is allowed."""
    check_name(name, "user")
    if is_reserved(name):
        raise WrongName(f"the name {name} is reserved for the arena: choose another")
