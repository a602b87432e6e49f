"""``arena admin add-bot`` and ``prune-images``: the images of submitted bots."""

from pathlib import Path
from typing import Annotated, Final

import typer

from arena.app.intake import open_keeper, open_submissions
from arena.cli.admin import write_down
from arena.cli.console import WRONG, fail, say
from arena.cli.playing import explained
from arena.images.image import IntakeTrouble, Rejected
from arena.platform.names import WrongName
from arena.platform.settings import read_settings
from arena.protocol.controls import UntrustedBotsRefused
from arena.sandbox.runtime import LaunchRefused

_MIB: Final = 1024 * 1024


def add_bot(
    name: Annotated[str, typer.Argument(help="Of the bot: letters, digits, - and _.")],
    file: Annotated[
        Path, typer.Argument(help="What docker save wrote, or a single source file (.py, .js, .mjs).")
    ],
    author: Annotated[str, typer.Option(help="Whose bot it is.")],
) -> None:
    """Add another author's bot and let it play. The arena may be running."""
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
        say(f"the newest version of {done.bot} is this very image already; there is no new one")


def prune_images() -> None:
    """Remove images of submitted bots beyond the quota, those used longest ago first."""
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
            f"{folder} is a folder with a Dockerfile, and the arena builds nobody's image. Build and save it "
            f"yourself, and add what was saved: "
            f"docker build -t mybot {folder} && docker save mybot -o mybot.tar"
        )
    return f"{folder} is a folder: name an archive that docker save wrote, or a source file"
