"""Tests of challenges' results, with matches that have really been played."""

import random
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from arena.db.store import Store
from arena.play.replay.document import parse
from arena.protocol.challenges import ChallengeState, ChallengeSummary
from arena.services.owners import challenge_summary
from tests.accounts.world import World
from tests.builders import START, add_bots, finish
from tests.db.builders import claim_one, new_challenge, present, put_aside
from tests.web.stable import disqualify

ENTRANTS: Final = (("mine", 1), ("greedy", 1), ("other", 1))


@pytest.fixture
def store(world: World) -> Store:
    """Return a store with a waiting challenge of three bots and two deals."""
    ann = world.add("ann")
    versions = add_bots(world.store, [("mine", "ann"), ("greedy", "house"), ("other", "ben")])
    world.store.challenges.add(new_challenge("c", ann.id, versions), max_a_day=1)
    return world.store


def told(store: Store) -> ChallengeSummary:
    """Return the summary of the challenge."""
    return challenge_summary(present(store.challenges.find("c")))


def play(store: Store, *, games: int = 2, faults: float = 0) -> None:
    """Play the next match, or only its first ``games`` games."""
    dice = random.Random(7)  # noqa: S311 - reproducible
    done = finish(claim_one(store), dice, ended=START + timedelta(minutes=1), faults=faults)
    assert store.results.record(replace(done, games=done.games[:games]))


def test_a_waiting_challenge_has_no_results(store: Store) -> None:
    """The entrants are known, with the challenger first, but have no results."""
    waiting = told(store)
    assert (waiting.id, waiting.bot, waiting.version, waiting.deals) == ("c", "mine", 1, 2)
    assert (waiting.state, waiting.games) == (ChallengeState.WAITING, ())
    assert tuple((each.bot, each.version) for each in waiting.entrants) == ENTRANTS
    for each in waiting.entrants:
        assert (each.games, each.wins, each.mean_place, each.points) == (0, 0, None, None)


def test_every_game_counts_for_everybody(store: Store) -> None:
    """Points and places are those of the replays, by bot. Faults affect places as usual."""
    states = []
    for _ in ENTRANTS:
        play(store, faults=0.2)
        states.append(told(store).state)
    assert states == [ChallengeState.RUNNING, ChallengeState.RUNNING, ChallengeState.DONE]
    done = told(store)
    replays = [parse(game.replay) for game in present(store.challenges.find("c")).games]
    assert [game.game for game in done.games] == [replay.game for replay in replays]
    assert any(replay.places != replay.rules_places for replay in replays)
    for each in done.entrants:
        seats = [[seat.bot for seat in replay.seats].index(each.bot) for replay in replays]
        places = [replay.places[seat] for replay, seat in zip(replays, seats, strict=True)]
        points = [replay.totals[seat] for replay, seat in zip(replays, seats, strict=True)]
        assert sorted(seats) == [0, 0, 1, 1, 2, 2]
        assert (each.games, each.wins) == (6, places.count(1))
        assert each.mean_place == pytest.approx(sum(places) / 6)
        assert each.points == pytest.approx(sum(points) / 6)


def test_a_match_that_was_cut_short_was_played(store: Store) -> None:
    """After a crash no further game starts. Finished games count, and the challenge is done."""
    play(store, games=1)
    play(store)
    play(store, games=0)
    done = told(store)
    assert (done.state, len(done.games)) == (ChallengeState.DONE, 3)
    assert {each.games for each in done.entrants} == {3}


def test_a_quarantined_match_is_missing(store: Store) -> None:
    """After a quarantine, the other matches are played, but the challenge fails."""
    put_aside(store)
    assert told(store).state is ChallengeState.RUNNING
    play(store)
    play(store)
    failed = told(store)
    assert (failed.state, len(failed.games)) == (ChallengeState.FAILED, 4)


def test_cancelled_matches_are_missing(store: Store) -> None:
    """If an opponent is disqualified, the remaining matches are cancelled."""
    play(store)
    disqualify(store, "other", "it cheated")
    failed = told(store)
    assert (failed.state, len(failed.games)) == (ChallengeState.FAILED, 2)
    assert tuple((each.bot, each.version) for each in failed.entrants) == ENTRANTS


def test_a_cancelled_challenge_keeps_only_its_challenger(store: Store) -> None:
    """If all matches are cancelled, only the challenger is known."""
    disqualify(store, "other", "it cheated")
    failed = told(store)
    assert (failed.state, [each.bot for each in failed.entrants]) == (ChallengeState.FAILED, ["mine"])
