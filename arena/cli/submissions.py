"""``arena admin submissions``."""

import json
from contextlib import closing
from typing import Annotated

import typer

from arena.bootstrap import CannotStart, open_results
from arena.cli.console import fail
from arena.settings import WrongSettings, read_settings
from arena.store import KnownSubmission, StoreError
from arena.submitting.document import document, plain


def submissions(
    *,
    bot: Annotated[str | None, typer.Option(help="Only those of this bot.")] = None,
    last: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with causes in full.")] = False,
) -> None:
    """List what was submitted, newest first: how far it is, and why it was rejected or has to wait."""
    try:
        with closing(open_results(read_settings())) as store:
            found = store.desk.newest(bot=bot, limit=last)
    except (CannotStart, StoreError, WrongSettings) as error:
        fail(str(error))
    if as_json:
        typer.echo(json.dumps([plain(document(each)) for each in found], indent=2))
        return
    for each in found:
        typer.echo(_line(each))


def _line(submission: KnownSubmission) -> str:
    name = submission.bot if submission.version is None else f"{submission.bot}@{submission.version}"
    words = (
        submission.id,
        f"{submission.received:%Y-%m-%d %H:%M:%S}",
        submission.stage.value,
        name,
        submission.author,
        submission.kind.value,
        submission.cause.text if submission.cause else submission.waiting or submission.note,
    )
    # A cause names what a bot printed: nothing of it may move the terminal's cursor.
    return "\t".join("".join(c if c.isprintable() else " " for c in word) for word in words)
