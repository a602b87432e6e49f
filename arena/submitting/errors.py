"""Why a file was not received.

UploadRefused
├── TooLarge   more than is taken
├── Damaged    not what its sender said, or cut off
└── NoRoom     the arena can't take it now: too many at once
    └── DiskFull  or a full disk
"""


class UploadRefused(Exception):
    """A file was not received, and nothing of it is left. The text is for its sender."""


class TooLarge(UploadRefused):
    """The file is larger than what is taken."""


class Damaged(UploadRefused):
    """The file is not what its sender said, or not all of it came."""


class NoRoom(UploadRefused):
    """The arena can't take a file now. Nothing is wrong with it."""


class DiskFull(NoRoom):
    """There is too little room on the arena's disk."""
