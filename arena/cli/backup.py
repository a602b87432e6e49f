"""``arena backup`` and ``arena restore``: all of an arena's persistent data, in one file."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import typer

from arena.app.folders import CannotStart, data_dir_lock, install_id, open_results, utc_now
from arena.app.intake import image_objects, images_of
from arena.cli.admin import who
from arena.cli.console import fail, opened, say
from arena.db.audit import NewAuditEntry
from arena.db.errors import StoreError
from arena.images.image import IntakeTrouble
from arena.ops.backup import restoring
from arena.ops.backup.archive import IMAGES, UPLOADS, BackupArchive, BackupError, BackupManifest
from arena.ops.backup.making import BackupSources, make, read_back
from arena.ops.backup.restoring import RestorePlace
from arena.platform.settings import Settings, WrongSettings, read_settings
from arena.submissions.receiver import uploads_folder, uploads_of

_MIB: Final = 1024 * 1024


def backup(
    file: Annotated[str, typer.Argument(help="Backup file to write; - for stdout.")],
) -> None:
    """Write all of the arena's persistent data into one file, even while the arena runs."""
    with _explained(file), opened(file, private=True) as target:
        made = make_backup(read_settings(), target, say)
        is_read_back = target.readable()
    if is_read_back:
        say(f"backup written and verified: {_words(made)}")
    else:
        say(
            f"backup written: {_words(made)}. Not verified, because stdout can't be read back: check the copy"
        )


def restore(
    file: Annotated[Path, typer.Argument(help="Backup file to restore.")],
) -> None:
    """Restore a backup into an empty folder (ARENA_DATA_DIR) and an empty database (ARENA_DATABASE_URL)."""
    with _explained(str(file)):
        settings = read_settings()
        made = restore_backup(settings, file, who(), say)
    say(f"restored: {_words(made)}")


@contextmanager
def _explained(file: str) -> Iterator[None]:
    """Turn an error into a message and an exit code."""
    try:
        yield
    except (BackupError, CannotStart, IntakeTrouble, StoreError, WrongSettings) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or file}: {error.strerror or error}")


def _words(made: BackupManifest) -> str:
    """Summarize a backup's content."""
    counts = (
        (made.rows("bot"), "bots"),
        (made.rows("game"), "rated games"),
        (made.rows("account"), "accounts"),
        (len(made.names(f"{IMAGES}/images")), "images"),
        (len(made.names(UPLOADS)), "files waiting for intake"),
    )
    size = sum(part.size for part in made.parts.values()) / _MIB
    held = ", ".join(f"{count} {what}" for count, what in counts)
    return f"{held}, {size:.1f} MiB unpacked, as of {made.made:%Y-%m-%d %H:%M:%S} UTC"


def make_backup(settings: Settings, file: BinaryIO, say: Callable[[str], None]) -> BackupManifest:
    """Write a backup of an arena, whether it runs or not.

    ``file`` need not be seekable. If it is readable, the backup is read back and verified. ``say`` receives
    progress messages. Raises IntakeTrouble, OSError or StoreError. Raises CannotStart if there is no arena,
    and NotRestorable if the arena has data that can't be restored, or the disk is faulty.
    """
    with closing(open_results(settings)) as store:
        sources = BackupSources(
            store=store,
            images=images_of(settings),
            objects=image_objects(settings),
            uploads=uploads_of(settings),
            install=install_id(settings.data_dir),
        )
        made = make(sources, file, utc_now(), say)
    if file.readable():
        say("verifying the backup")
        read_back(file)
    return made


def restore_backup(settings: Settings, path: Path, who: str, say: Callable[[str], None]) -> BackupManifest:
    """Restore a backup into the data directory and database of the settings, which must be empty.

    ``who`` is the operator, for the audit log; ``say`` receives progress messages. Raises IntakeTrouble,
    OSError or StoreError. Raises BackupError if the backup is damaged, newer than this program or too old, or
    if the destination isn't empty. Raises CannotStart if an arena runs there, or the folder can't be created.
    """
    with BackupArchive.opened(path) as archive, data_dir_lock(settings.data_dir, restoring=True):
        place = RestorePlace(
            data=settings.data_dir.absolute(),
            url=settings.url,
            uploads=uploads_folder(settings).absolute(),
            objects=lambda: image_objects(settings),
        )
        made = archive.manifest.made.isoformat(timespec="seconds")
        entry = NewAuditEntry(at=utc_now(), who=who, what="restore", detail=f"the backup of {made}")
        restoring.restore(archive, place, entry, say)
        return archive.manifest
