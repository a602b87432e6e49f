"""Why there is no backup, or why it can't be restored.

BackupError
├── BackupDamaged   the file is no backup, or not all of it is there, or not as it was
├── BackupNewer     made by a newer version of this program
└── PlaceNotEmpty   there is something where it should go
"""


class BackupError(Exception):
    """Something is wrong with a backup; the text says what to do."""


class BackupDamaged(BackupError):
    """The file is no backup, or is cut off, or was changed."""


class BackupNewer(BackupError):
    """The backup was made by a newer version of this program."""


class PlaceNotEmpty(BackupError):
    """There is something where the backup should be restored to."""
