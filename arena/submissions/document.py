"""The document that the site and the command line show to a submission's owner and to operators."""

from collections.abc import Sequence
from dataclasses import fields
from statistics import median

from arena.db.submissions import KnownSubmission, QualificationGame
from arena.ladder.qualification import Played, numbers
from arena.protocol.faults import Fault, places_with_faults, taken_over
from arena.protocol.match import played_again
from arena.protocol.submissions import Figures, Submission, SubmissionGame, WholeSubmission


def figures(played: Played) -> Figures:
    """Return the figures for a finished game."""
    decisions = [decision for step in played.game.steps if (decision := step[played.seat]) is not None]
    millis = [decision.millis for decision in decisions if decision.millis is not None]
    return Figures(
        place=_place(played),
        decisions=sum(decision.fault is not None or not decision.standin for decision in decisions),
        median_millis=median(millis) if millis else None,
        slowest_millis=max(millis, default=None),
        late=sum(decision.fault is Fault.TIMEOUT for decision in decisions),
        notes=sum(decision.note is not None for decision in decisions),
        stderr_bytes=len(played.report.stderr.encode()),
    )


def _place(played: Played) -> int:
    faults = [[decision.fault if decision else None for decision in step] for step in played.game.steps]
    result = played_again(played.rules, played.game).state.result
    if result is None:
        raise ValueError("the record ends before the game is over")
    return places_with_faults(result.places, taken_over(faults, played.rules.players))[played.seat]


def whole_document(submission: KnownSubmission, games: Sequence[QualificationGame]) -> WholeSubmission:
    """Return a submission's document with its games."""
    played = [game.played for game in games]
    lines = zip(numbers(played), games, played, strict=True)
    members = {field.name: getattr(submission, field.name) for field in fields(Submission)}
    return WholeSubmission(**members, games=tuple(_game(*line) for line in lines))


def _game(number: int, game: QualificationGame, played: Played | None) -> SubmissionGame:
    return SubmissionGame(
        number=number,
        match=game.match,
        state=game.state,
        players=game.rules.players,
        seat=game.seat,
        game=game.game,
        figures=None if played is None else figures(played),
    )
