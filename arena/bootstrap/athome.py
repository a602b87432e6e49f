"""An arena for bots of one's own: in a folder of its own, beside any other arena, and gone afterwards.

Each has a folder below one that all of a user's share, and holds that folder's lock while it lives. A lock
goes with its process, however that ends. So the next one sees what a killed one has left, and removes it.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.bootstrap.arena import Arena, open_arena
from arena.bootstrap.errors import CannotStart
from arena.bootstrap.folders import alone, install_id, private_folder
from arena.bootstrap.host import common_group, runtime_of
from arena.bootstrap.intake import image_source, images_of
from arena.match import RuntimeName
from arena.sandbox import RuntimeTrouble
from arena.sandbox.docker_engine import connect
from arena.sandbox.docker_runtime import DockerRuntime
from arena.settings import Settings
from arena.submitting.opening import open_receiver
from arena.submitting.receiver import Receiver

_LASTING: Final = "/var/tmp"  # noqa: S108 - a folder in it is made for this user alone
"""Where temporary files outlast a restart of the machine: the engine's containers and images do too."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaAtHome:
    """An arena without strangers.

    Attributes:
        arena: It.
        receiver: Takes files for its bots.
    """

    arena: Arena
    receiver: Receiver
    _settings: Settings

    def image_bytes(self, source: str) -> int:
        """Return what the layers of a kept image have together.

        Raises:
            IntakeTrouble: It can't be read.
        """
        image = images_of(self._settings).records.image(source)
        return 0 if image is None else sum(layer.size for layer in image.layers)


@contextmanager
def open_at_home(settings: Settings, say: Say) -> Iterator[ArenaAtHome]:
    """Put an arena together of which nothing stays, and remove first what killed ones have left.

    Args:
        settings: Of this machine; those of an arena that may run here are not used.
        say: Is told what was removed, and what could not be.

    Raises:
        CannotStart: A folder can't be made, or this machine is too small.
        RuntimeTrouble: The engine does not answer.
    """
    connect().close()  # before there is anything that only an engine can remove
    with _folder(settings, say) as folder:
        own = _settings_in(settings, folder)
        try:
            with open_arena(own, own=True) as arena:
                receiver = open_receiver(own, arena.store, own=True)
                yield ArenaAtHome(arena=arena, receiver=receiver, _settings=own)
        finally:
            try:
                _remove(own, folder)
            except (RuntimeTrouble, OSError) as error:
                say(f"not all of the check could be removed, the next one tries again: {error}")


def _settings_in(settings: Settings, folder: Path) -> Settings:
    """Return settings under which nothing of an arena of this machine is used, or stands in the way."""
    return settings.model_copy(
        update={
            "data_dir": folder / "data",
            "database_url": None,
            "images_url": None,
            "executor": None,
            "sandbox": RuntimeName.DOCKER,
            "ops_address": None,
            "disk_floor_gib": 0,
            "submissions_a_day": 1,
            "bots_per_author": 1,
        }
    )


@contextmanager
def _folder(settings: Settings, say: Say) -> Iterator[Path]:
    """Give a new folder, held by its lock."""
    lasting = Path(os.environ.get("TMPDIR", _LASTING))
    parent = private_folder(lasting / f"kaiten-check-{os.geteuid()}", setting="TMPDIR")
    with ExitStack() as held:
        # Nobody takes a new folder for a dead one before its lock is held.
        with (parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for left in filter(Path.is_dir, sorted(parent.iterdir())):
                _remove_dead(_settings_in(settings, left), left, say)
            folder = Path(tempfile.mkdtemp(prefix="", dir=parent))
            held.enter_context(alone(folder))
        yield folder


def _remove_dead(settings: Settings, folder: Path, say: Say) -> None:
    with ExitStack() as held:
        try:
            held.enter_context(alone(folder))
        except CannotStart:  # it lives
            return
        _remove(settings, folder)
        say(f"removed what a killed check had left ({folder})")


def _remove(settings: Settings, folder: Path) -> None:
    """Remove all of an arena: the engine's part first, for the folder is what tells of it."""
    if settings.data_dir.is_dir():
        install = install_id(settings.data_dir)
        shutil.rmtree(settings.data_dir / "images", ignore_errors=True)
        with closing(runtime_of(settings, install, image_source)) as runtime:
            runtime.sweep(install)
            if isinstance(runtime, DockerRuntime):
                runtime.prune_images()  # all of them: none is kept any more
            if group := common_group(runtime):
                group.remove()
        shutil.rmtree(settings.sockets / install, ignore_errors=True)
    shutil.rmtree(folder)
