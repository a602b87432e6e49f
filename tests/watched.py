"""Matches that are being played, brought as far as a test wants."""

from random import Random

from arena.db.matches import Claim
from arena.db.store import Store
from arena.protocol.match import Progress
from arena.rules import shuffled_deck
from arena.scheduler.live import check_progress
from tests.play.replay.twins import Steps, play_rounds


def steps_of(claim: Claim, game: int, rounds: int) -> Steps:
    """Return what is decided in the first rounds of a game: at random, and the same each time."""
    rules, seed = claim.spec.rules, bytes.fromhex(claim.spec.seeds[game])
    return play_rounds(rules, shuffled_deck(rules, seed), rounds, Random(game))[1]  # noqa: S311 - a test's dice


def progress_of(claim: Claim, rounds: int, *, game: int = 0) -> Progress:
    """Return what a worker tells of a game of which this many rounds are over."""
    spec = claim.spec
    return Progress(match=spec.match, attempt=spec.attempt, game=game, steps=steps_of(claim, game, rounds))


def show(store: Store, claim: Claim, rounds: int, *, game: int = 0) -> None:
    """Let this many rounds of a game be watched."""
    shown = check_progress(claim, progress_of(claim, rounds, game=game))
    assert store.live.show(claim.spec.match, claim.spec.attempt, [shown])
