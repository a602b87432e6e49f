"""How long tests wait for something that must happen."""

from typing import Final

WAIT_SECONDS: Final = 280
"""More than anything takes on a busy host, so a test that waits this long waits in vain."""
