"""``arena backup`` and ``arena restore``: all of an arena's persistent data, in one file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arena.cli.admin import who
from arena.cli.console import fail, opened, say

if TYPE_CHECKING:
    from arena.ops.backup.archive import BackupManifest

_MIB: Final = 1024 * 1024


def backup(
    file: Annotated[str, typer.Argument(help="Backup file to write; - for stdout.")],
) -> None:
    """Write all of the arena's persistent data into one file, even while the arena runs."""
    from arena.app.backup import make_backup
    from arena.platform.settings import read_settings

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
    from arena.app.backup import restore_backup
    from arena.platform.settings import read_settings

    with _explained(str(file)):
        made = restore_backup(read_settings(), file, who(), say)
    say(f"restored: {_words(made)}")


@contextmanager
def _explained(file: str) -> Iterator[None]:
    """Turn an error into a message and an exit code."""
    from arena.app.folders import CannotStart
    from arena.db.errors import StoreError
    from arena.images.image import IntakeTrouble
    from arena.ops.backup.archive import BackupError
    from arena.platform.settings import WrongSettings

    try:
        yield
    except (BackupError, CannotStart, IntakeTrouble, StoreError, WrongSettings) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or file}: {error.strerror or error}")


def _words(made: "BackupManifest") -> str:
    """Summarize a backup's content."""
    from arena.ops.backup.archive import IMAGES, UPLOADS

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
