"""How long tests wait for what must come."""

from typing import Final

WAIT_SECONDS: Final = 280
"""More than anything takes on a machine with much other work: who waits so long waits in vain."""
