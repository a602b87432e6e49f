"""Matches in progress, as far as a test needs them."""

from random import Random

from arena.db.matches import Claim
from arena.db.store import Store
from arena.protocol.match import Progress
from arena.rules import shuffled_deck
from arena.scheduler.live import check_progress
from tests.play.replay.twins import Steps, play_rounds


def steps_of(claim: Claim, game: int, rounds: int) -> Steps:
    """Return the decisions of a game's first rounds, which are random but reproducible."""
    rules, seed = claim.spec.rules, bytes.fromhex(claim.spec.seeds[game])
    return play_rounds(rules, shuffled_deck(rules, seed), rounds, Random(game))[1]  # noqa: S311 - a test's dice


def progress_of(claim: Claim, rounds: int, *, game: int = 0) -> Progress:
    """Return a worker's progress report on a game with this many finished rounds."""
    spec = claim.spec
    return Progress(match=spec.match, attempt=spec.attempt, game=game, steps=steps_of(claim, game, rounds))


def show(store: Store, claim: Claim, rounds: int, *, game: int = 0) -> None:
    """Make this many rounds of a game visible to viewers."""
    shown = check_progress(claim, progress_of(claim, rounds, game=game))
    assert store.live.show(claim.spec.match, claim.spec.attempt, [shown])
