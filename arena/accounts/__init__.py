"""Accounts: registration, sessions, tokens, deletion, operators' actions. Needs neither the site nor Docker.

accounts = open_accounts(store, settings.registration)
checked = accounts.sessions.check("ann", "…")
secret = accounts.sessions.open(checked, "a browser", instead_of=None)
"""
