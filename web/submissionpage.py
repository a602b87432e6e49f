"""A submission as its page shows it: how far it is, its games, and what comes of it."""

from dataclasses import dataclass

from arena.store import KnownBot, KnownSubmission, MatchState, Store
from arena.submitting.document import SubmissionGame, whole_document
from arena.submitting.stages import Stage
from web.progress import Step, steps
from web.replay import Placed, card


@dataclass(frozen=True, slots=True, kw_only=True)
class GameLine:
    """A game that a submission plays to qualify.

    Attributes:
        number: Of the qualification, from 1; None for one that the arena could not play, and plays anew.
        reason: Why the arena failed it last, or None.
        told: The rest, as programs are told it.
    """

    number: int | None
    reason: str | None
    told: SubmissionGame


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionPage:
    """What a submission's page shows beside the submission itself.

    Attributes:
        steps: The four stages.
        queued: How many submissions are before it, while it waits to be taken in.
        games: Those there are, in their order.
        hand: The last one that the bot was asked about; empty without.
        bot: As it stands now; None where there is none of this author and name.
        first_game: Id of the first rated game of the version it became, or None.
    """

    steps: tuple[Step, ...]
    queued: int
    games: tuple[GameLine, ...]
    hand: tuple[Placed, ...]
    bot: KnownBot | None
    first_game: str | None


def read_submission_page(store: Store, known: KnownSubmission) -> SubmissionPage:
    """Read what the page of a submission shows."""
    bot = store.bots.find(known.bot)
    request = None if known.cause is None else known.cause.request
    return SubmissionPage(
        steps=steps(known),
        queued=_queued(store, known),
        games=read_games(store, known),
        hand=() if request is None else tuple(map(card, request.hand)),
        bot=bot if bot is not None and bot.account == known.account else None,
        first_game=None if known.version is None else store.reads.first_game(known.bot, known.version),
    )


def read_games(store: Store, known: KnownSubmission) -> tuple[GameLine, ...]:
    """Read the games of a submission, in their order."""
    games = store.desk.games(known.id)
    lines = []
    number = 0
    for game, told in zip(games, whole_document(known, games).games, strict=True):
        counts = game.state is not MatchState.QUARANTINED
        number += counts
        lines.append(GameLine(number=number if counts else None, reason=game.reason, told=told))
    return tuple(lines)


def _queued(store: Store, known: KnownSubmission) -> int:
    if known.stage is not Stage.RECEIVED:
        return 0
    return sum(other.number < known.number for other in store.desk.on_their_way())
