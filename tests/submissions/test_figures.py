"""Tests of qualification games' figures, from the real referee with a clock and bots set by the test."""

from dataclasses import replace

from arena.ladder.qualification import Played
from arena.play.referee.player import Hello, Lost
from arena.protocol.faults import Fault
from arena.protocol.submissions import Figures
from arena.rules import Rules
from arena.submissions.document import figures
from tests.play.referee.driver import Driver
from tests.submissions.test_qualification import RAN, RULES, SEAT, gone, late, played


def test_times_notes_and_output_are_counted() -> None:
    """Printed output is measured in bytes, not in characters."""
    driver = Driver(RULES)
    driver.greet()
    driver.tick(0.25)
    driver.answer(SEAT, note="I knew it")
    for seat in (0, 2):
        driver.answer(seat)
    driver.play_on()
    report = replace(RAN, stderr="ärger\n")
    told = figures(Played(rules=RULES, seat=SEAT, report=report, game=driver.match.games()[0]))
    assert (told.decisions, told.late, told.notes, told.stderr_bytes) == (3 * RULES.turns - 3, 0, 1, 7)
    assert told.slowest_millis == 250.0
    assert told.median_millis == 0.0


def test_late_decisions_have_no_time() -> None:
    """Late decisions count among all decisions and as late, but have no time."""
    told = figures(played(late(2)))
    assert (told.late, told.slowest_millis) == (2, 0.0)
    assert told.decisions == figures(played(late(0))).decisions


def test_a_bot_that_is_gone_is_last() -> None:
    """A bot that is gone is last, and the stand-in's decisions don't count."""
    told = figures(played(gone(Fault.CRASH, "it ended", after=4)))
    assert (told.place, told.decisions) == (3, 5)


def test_places_are_those_of_the_rules() -> None:
    """Two players are first and second, or share the first place."""
    driver = Driver(Rules(players=2))
    driver.greet()
    driver.play_on()
    game = driver.match.games()[0]
    places = [
        figures(Played(rules=Rules(players=2), seat=seat, report=RAN, game=game)).place for seat in (0, 1)
    ]
    assert sorted(places) in ([1, 2], [1, 1])


def test_an_absent_bot_has_no_times() -> None:
    """An absent bot is last, with no times, notes or output."""
    driver = Driver(RULES)
    for seat in (0, 2):
        driver.match.greeted(seat, Hello(1, "test/1"), driver.now)
    driver.match.lose(SEAT, Lost(Fault.ABSENT, "it never came"), driver.now)
    driver.collect()
    driver.play_on((0, 2))
    told = figures(Played(rules=RULES, seat=SEAT, report=RAN, game=driver.match.games()[0]))
    assert told == Figures(
        place=3, decisions=1, median_millis=None, slowest_millis=None, late=0, notes=0, stderr_bytes=0
    )
