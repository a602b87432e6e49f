"""Counts the files that are sent for bots."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from arena.submitting.receiver import Incoming, Upload
from web.metrics import SiteMetrics

Begin = Callable[[Upload], AbstractContextManager[Incoming]]
"""What takes a file; see :class:`arena.submitting.receiver.Receiver`."""


def counted(begin: Begin, metrics: SiteMetrics) -> Begin:
    """Return what takes a file and counts it; one whose sender is gone counts as refused.

    Args:
        begin: Takes it.
        metrics: Count it.
    """

    @contextmanager
    def begin_counted(upload: Upload) -> Iterator[Incoming]:
        received = False
        try:
            with begin(upload) as incoming:
                yield incoming
            received = True
        finally:
            metrics.uploaded(received=received)

    return begin_counted
