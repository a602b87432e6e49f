"""``arena admin add-bot`` and ``prune-images``: the images of submitted bots."""

from pathlib import Path
from typing import Annotated, Final

import typer

from arena.cli.admin import write_down
from arena.cli.console import WRONG, fail, say
from arena.cli.playing import explained
from arena.images.image import IntakeTrouble, Rejected
from arena.platform.names import WrongName
from arena.protocol.controls import UntrustedBotsRefused

_MIB: Final = 1024 * 1024


def add_bot(
    name: Annotated[str, typer.Argument(help="Name of the bot: letters, digits, - and _.")],
    file: Annotated[
        Path, typer.Argument(help="A docker save archive, or a single source file (.py, .js, .mjs).")
    ],
    author: Annotated[str, typer.Option(help="Name of the bot's author.")],
) -> None:
    """Add another author's bot to the ladder, even while the arena runs."""
    from arena.app.intake import open_submissions
    from arena.platform.settings import read_settings
    from arena.sandbox.runtime import LaunchRefused

    if file.is_dir():
        fail(_folder_refused(file))
    with explained():
        try:
            with open_submissions(read_settings(), say) as submissions:
                done = submissions.submit(name, author, file)
        except (Rejected, LaunchRefused, UntrustedBotsRefused, WrongName) as error:
            fail(str(error))
        except IntakeTrouble as error:
            fail(str(error), WRONG)
    size = sum(layer.size for layer in done.image.layers) / _MIB
    write_down("add-bot", f"bot:{done.bot}", f"version {done.version}, {done.image.id}")
    typer.echo(f"{done.bot}@{done.version} {done.image.id} {size:.1f} MiB")
    if not done.new:
        say(f"no new version: the newest version of {done.bot} has the same image")


def prune_images() -> None:
    """Remove the least recently used images of submitted bots until the rest fit the quota."""
    from arena.app.intake import open_keeper
    from arena.platform.settings import read_settings

    with explained():
        try:
            with open_keeper(read_settings()) as keeper:
                pruned = keeper.prune()
        except IntakeTrouble as error:
            fail(str(error), WRONG)
    write_down("prune-images", detail=f"{len(pruned.images)} removed")
    typer.echo(
        f"{len(pruned.images)} images removed, {pruned.freed / _MIB:.1f} MiB freed, "
        f"{pruned.left / _MIB:.1f} MiB in use"
    )


def _folder_refused(folder: Path) -> str:
    if (folder / "Dockerfile").is_file():
        return (
            f"{folder} is a folder with a Dockerfile, and the arena doesn't build images. Build and save the "
            f"image yourself, then add the archive: "
            f"docker build -t mybot {folder} && docker save mybot -o mybot.tar"
        )
    return f"{folder} is a folder: give a docker save archive or a source file"
