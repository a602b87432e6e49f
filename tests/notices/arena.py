"""An arena without matches, which waits longer than usual for a receiver, in case the host is busy.

The tests' fork server imports this module.
"""

import threading

from arena.app.arena import open_arena
from arena.notices import webhooks
from arena.platform.settings import read_settings
from tests.patience import WAIT_SECONDS


def main() -> None:
    """Run the arena until it is killed."""
    webhooks._TIMEOUT_SECONDS = WAIT_SECONDS  # type: ignore[misc]  # noqa: SLF001 - there is no setting for it
    with open_arena(read_settings(), own=True) as arena, arena.coordinator():
        threading.Event().wait()
