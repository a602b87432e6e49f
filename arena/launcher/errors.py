"""Why a match was not played to its end.

::

    LauncherError
    ├── HostTooSmall      no match can be played here at all
    ├── MatchVoid         a fault of the arena; the match is to be played again
    │   └── HostFailed    no match can be played here now, and this one is not to blame
    └── LauncherStopped   the arena is being stopped; nothing is wrong
"""


class LauncherError(Exception):
    """A match was not played to its end. No bot is to blame."""


class HostTooSmall(LauncherError):
    """This host can't seat a full table. The text says what it lacks."""


class MatchVoid(LauncherError):
    """The host, the engine or the referee failed. The text says which and how."""


class HostFailed(MatchVoid):
    """This host can't run bots now, whatever the match. The text says what it lacks."""


class LauncherStopped(LauncherError):
    """The arena is being stopped."""
