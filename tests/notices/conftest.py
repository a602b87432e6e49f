"""Fixtures for the tests of notifications."""

from tests.accounts.conftest import world

__all__ = ["world"]
