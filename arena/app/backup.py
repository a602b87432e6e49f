"""Backs up and restores an installation."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from arena.app.folders import data_dir_lock, install_id, open_results, utc_now
from arena.app.intake import image_objects, images_of
from arena.db.audit import NewAuditEntry
from arena.ops.backup import restoring
from arena.ops.backup.archive import BackupArchive, BackupManifest
from arena.ops.backup.making import BackupSources, make, read_back
from arena.ops.backup.restoring import RestoreTarget
from arena.platform.settings import Settings
from arena.submissions.receiver import uploads_folder, uploads_of


def make_backup(settings: Settings, file: BinaryIO, say: Callable[[str], None]) -> BackupManifest:
    """Write a backup of an arena, running or not.

    ``file`` need not be seekable. If it is readable, the backup is read back and verified. ``say`` receives
    progress messages. Raises IntakeError, OSError or StoreError. Raises CannotStart if there is no arena,
    and BackupError if the arena has data that can't be restored, or the disk is faulty.
    """
    with closing(open_results(settings)) as store:
        sources = BackupSources(
            store=store,
            images=images_of(settings),
            objects=image_objects(settings),
            uploads=uploads_of(settings),
            install=install_id(settings.data_dir),
        )
        manifest = make(sources, file, utc_now(), say)
    if file.readable():
        say("verifying the backup")
        read_back(file)
    return manifest


def restore_backup(settings: Settings, path: Path, who: str, say: Callable[[str], None]) -> BackupManifest:
    """Restore a backup into the data directory and database that the settings specify. Both must be empty.

    ``who`` is the operator, for the audit log; ``say`` receives progress messages. Raises IntakeError,
    OSError or StoreError. Raises BackupError if the backup is damaged, newer than this program or too old, or
    if the destination isn't empty. Raises CannotStart if an arena is running there, or the folder can't be
    created.
    """
    with BackupArchive.opened(path) as archive, data_dir_lock(settings.data_dir, restoring=True):
        place = RestoreTarget(
            data=settings.data_dir.absolute(),
            url=settings.url,
            uploads=uploads_folder(settings).absolute(),
            objects=lambda: image_objects(settings),
        )
        made = archive.manifest.made.isoformat(timespec="seconds")
        entry = NewAuditEntry(at=utc_now(), who=who, what="restore", detail=f"the backup from {made}")
        restoring.restore(archive, place, entry, say)
        return archive.manifest
