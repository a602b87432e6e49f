"""An arena without matches, for the tests' fork server, which imports this module."""

import threading

from arena.app.arena import open_arena
from arena.platform.settings import read_settings


def main() -> None:
    """Run the arena until it is killed."""
    with open_arena(read_settings(), own=True) as arena, arena.coordinator():
        threading.Event().wait()
