"""Why a bot qualifies or does not, from games that were really played; the test is the clock and the bots."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from arena.match import Fault, SeatReport
from arena.referee.player import Answer, Lost
from arena.rules import Card, Move, Rules
from arena.submitting.hints import HINTS
from arena.submitting.qualification import GAMES, Played, judge, table
from arena.submitting.stages import CauseKind as Kind
from arena.submitting.stages import Stage
from tests.referee.driver import Driver

SEAT = 1
RULES = Rules(players=3)
RAN = SeatReport(image="sha256:a", runtime="docker/runc", limits=("memory 256 MiB",), sdk="test/1")

Play = Callable[[Driver], None]


def played(play: Play, report: SeatReport = RAN) -> Played:
    """Play a game in which the bot does this after everybody greeted, and well enough otherwise."""
    driver = Driver(RULES)
    driver.greet()
    play(driver)
    driver.play_on()
    return Played(rules=RULES, seat=SEAT, report=report, game=driver.match.games()[0])


def well(driver: Driver) -> None:
    """Do nothing wrong."""


def late(times: int) -> Play:
    """Don't answer so many times."""

    def play(driver: Driver) -> None:
        for _ in range(times):
            for seat in (0, 2):
                driver.answer(seat)
            driver.asks[SEAT].clear()
            driver.tick(11.1)

    return play


def gone(fault: Fault, why: str, after: int = 0) -> Play:
    """Be gone after so many decisions."""

    def play(driver: Driver) -> None:
        for _ in range(after):
            for seat in range(3):
                driver.answer(seat)
        driver.match.lose(SEAT, Lost(fault, why), driver.now)
        driver.asks[SEAT].clear()
        driver.collect()

    return play


def forbidden(driver: Driver) -> None:
    """Place what the hand does not hold."""
    driver.answer(SEAT, lambda _: Move((Card.SOY_SAUCE,)))


def chatter(driver: Driver) -> None:
    """Answer what was not asked."""
    driver.send(SEAT, Answer(0, 3, 9, Move((Card.TEMPURA,)), ""))


def test_three_games_from_the_first_seat_to_the_last() -> None:
    """At a small, a middling and a full table, or what the house can fill."""
    assert [table(game, 6) for game in range(GAMES)] == [(2, 0), (3, 1), (5, 4)]
    assert [table(game, 1) for game in range(GAMES)] == [(2, 0), (2, 1), (2, 1)]


@pytest.mark.parametrize("plays", [[], [well], [well, well, well], [late(2), well], [late(1), late(1), well]])
def test_a_sound_bot_qualifies(plays: Sequence[Play]) -> None:
    """Two late decisions in all games are let pass."""
    assert judge([played(play) for play in plays]) is None


@pytest.mark.parametrize(
    ("plays", "kind", "words"),
    [
        (
            [late(3)],
            Kind.SLOW,
            r"in game 1 of 3, round 1, turn 1: no answer in 11\.0 s .* late 3 times, 2",
        ),
        ([late(2), well, late(1)], Kind.SLOW, "in game 1 of 3.*late 3 times"),
        ([well, forbidden], Kind.ILLEGAL, "in game 2 of 3, round 1, turn 1: .*soy_sauce named"),
        (
            [well, well, chatter],
            Kind.PROTOCOL,
            "in game 3 of 3, round 1, turn 1: an answer to game 0",
        ),
        (
            [gone(Fault.EXPELLED, "it flooded", 2)],
            Kind.EXPELLED,
            "sent away in game 1 .*turn 3: it flooded",
        ),
        (
            [gone(Fault.CRASH, "it ended", 4)],
            Kind.CRASH,
            "gone in game 1 of 3, round 1, turn 5: it ended",
        ),
        # What ends a bot counts more than how it limped before.
        ([late(2), gone(Fault.CRASH, "it ended", 1)], Kind.CRASH, "gone in game 2"),
    ],
)
def test_an_unsound_bot_is_told_why(plays: Sequence[Play], kind: Kind, words: str) -> None:
    """The first game that speaks against it is named, with the decision and what was asked."""
    cause = judge([played(play) for play in plays])
    assert cause is not None
    assert (cause.stage, cause.kind, cause.hint) == (Stage.QUALIFYING, kind, HINTS[kind])
    assert re.search(words, cause.text), cause.text
    assert cause.request is not None
    assert (cause.request.players, cause.request.seat) == (3, SEAT)
    assert len(cause.request.hand) == 10 - cause.request.turn


ABSENT = gone(Fault.ABSENT, "no valid Hello within 10 s of its start")
NEVER = replace(RAN, sdk="", trouble="no valid Hello within 10 s of its start")
ENDED = replace(NEVER, exit_code=1, trouble="it ended with exit code 1")


@pytest.mark.parametrize(
    ("play", "report", "kind", "words"),
    [
        (ABSENT, NEVER, Kind.SILENT, "never connected to the referee: no valid Hello"),
        (
            ABSENT,
            replace(NEVER, limits=(), trouble="no such file"),
            Kind.START,
            "not be started: no such",
        ),
        (
            gone(Fault.CRASH, "it ended"),
            replace(ENDED, exit_code=127, stderr="arena: can't start /bot/b: no such file\n"),
            Kind.START,
            "could not be started: arena: can't start /bot/b: no such file",
        ),
        (
            ABSENT,
            replace(NEVER, stderr="getaddrinfo EAI_AGAIN h.example\n"),
            Kind.NETWORK,
            "EAI_AGAIN h",
        ),
        (
            gone(Fault.CRASH, "it ended"),
            replace(ENDED, stderr="OSError: [Errno 101] Network is unreachable\n"),
            Kind.NETWORK,
            "before its first move: it ended with exit code 1; it tried to reach the network, .*Errno 101",
        ),
        (
            gone(Fault.CRASH, "it ended"),
            ENDED,
            Kind.CRASH,
            "gone before its first move: it ended with exit",
        ),
        (
            gone(Fault.CRASH, "it ended"),
            replace(ENDED, out_of_memory=True, exit_code=137, trouble="it ran out of memory"),
            Kind.MEMORY,
            "before its first move: it ran out of memory",
        ),
    ],
)
def test_who_never_played_is_told_why_too(play: Play, report: SeatReport, kind: Kind, words: str) -> None:
    """What became of its sandbox tells it, and what it printed; nothing was asked of it."""
    cause = judge([played(play, report)])
    assert cause is not None
    assert cause.kind is kind
    assert re.search(words, cause.text), cause.text
    assert (cause.request, cause.stderr) == (None, report.stderr)
    assert (cause.exit_code, cause.out_of_memory) == (report.exit_code, report.out_of_memory)


def test_words_about_the_network_alone_are_no_cause() -> None:
    """Who tries it and plays on qualifies; who cheats is told of that; and of stderr only the end is kept."""
    report = replace(RAN, stderr="x" * 9000 + "Network is unreachable\n")
    assert judge([played(well, report)]) is None
    cause = judge([played(forbidden, report)])
    assert cause is not None
    assert cause.kind is Kind.ILLEGAL
    assert cause.stderr == report.stderr[-4096:]


def test_every_cause_has_a_hint() -> None:
    """So that nobody is left with a cause alone."""
    assert HINTS.keys() == set(Kind)
