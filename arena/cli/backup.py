"""``arena backup`` and ``arena restore``: everything that an arena has to keep, in one file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from arena.backup.errors import BackupError
from arena.backup.manifest import IMAGES, UPLOADS, Manifest
from arena.bootstrap import CannotStart
from arena.bootstrap.backups import make_backup, restore_backup
from arena.cli.console import fail, say
from arena.cli.operating import who
from arena.cli.output import opened
from arena.intake import IntakeTrouble
from arena.settings import WrongSettings, read_settings
from arena.store import StoreError

_MIB: Final = 1024 * 1024


def backup(
    file: Annotated[str, typer.Argument(help="Where it goes: a file, or - for stdout.")],
) -> None:
    """Write everything that the arena has to keep into one file, while it runs."""
    with _explained(file), opened(file, private=True) as target:
        made = make_backup(read_settings(), target, say)
    say(f"the backup is whole: {_words(made)}")


def restore(
    file: Annotated[Path, typer.Argument(help="A backup.")],
) -> None:
    """Restore a backup into an empty folder (ARENA_DATA_DIR) and an empty database (ARENA_DATABASE_URL)."""
    with _explained(str(file)):
        settings = read_settings()
        made = restore_backup(settings, file, who(), say)
    say(f"restored: {_words(made)}")


@contextmanager
def _explained(file: str) -> Iterator[None]:
    """Say what is wrong in a sentence, and end with an exit code."""
    try:
        yield
    except (BackupError, CannotStart, IntakeTrouble, StoreError, WrongSettings) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or file}: {error.strerror or error}")


def _words(made: Manifest) -> str:
    """Return what a backup holds."""
    counts = (
        (made.rows("bot"), "bots"),
        (made.rows("game"), "rated games"),
        (made.rows("account"), "accounts"),
        (len(made.names(f"{IMAGES}/images")), "images"),
        (len(made.names(UPLOADS)), "files on their way"),
    )
    size = sum(part.size for part in made.parts.values()) / _MIB
    held = ", ".join(f"{count} {what}" for count, what in counts)
    return f"{held}, {size:.1f} MiB unpacked, as of {made.made:%Y-%m-%d %H:%M:%S} UTC"
