"""The bar of an upload."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from arena.client.sending import Report


@contextmanager
def sending_bar(what: str) -> Iterator[Report]:
    """Give what shows how much has been sent, on stderr where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _sent, _total: None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda sent, total: progress.update(task, completed=sent, total=total)
