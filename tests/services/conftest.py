"""Fixtures for the tests of services."""

from tests.accounts.conftest import world

__all__ = ["world"]
