"""``arena admin``: for whoever runs the arena. What it changes is written to the audit log."""

from contextlib import closing
from pathlib import Path
from typing import Annotated, Final

import typer

from arena.admission import StrangersRefused
from arena.bootstrap import CannotStart, open_keeper, open_results, open_submissions
from arena.cli import bots, cards, cluster, ladder, quarantine, users
from arena.cli.console import WRONG, fail, say
from arena.cli.operating import write_down
from arena.cli.playing import explained
from arena.cli.submissions import submissions
from arena.intake import IntakeTrouble, Rejected
from arena.names import WrongName
from arena.sandbox import LaunchRefused
from arena.settings import WrongSettings, read_settings
from arena.store import StoreError

_MIB: Final = 1024 * 1024

app = typer.Typer(help="For whoever runs the arena.", no_args_is_help=True)
for command in (
    users.create_user,
    users.reset_password,
    users.set_role,
    users.set_quota,
    users.show_user,
    users.list_users,
    users.invite,
    users.audit,
    bots.bots,
    bots.bench,
    bots.unbench,
    bots.retire,
    bots.play_version,
    bots.disqualify,
    bots.reinstate,
    ladder.ladder,
    cards.rebuild_statistics,
    quarantine.quarantine,
    quarantine.release,
    submissions,
    cluster.cluster_keys,
):
    app.command()(command)


@app.callback()
def admin() -> None:
    """For whoever runs the arena."""


@app.command("rebuild-ratings")
def rebuild_ratings() -> None:
    """Fold the log of games anew and put right what differs. Exit code 1 where anything did."""
    try:
        with closing(open_results(read_settings())) as store:
            rebuilt = store.writes.rebuild_ratings()
    except (CannotStart, StoreError, WrongSettings) as error:
        fail(str(error))
    write_down("rebuild-ratings", detail=f"{rebuilt.differing} differed")
    typer.echo(f"{rebuilt.events} events, {rebuilt.differing} ratings differed")
    if rebuilt.differing:
        raise typer.Exit(WRONG)


@app.command("add-bot")
def add_bot(
    name: Annotated[str, typer.Argument(help="Of the bot: letters, digits, - and _.")],
    file: Annotated[
        Path, typer.Argument(help="What docker save wrote, or a single source file (.py, .js, .mjs).")
    ],
    author: Annotated[str, typer.Option(help="Whose bot it is.")],
) -> None:
    """Take in a bot of somebody else and let it play. The arena may be running."""
    if file.is_dir():
        fail(_folder_refused(file))
    with explained():
        try:
            with open_submissions(read_settings(), say) as submissions:
                done = submissions.submit(name, author, file)
        except (Rejected, LaunchRefused, StrangersRefused, WrongName) as error:
            fail(str(error))
        except IntakeTrouble as error:
            fail(str(error), WRONG)
    size = sum(layer.size for layer in done.image.layers) / _MIB
    write_down("add-bot", f"bot:{done.bot}", f"version {done.version}, {done.image.id}")
    typer.echo(f"{done.bot}@{done.version} {done.image.id} {size:.1f} MiB")
    if not done.new:
        say(f"the newest version of {done.bot} is this very image already; there is no new one")


@app.command("prune-images")
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
