"""A submission that is followed until its end, over connections that may break."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from arena.client.documents import Submission
from arena.client.errors import SiteTrouble
from arena.client.patience import Patience
from arena.client.site import Site

_ON_THE_WAY: Final = ("received", "inspected", "qualifying")
"""Stages before the last one; a submission has a time for each that it reached."""


def follow(site: Site, submission: str, patience: Patience) -> Iterator[dict[str, Any]]:
    """Yield a submission now and at every change; the last one has ended.

    Args:
        site: Where it is.
        submission: Its id.
        patience: With a site that doesn't answer.

    Raises:
        SiteTrouble: The site has no such submission, or patience has come to its end.
    """
    shown: object = None
    while True:
        # The site ends a long stream now and then, and one at once where too many are open.
        trouble = SiteTrouble(f"{site.address} does not say what becomes of the submission")
        try:
            with site.lines(f"/submissions/{submission}/events") as lines:
                for data in events(lines, "stage"):
                    known = _decode(site, data)
                    patience.regain()
                    if known != shown:
                        shown = known
                        yield known
                    if known.get("ended") is not None:
                        return
        except SiteTrouble as error:
            trouble = error
        patience.lose(trouble)


def stage_by_stage(changes: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield changes, and before each the stages that went by since the last one, as if they had been seen.

    Args:
        changes: Of a submission, from :func:`follow`.
    """
    seen = set[object]()
    for told in changes:
        now = told.get("stage")
        for stage in _ON_THE_WAY:
            if told.get(stage) is not None and stage not in seen and stage != now:
                seen.add(stage)
                yield told | {"stage": stage, "waiting": None}
        seen.add(now)
        yield told


def events(lines: Iterable[str], name: str) -> Iterator[str]:
    """Yield the data of server-sent events of a name.

    Args:
        lines: Of the stream, without their ends.
        name: Of the events that are wanted.
    """
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


def _decode(site: Site, data: str) -> dict[str, Any]:
    """Return a submission as the site tells it, all of it, after a look whether it is one."""
    told: dict[str, Any] = site.parse(data)
    site.read(told, Submission)
    return told
