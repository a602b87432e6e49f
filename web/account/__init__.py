"""Accounts, log-in and tokens."""
