"""How long tests wait for something that must happen."""

from typing import Final

WAIT_SECONDS: Final = 280
"""Seconds: longer than anything takes on a busy host."""
