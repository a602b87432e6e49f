"""What can be refused.

AccountError             the text is for whoever asked
├── Busy                 too many passwords are being checked at this moment
├── NoSuchAccount        nobody has that name
├── PasswordRefused      a new password that can't be used
├── RegistrationRefused  registration is closed, or needs an invitation
├── TokenRefused         a token that can't be made
└── WrongCredentials     name or password is wrong
"""


class AccountError(Exception):
    """Something was refused; the text is for whoever asked."""


class Busy(AccountError):
    """Too many passwords are being checked at this moment."""


class NoSuchAccount(AccountError):
    """Nobody has that name."""


class PasswordRefused(AccountError):
    """A new password can't be used."""


class RegistrationRefused(AccountError):
    """Registration is closed, or needs an invitation."""


class TokenRefused(AccountError):
    """A token can't be made."""


class WrongCredentials(AccountError):
    """Name or password is wrong. It doesn't say which."""
