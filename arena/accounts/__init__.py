"""Accounts: registration, sessions, tokens, deletion and operators' actions.

    accounts = open_accounts(store, settings.registration)
    checked = accounts.sessions.check("ann", "…")
    secret = accounts.sessions.open(checked, "a browser", instead_of=None)

The package needs neither the site nor Docker.
"""
