"""Puts together what receives files for bots. No engine, so that the site may do it too."""

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from arena.disk import Disk
from arena.settings import Settings
from arena.store import Quota, Store
from arena.submitting.receiver import Receiver
from arena.submitting.uploads import Uploads

_ID_BYTES: Final = 8
_MOST_ON_THEIR_WAY: Final = 100
"""Submissions of all authors: their files fit on a disk, and nobody waits for hours."""


def open_receiver(settings: Settings, store: Store, *, own: bool = False) -> Receiver:
    """Return what receives files.

    Args:
        settings: Those of the arena.
        store: The arena's.
        own: Whether all files are those of whoever runs the bots.
    """
    quota = Quota(
        submissions_a_day=settings.submissions_a_day,
        bots=settings.bots_per_author,
        on_their_way=_MOST_ON_THEIR_WAY,
    )
    return Receiver(
        store,
        uploads_of(settings),
        quota,
        now=lambda: datetime.now(UTC),
        new_id=lambda: secrets.token_hex(_ID_BYTES),
        own=own,
    )


def uploads_of(settings: Settings) -> Uploads:
    """Return where received files are kept."""
    folder = uploads_folder(settings)
    return Uploads(folder, Disk(folder, settings.least_free))


def uploads_folder(settings: Settings) -> Path:
    """Return the folder that they are in."""
    return settings.data_dir / "uploads"
