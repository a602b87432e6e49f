"""Matches in progress, as far as tests need them."""

from random import Random

from arena.db.matches import Claim
from arena.db.store import Store
from arena.protocol.match import MatchSpec, Progress
from arena.rules import shuffled_deck
from arena.scheduler.live import check_progress
from tests.play.replay.twins import Steps, play_rounds


def steps_of(spec: MatchSpec, game: int, rounds: int) -> Steps:
    """Return random but reproducible decisions of a game's first rounds."""
    rules, seed = spec.rules, bytes.fromhex(spec.seeds[game])
    return play_rounds(rules, shuffled_deck(rules, seed), rounds, Random(game))[1]  # noqa: S311 - a test's dice


def progress_of(spec: MatchSpec, rounds: int, *, game: int = 0) -> Progress:
    """Return a worker's progress report on a game with this many finished rounds."""
    return Progress(match=spec.match, attempt=spec.attempt, game=game, steps=steps_of(spec, game, rounds))


def show(store: Store, claim: Claim, rounds: int, *, game: int = 0) -> None:
    """Make this many rounds of a game visible to viewers."""
    shown = check_progress(claim, progress_of(claim.spec, rounds, game=game))
    assert store.live.show(claim.spec.match, claim.spec.attempt, [shown])
