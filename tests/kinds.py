"""The kinds of database. ``make test`` runs tests that don't depend on the kind only on SQLite."""

from typing import Final

import pytest

from tests.soak import SOAK

BOTH: Final = ("sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql))

SHARE: Final = BOTH if SOAK else BOTH[:1]
"""The kinds of database for a test without one of the marks below."""

on_both: Final = pytest.mark.parametrize("url", BOTH, indirect=True)
"""For tests of locks and differences, and for enough others to run every statement on PostgreSQL."""

on_sqlite: Final = pytest.mark.parametrize("url", BOTH[:1], indirect=True)
on_postgresql: Final = pytest.mark.parametrize("url", BOTH[1:], indirect=True)

filled_on_both: Final = pytest.mark.parametrize("filled", BOTH, indirect=True)
"""The same for tests that share a store."""
