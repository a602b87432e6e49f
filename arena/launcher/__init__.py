"""Plays one match on this host: sockets, a referee process, a sandbox a seat, and nothing left behind.

It is the part of a worker that may start containers, and it parses nothing
that comes from them. It knows no database, no names of bots and no secrets.
"""

from arena.launcher.errors import HostFailed, HostTooSmall, LauncherError, LauncherStopped, MatchVoid
from arena.launcher.launcher import Launcher
from arena.launcher.slots import SlotPool
from arena.launcher.sweeper import sweeper

__all__ = [
    "HostFailed",
    "HostTooSmall",
    "Launcher",
    "LauncherError",
    "LauncherStopped",
    "MatchVoid",
    "SlotPool",
    "sweeper",
]
