"""Workers that begin nothing while the disk is full: a result that can't be kept would be for nothing."""

import structlog

from arena.disk import Disk
from arena.workers.status import WorkerStatus
from arena.workers.workers import Place, Workers

_log = structlog.get_logger()


class WithRoom:
    """Workers as long as there is room on the disk; see :class:`arena.workers.workers.Workers`.

    Args:
        workers: Those who play.
        disk: Where results are kept.
    """

    def __init__(self, workers: Workers, disk: Disk) -> None:
        self._workers = workers
        self._disk = disk
        self._full = False

    def take(self, seats: int) -> Place | None:
        """Reserve room for a match; none while the disk is full. What runs is played to its end."""
        full = not self._disk.has_room()
        if full and not self._full:
            _log.error("the disk is full: no match begins until there is room (ARENA_DISK_FLOOR_GIB)")
        elif self._full and not full:
            _log.info("there is room on the disk again")
        self._full = full
        return None if full else self._workers.take(seats)

    def status(self) -> tuple[WorkerStatus, ...]:
        """Return who there is."""
        return self._workers.status()

    def stop(self) -> None:
        """End all matches at once, and begin no more."""
        self._workers.stop()
