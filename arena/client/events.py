"""Follows a submission to its end over connections that may break."""

import time
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from arena.client.sites import SiteError, SiteProblem
from arena.protocol.submissions import Submission, WholeSubmission

if TYPE_CHECKING:
    from arena.client.site import SiteClient

_MAX_PAUSE_SECONDS: Final = 15.0


class RetryPolicy:
    """Retries with exponential backoff.

    Gives up after ``attempts`` consecutive failures. ``pause`` is the wait after the first one, in seconds.
    """

    def __init__(
        self, attempts: int = 8, pause: float = 1.0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._attempts = attempts
        self._pause = pause
        self._sleep = sleep
        self._failures = 0

    def reset(self) -> None:
        """Reset the backoff after a success."""
        self._failures = 0

    def wait(self) -> None:
        """Wait before the next request."""
        self._sleep(self._pause)

    def fail(self, trouble: SiteError) -> None:
        """Count a failure and wait before the next attempt.

        Raises the given SiteError if a retry won't help or too many attempts have failed.
        """
        if isinstance(trouble, SiteProblem) and not (
            trouble.status >= HTTPStatus.INTERNAL_SERVER_ERROR
            or trouble.status == HTTPStatus.TOO_MANY_REQUESTS
        ):
            raise trouble
        self._failures += 1
        if self._failures >= self._attempts:
            raise trouble
        self._sleep(min(self._pause * 2 ** (self._failures - 1), _MAX_PAUSE_SECONDS))


_OPEN_STAGES: Final = ("received", "inspected", "qualifying")
"""Stages before the final one. A submission's document has a time for each stage that it has reached."""


def follow(site: "SiteClient", submission: str, retries: RetryPolicy) -> Iterator[dict[str, Any]]:
    """Yield a submission immediately and after every change, until it has ended.

    Raises SiteError if the site has no submission with this id, or ``retries`` is exhausted.
    """
    shown: object = None
    while True:
        # The site occasionally ends long streams, and rejects new ones if too many are open.
        trouble = SiteError(f"{site.address} stopped sending updates on the submission")
        try:
            with site.lines(f"/submissions/{submission}/events") as lines:
                for data in events(lines, "stage"):
                    known = _decode(site, data)
                    retries.reset()
                    if known != shown:
                        shown = known
                        yield known
                    if known.get("ended") is not None:
                        return
        except SiteError as error:
            trouble = error
        retries.fail(trouble)


def stage_by_stage(changes: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield changes from :func:`follow`, each preceded by the stages skipped before it."""
    seen = set[object]()
    for document in changes:
        now = document.get("stage")
        for stage in _OPEN_STAGES:
            if document.get(stage) is not None and stage not in seen and stage != now:
                seen.add(stage)
                yield document | {"stage": stage, "waiting": None, "games": []}
        seen.add(now)
        yield document


def events(lines: Iterable[str], name: str) -> Iterator[str]:
    """Yield the data of server-sent events with this name. ``lines`` have no line endings."""
    kind, data = "", list[str]()
    for line in lines:
        field, _, value = line.partition(":")
        if not line:
            if kind == name and data:
                yield "\n".join(data)
            kind, data = "", []
        elif field == "event":
            kind = value.removeprefix(" ")
        elif field == "data":
            data.append(value.removeprefix(" "))


def _decode(site: "SiteClient", data: str) -> dict[str, Any]:
    """Validate a submission and return it as the site sent it, with all its members."""
    document: dict[str, Any] = site.parse(data)
    site.read(document, WholeSubmission if isinstance(document, dict) and "games" in document else Submission)
    return document
