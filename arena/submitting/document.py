"""A submission as it is told to its owner and operators: the same from the command line and from the site."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import msgspec

from arena.store import KnownSubmission, MatchState, QualificationGame
from arena.submitting.figures import Figures, figures
from arena.submitting.qualification import Played
from arena.submitting.stages import Cause, Stage, UploadKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A file that was sent, and what became of it.

    Attributes:
        id: Its own.
        bot: Name.
        author: Name.
        kind: What the file is.
        note: Its author's words.
        size: Bytes.
        sha256: Of the file, hexadecimal.
        stage: How far it is.
        waiting: What the arena itself lacks to go on with it, or None.
        version: The number of the version that it became, or None.
        received: UTC.
        inspected: UTC; None where it never was.
        qualifying: UTC, of its beginning; None where it never was.
        ended: UTC; None while it is on its way.
        cause: Why it was rejected, or None.
    """

    id: str
    bot: str
    author: str
    kind: UploadKind
    note: str
    size: int
    sha256: str
    stage: Stage
    waiting: str | None
    version: int | None
    received: datetime
    inspected: datetime | None
    qualifying: datetime | None
    ended: datetime | None
    cause: Cause | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionGame:
    """A game that a submission plays, or has played, to qualify.

    Attributes:
        match: Id of its match.
        state: How far it is.
        players: How many.
        seat: The bot's, from 0.
        game: Id; None before the end.
        figures: How the bot did; None before the end.
    """

    match: str
    state: MatchState
    players: int
    seat: int
    game: str | None
    figures: Figures | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeSubmission(Submission):
    """A submission with its games.

    Attributes:
        games: In their order.
    """

    games: tuple[SubmissionGame, ...]


def document(submission: KnownSubmission) -> Submission:
    """Return everything about a submission that its owner and operators may see."""
    return Submission(**_members(submission))


def whole_document(submission: KnownSubmission, games: Iterable[QualificationGame]) -> WholeSubmission:
    """Return the same with its games."""
    return WholeSubmission(**_members(submission), games=tuple(map(_game, games)))


def plain(submission: Submission) -> dict[str, Any]:
    """Return a submission as what JSON is made of; times in ISO 8601."""
    made = msgspec.to_builtins(submission, builtin_types=(datetime,))
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in made.items()}


def _members(submission: KnownSubmission) -> dict[str, Any]:
    return {field.name: getattr(submission, field.name) for field in fields(Submission)}


def _game(game: QualificationGame) -> SubmissionGame:
    return SubmissionGame(
        match=game.match,
        state=game.state,
        players=game.rules.players,
        seat=game.seat,
        game=game.game,
        figures=_figures(game),
    )


def _figures(game: QualificationGame) -> Figures | None:
    if game.report is None or game.record is None:
        return None
    return figures(Played(rules=game.rules, seat=game.seat, report=game.report, game=game.record))
