"""Backups of an arena that may be running, and restoring one."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from arena.backup.archive import Archive
from arena.backup.making import Sources, make
from arena.backup.manifest import Manifest
from arena.backup.restoring import Place, restore
from arena.bootstrap.chances import utc_now
from arena.bootstrap.folders import alone, install_id
from arena.bootstrap.intake import image_objects, images_of
from arena.bootstrap.results import open_results
from arena.settings import Settings
from arena.store import NewAuditEntry
from arena.submitting.opening import uploads_folder, uploads_of


def make_backup(settings: Settings, file: BinaryIO, say: Callable[[str], None]) -> Manifest:
    """Write a backup of an arena that exists, whether it runs or not.

    Args:
        settings: Those of the arena.
        file: Where it goes; it needs not be seekable.
        say: Is told what takes time.

    Raises:
        CannotStart: There is no arena.
        IntakeTrouble: An image can't be read.
        OSError: The file can't be written.
        StoreError: The database can't be used.
    """
    with closing(open_results(settings)) as store:
        sources = Sources(
            store=store,
            images=images_of(settings),
            objects=image_objects(settings),
            uploads=uploads_of(settings),
            install=install_id(settings.data_dir),
        )
        return make(sources, file, utc_now(), say)


def restore_backup(settings: Settings, path: Path, who: str, say: Callable[[str], None]) -> Manifest:
    """Restore a backup into the place that the settings name, which must be empty.

    Args:
        settings: Those of the arena to be.
        path: Of the backup.
        who: Restores it, for the audit log.
        say: Is told what takes time.

    Raises:
        BackupError: It is damaged or newer, or the place is not empty.
        CannotStart: An arena runs there, or the folder can't be made.
        IntakeTrouble: Images can't be written.
        OSError: Something can't be read or written.
        StoreError: The database can't be used.
    """
    with Archive.opened(path) as archive, alone(settings.data_dir, restoring=True):
        place = Place(
            data=settings.data_dir.absolute(),
            url=settings.url,
            uploads=uploads_folder(settings).absolute(),
            objects=lambda: image_objects(settings),
        )
        made = archive.manifest.made.isoformat(timespec="seconds")
        entry = NewAuditEntry(at=utc_now(), who=who, what="restore", detail=f"the backup of {made}")
        restore(archive, place, entry, say)
        return archive.manifest
