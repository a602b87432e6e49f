"""Accounts: registration, sessions, tokens, deletion, and what operators do. No web, no Docker.

accounts = open_accounts(store.people, settings.registration)
account = accounts.sessions.check("ann", "…")
secret = accounts.sessions.open(account, "a browser", instead_of=None)
"""

from arena.accounts.accounts import Accounts, open_accounts
from arena.accounts.errors import (
    AccountError,
    Busy,
    NoSuchAccount,
    PasswordRefused,
    RegistrationRefused,
    TokenRefused,
    WrongCredentials,
)
from arena.accounts.sources import Sources
from arena.accounts.tokens import Bearer, Scope, scopes_of

__all__ = [
    "AccountError",
    "Accounts",
    "Bearer",
    "Busy",
    "NoSuchAccount",
    "PasswordRefused",
    "RegistrationRefused",
    "Scope",
    "Sources",
    "TokenRefused",
    "WrongCredentials",
    "open_accounts",
    "scopes_of",
]
