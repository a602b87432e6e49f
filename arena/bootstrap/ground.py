"""What a process needs of its host to run bots there: swept of what an earlier run left, and held."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from arena.bootstrap.folders import private_folder
from arena.bootstrap.host import common_group, warn_of_few_cores
from arena.sandbox import Runtime
from arena.sandbox.common_group import CommonGroup
from arena.settings import Settings


@dataclass(frozen=True, slots=True)
class Ground:
    """Where bots are run.

    Attributes:
        swept: How many sandboxes of an earlier run were left and have been removed.
        group: The control group of all bots together; None where there is none.
        run_dir: Where sockets are made.
    """

    swept: int
    group: CommonGroup | None
    run_dir: Path


@contextmanager
def ground(settings: Settings, runtime: Runtime, install: str, *, plays: bool = True) -> Iterator[Ground]:
    """Clean up after earlier runs, hold what bots are held by, and leave nothing behind.

    Args:
        settings: Those of the arena.
        runtime: Runs the bots.
        install: The installation's id.
        plays: Whether bots will be run at all.

    Raises:
        CannotStart: A folder can't be made.
        RuntimeTrouble: The engine does not answer.
    """
    swept = runtime.sweep(install)
    run_dir = private_folder(settings.sockets) / install
    shutil.rmtree(run_dir, ignore_errors=True)  # a killed run's sockets
    group = common_group(runtime) if plays else None
    if group is not None:
        group.remove()  # what a killed run's containers left there
        group.hold()
    if plays:
        warn_of_few_cores()
    try:
        yield Ground(swept, group, run_dir)
    finally:
        runtime.sweep(install)
        if group is not None:
            group.remove()
        shutil.rmtree(run_dir, ignore_errors=True)
