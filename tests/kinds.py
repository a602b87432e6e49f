"""The kinds of database: ``make test`` plays on SQLite what has nothing to do with which of the two it is."""

from typing import Final

import pytest

from tests.soak import SOAK

BOTH: Final = ("sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql))

SHARE: Final = BOTH if SOAK else BOTH[:1]
"""Of a test without a mark below."""

on_both: Final = pytest.mark.parametrize("url", BOTH, indirect=True)
"""For locks, what the two do differently, and so many more that PostgreSQL runs each statement once."""

filled_on_both: Final = pytest.mark.parametrize("filled", BOTH, indirect=True)
"""The same for tests that share a store."""
