"""A submission as plain data, for programs: the same from the command line and from the site."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

import msgspec

from arena.store import KnownSubmission, QualificationGame
from arena.submitting.figures import figures
from arena.submitting.qualification import Played


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


def whole_document(submission: KnownSubmission, games: Iterable[QualificationGame]) -> dict[str, Any]:
    """Return the same with ``games``, in their order; the figures of one that is not over are None."""
    return document(submission) | {"games": [_game(game) for game in games]}


def _game(game: QualificationGame) -> dict[str, Any]:
    return {
        "match": game.match,
        "state": game.state.value,
        "players": game.rules.players,
        "seat": game.seat,
        "game": game.game,
        "figures": _figures(game),
    }


def _figures(game: QualificationGame) -> dict[str, Any] | None:
    if game.report is None or game.record is None:
        return None
    return asdict(figures(Played(rules=game.rules, seat=game.seat, report=game.report, game=game.record)))


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
