"""Tests of checking workers' records, which are replayed and refused if they contradict the rules."""

from dataclasses import replace
from functools import cache

import pytest

from arena.platform.cpu_time import CpuSample
from arena.play.referee.player import Lost
from arena.protocol.faults import Fault
from arena.protocol.match import (
    Decision,
    GameRecord,
    MatchRecord,
    MatchSpec,
    SeatReport,
)
from arena.rules import Card, Move, Rules
from arena.scheduler.check import RecordRefused, check_record
from tests.builders import match_spec
from tests.play.referee.driver import SEEDS, Driver

IMAGES = ("sha256:a", "sha256:b", "sha256:c")
RULES = Rules(players=3)


def spec(games: int = 2) -> MatchSpec:
    """Return a match of three bots."""
    return replace(match_spec(IMAGES, games=games), attempt=2)


def record(games: tuple[GameRecord, ...], trouble: str | None = None) -> MatchRecord:
    """Return a record with these games."""
    return MatchRecord(
        match="m",
        attempt=2,
        games=games,
        seats=tuple(
            SeatReport(image=image, runtime="docker/runc", limits=(), trouble=trouble) for image in IMAGES
        ),
    )


@cache
def honest(games: int = 2) -> MatchRecord:
    """Return the record of a match without a fault."""
    driver = Driver(RULES, games)
    driver.greet()
    driver.play_on()
    return record(driver.match.games())


def crashed() -> MatchRecord:
    """Return the record of a match whose seat 1 crashes in its second decision."""
    driver = Driver(RULES, 3)
    driver.greet()
    for seat in (0, 1, 2):
        driver.answer(seat)
    driver.match.lose(1, Lost(Fault.CRASH, "it ended"), driver.now)
    driver.collect()
    driver.play_on((0, 2))
    return record(driver.match.games(), "it ended")


def with_decision(whole: MatchRecord, step: int, seat: int, **changes: object) -> MatchRecord:
    """Return a record with one decision of its first game changed."""
    game = whole.games[0]
    steps = [list(decisions) for decisions in game.steps]
    decision = steps[step][seat]
    assert decision is not None
    steps[step][seat] = replace(decision, **changes)  # type: ignore[arg-type]  # fields of a decision, by name
    return with_game(whole, steps=tuple(tuple(decisions) for decisions in steps))


def with_game(whole: MatchRecord, **changes: object) -> MatchRecord:
    """Return a record with its first game changed."""
    first, *others = whole.games
    return replace(whole, games=(replace(first, **changes), *others))  # type: ignore[arg-type]  # as above


def test_an_honest_record_is_accepted() -> None:
    """Each game is returned with its result according to the rules."""
    games = check_record(spec(), honest())
    assert len(games) == 2
    for game in games:
        assert game.state.result is not None
        assert game.places == game.state.result.places
        assert not any(game.faults)
        assert not any(game.taken_over)


def test_a_crash_counts_only_against_its_seat() -> None:
    """A taken-over seat is last, whatever its points. The match's remaining games need not be played."""
    games = check_record(spec(3), crashed())
    assert len(games) == 2
    for game in games:
        assert game.faults == (0, 1, 0)
        assert game.taken_over == (False, True, False)
        assert game.places[1] == 3


@pytest.mark.parametrize("dummy", [False, True])
def test_illegal_moves_are_faults_of_their_seat(*, dummy: bool) -> None:
    """The stand-in's moves are checked too, even if the seat also controls the dummy."""
    rules = Rules(players=2, dummy=dummy)
    driver = Driver(rules)
    driver.greet()
    for _ in range(2):
        driver.answer(0, lambda _: Move((Card.SOY_SAUCE,)))
        driver.answer(1)
    driver.play_on()
    whole = record(driver.match.games())
    whole = replace(whole, seats=whole.seats[:2])
    (game,) = check_record(replace(spec(1), rules=rules, seats=IMAGES[:2]), whole)
    assert game.faults == (2, 0)
    assert game.taken_over == (False, False)


def late(seconds: float, waited: float) -> MatchRecord:
    """Return a record in which seat 1's first decision took ``seconds``, plus ``waited`` due to the host."""
    driver = Driver(RULES, 2)
    driver.greet()
    driver.now += seconds + waited
    driver.match.deduct(1, CpuSample(waited, 0.0), driver.now)
    driver.answer(1)
    driver.match.deduct(0, CpuSample(100.0, 0.0), driver.now)
    driver.match.deduct(2, CpuSample(100.0, 0.0), driver.now)
    driver.play_on()
    return record(driver.match.games())


def test_a_time_is_accepted_without_the_hosts_share() -> None:
    """A decision may take at most 11 s. Time for which the host delayed the bot doesn't count."""
    (game, _) = check_record(spec(), late(10.9, 30.0))
    assert game.faults == (0, 0, 0)
    decision = game.record.steps[0][1]
    assert decision is not None
    assert (decision.millis, decision.waited_millis) == (10_900.0, 30_000.0)
    (game, _) = check_record(spec(), late(11.1, 30.0))
    assert game.faults == (0, 1, 0)


REFUSED: dict[str, tuple[MatchRecord, str]] = {
    "another match": (replace(honest(), match="n"), "for match n, attempt 2, not for match m"),
    "a stale attempt": (replace(honest(), attempt=1), "attempt 1"),
    "other images": (
        replace(honest(), seats=(replace(honest().seats[0], image="sha256:z"), *honest().seats[1:])),
        "images differ from the match's",
    ),
    "a seat too few": (replace(honest(), seats=honest().seats[:2]), "2 seats"),
    "no game": (replace(honest(), games=()), "games differ from the match's"),
    "another deal": (
        with_game(honest(), seed=SEEDS[5]),
        "games differ from the match's",
    ),
    "games in another order": (
        replace(honest(), games=honest().games[::-1]),
        "games differ from the match's",
    ),
    "a game too few without a reason": (replace(honest(), games=honest().games[:1]), "no bot was lost"),
    "a card that is not there": (
        with_decision(honest(), 3, 1, cards=("soy_sauce",)),
        "round 1, turn 4: seat 1: soy_sauce is not in the hand",
    ),
    "no such card": (with_decision(honest(), 0, 0, cards=("tofu",)), "'tofu' is not a kind of card"),
    "a seat that has to move without a move": (
        with_game(honest(), steps=((None, *honest().games[0].steps[0][1:]),)),
        "seat 0 has to move, but no move was given for it",
    ),
    "an answer after its time": (
        with_decision(honest(), 0, 1, millis=11_002.0),
        "seat 1: an answer was accepted after 11.002 s, but only 11.000 s were left",
    ),
    "an answer after a bank that is used up": (
        with_decision(with_decision(honest(), 0, 1, millis=10_500.0), 4, 1, millis=1_502.0),
        "decision 4, seat 1: an answer was accepted after 1.502 s, but only 1.500 s were left",
    ),
    "a wait that can't be": (with_decision(honest(), 0, 1, waited_millis=-1.0), "invalid time"),
    "a time that can't be": (with_decision(honest(), 0, 1, millis=-1.0), "invalid time"),
    "an altered score": (
        with_game(honest(), totals=(99, 0, 0)),
        "game 0: the record has 99, 0, 0 points, but the rules give ",
    ),
    "no score": (
        with_game(honest(), totals=()),
        "game 0: the record has no points, but the rules give ",
    ),
    "half a game": (
        with_game(honest(), steps=honest().games[0].steps[:10]),
        "game 0 is unfinished: it stops in round 2, turn 3",
    ),
    "decisions after the end": (
        with_game(honest(), steps=honest().games[0].steps + honest().games[0].steps[:1]),
        "1 step after the end of the game",
    ),
    "a fault without a stand-in": (
        with_decision(honest(), 0, 2, fault=Fault.TIMEOUT),
        "the stand-in must play after",
    ),
    "a stand-in without a fault": (
        with_decision(crashed(), 1, 1, fault=None),
        "the stand-in must play after",
    ),
    "a second crash": (with_decision(crashed(), 5, 1, fault=Fault.CRASH), "after the stand-in had taken"),
    "a stand-in with a better move": (
        with_decision(crashed(), 1, 1, cards=("sashimi",)),
        "the stand-in would have played another move",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_false_record_is_refused(name: str) -> None:
    """The error describes the first contradiction."""
    untrue, words = REFUSED[name]
    with pytest.raises(RecordRefused, match=words):
        check_record(spec(), untrue)


def test_an_altered_decision_is_well_formed() -> None:
    """The helper that alters decisions makes valid records: one with the original value is accepted."""
    whole = honest()
    decision = whole.games[0].steps[3][1]
    assert isinstance(decision, Decision)
    assert check_record(spec(), with_decision(whole, 3, 1, cards=decision.cards))
