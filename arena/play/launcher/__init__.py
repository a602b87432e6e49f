"""Plays matches on this host, each with its own sockets, referee process and sandboxes.

This package may start containers, but parses nothing that comes from them. It has no access to the
database, to bots' names or to secrets. It raises:

    LauncherError
    ├── HostTooSmall      this host can never play a match
    ├── MatchVoid         an arena fault; the match must be played again
    │   ├── HostFailed    this host can't play any match now
    │   └── MatchTooLong  the match reached its time limit
    └── LauncherStopped   the arena is being stopped; nothing is wrong
"""


class LauncherError(Exception):
    """A match wasn't finished. No bot is at fault."""


class HostTooSmall(LauncherError):
    """This host can't run a full table of bots. The message says what is missing."""


class MatchVoid(LauncherError):
    """The host, the engine or the referee failed. The message says which and how."""


class HostFailed(MatchVoid):
    """This host can't run bots now, whatever the match. The message says why."""


class MatchTooLong(MatchVoid):
    """The match reached its time limit. The message gives the limit."""


class LauncherStopped(LauncherError):
    """The arena is being stopped."""
