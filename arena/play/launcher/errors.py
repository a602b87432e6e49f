"""Why a match was not played to its end.

::

    LauncherError
    ├── HostTooSmall      this host can never play a match
    ├── MatchVoid         a fault of the arena; the match must be played again
    │   └── HostFailed    this host can't play any match now
    └── LauncherStopped   the arena is being stopped; nothing is wrong
"""


class LauncherError(Exception):
    """A match wasn't played to its end. No bot is to blame."""


class HostTooSmall(LauncherError):
    """This host can't seat a full table. The text says what is missing."""


class MatchVoid(LauncherError):
    """The host, the engine or the referee failed. The text says which and how."""


class HostFailed(MatchVoid):
    """This host can't run bots now, whatever the match. The text says what is missing."""


class LauncherStopped(LauncherError):
    """The arena is being stopped."""
