"""What these tests share."""

from tests.accounts.conftest import world

__all__ = ["world"]
