"""What the arena refuses to do for somebody, as problems."""

from typing import Final

from arena.admission import StrangersRefused
from arena.names import WrongName
from arena.owners import ChallengeRefused, NotYours
from arena.store import (
    BotDisqualified,
    BotTaken,
    NoSuchBot,
    NoSuchVersion,
    QuotaReached,
    SameContent,
    VersionGone,
)
from arena.submitting.errors import DiskFull, NoRoom, TooLarge, UploadRefused
from arena.submitting.hints import HINTS
from arena.submitting.stages import CauseKind
from web.problems import Problem, too_much

_PROBLEMS: Final[dict[type[Exception], tuple[int, str]]] = {
    NotYours: (403, "GET /api/v1/account/bots lists your own."),
    NoSuchBot: (404, ""),
    BotTaken: (409, "Send it under another name."),
    BotDisqualified: (409, "Ask whoever runs the arena."),
    SameContent: (409, f"Nothing was queued. {HINTS[CauseKind.SAME]}"),
    VersionGone: (409, "Submit it again, or choose another version."),
    TooLarge: (413, "Make the file smaller; docs/submitting.md has the limits."),
    ChallengeRefused: (422, ""),
    NoSuchVersion: (422, ""),
    WrongName: (422, ""),
    QuotaReached: (429, "Wait, or ask whoever runs the arena for more."),
    DiskFull: (507, "Wait, or tell whoever runs the arena."),
    NoRoom: (503, ""),  # after the one of its kinds that has a status of its own
    StrangersRefused: (503, "Whoever runs it sees why with `arena doctor`."),
    UploadRefused: (422, ""),  # after those of its kinds that have a status of their own
}
"""Status and hint by error; the hint of the status where there is none."""

_COME_AGAIN_SECONDS: Final = "5"
"""Where waiting helps: other uploads end."""

_BUSY: Final = 503

REFUSED: Final = tuple(_PROBLEMS)
"""What :func:`refusal` knows."""


def refusal(error: Exception) -> Problem:
    """Return the problem for one of ``REFUSED``."""
    status, hint = next(told for kind, told in _PROBLEMS.items() if isinstance(error, kind))
    if isinstance(error, StrangersRefused):
        # The whole text is for the operator, and names what the host lacks.
        return Problem(status, "This arena takes no bots of strangers just now.", hint=hint)
    if isinstance(error, QuotaReached) and error.wait is not None:
        return too_much(f"{error}.", error.wait, hint=hint)
    headers = {"Retry-After": _COME_AGAIN_SECONDS} if status == _BUSY else None
    return Problem(status, f"{error}.", hint=hint, headers=headers)
