"""Accounts: registration, sessions, tokens, deletion, and operators' actions. No web, no Docker.

accounts = open_accounts(store, settings.registration)
account = accounts.sessions.check("ann", "…")
secret = accounts.sessions.open(account, "a browser", instead_of=None)
"""
