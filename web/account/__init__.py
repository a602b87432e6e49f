"""Accounts, login and tokens."""
