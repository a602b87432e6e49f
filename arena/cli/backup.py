"""The commands ``arena backup`` and ``arena restore``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arena.cli.console import fail, open_output, say
from arena.cli.operating import operator_name
from arena.platform.text import counted

if TYPE_CHECKING:
    from arena.ops.backup.archive import BackupManifest


_MIB: Final = 1024 * 1024


def backup(
    file: Annotated[str, typer.Argument(help="Backup file to write; - for stdout.")],
) -> None:
    """Write all of the arena's persistent data into one file, even while the arena is running."""
    from arena.app.backup import make_backup
    from arena.platform.settings import read_settings

    with _exit_on_backup_error(file), open_output(file, private=True) as target:
        manifest = make_backup(read_settings(), target, say)
        is_read_back = target.readable()
    if is_read_back:
        say(f"backup written and verified: {_summary(manifest)}")
    else:
        place = "stdout" if file == "-" else file
        say(
            f"backup written: {_summary(manifest)}. It went to {place}, so it was not verified. "
            "Verify the backup yourself"
        )


def restore(
    file: Annotated[Path, typer.Argument(help="Backup file to restore.")],
) -> None:
    """Restore a backup into an empty folder (ARENA_DATA_DIR) and an empty database (ARENA_DATABASE_URL)."""
    from arena.app.backup import restore_backup
    from arena.platform.settings import read_settings

    with _exit_on_backup_error(str(file)):
        manifest = restore_backup(read_settings(), file, operator_name(), say)
    say(f"restored: {_summary(manifest)}")


@contextmanager
def _exit_on_backup_error(file: str) -> Iterator[None]:
    from arena.app.folders import CannotStart
    from arena.db.errors import StoreError
    from arena.images.image import IntakeError
    from arena.ops.backup.archive import BackupError
    from arena.platform.settings import WrongSettings

    try:
        yield
    except (BackupError, CannotStart, IntakeError, StoreError, WrongSettings) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or file}: {error.strerror or error}")


def _summary(manifest: "BackupManifest") -> str:
    from arena.ops.backup.archive import IMAGES, UPLOADS

    counts = (
        (manifest.rows("bot"), "bot"),
        (manifest.rows("game"), "rated game"),
        (manifest.rows("account"), "account"),
        (len(manifest.names(f"{IMAGES}/images")), "image"),
        (len(manifest.names(UPLOADS)), "unprocessed upload"),
    )
    size = sum(part.size for part in manifest.parts.values()) / _MIB
    held = ", ".join(counted(*each) for each in counts)
    return f"{held}, {size:.1f} MiB unpacked, as of {manifest.made:%Y-%m-%d %H:%M:%S} UTC"
