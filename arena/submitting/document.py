"""A submission as plain data, for programs: the same from the command line and from the site."""

from datetime import datetime
from typing import Any

import msgspec

from arena.store import KnownSubmission


def document(submission: KnownSubmission) -> dict[str, Any]:
    """Return everything about a submission that its owner and operators may see; times in ISO 8601."""
    return {
        "id": submission.id,
        "bot": submission.bot,
        "author": submission.author,
        "kind": submission.kind.value,
        "note": submission.note,
        "size": submission.size,
        "sha256": submission.sha256,
        "stage": submission.stage.value,
        "waiting": submission.waiting,
        "version": submission.version,
        "received": _time(submission.received),
        "inspected": _time(submission.inspected),
        "qualifying": _time(submission.qualifying),
        "ended": _time(submission.ended),
        "cause": None if submission.cause is None else msgspec.to_builtins(submission.cause),
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
