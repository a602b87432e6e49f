"""A bot's logged decisions, from games played with the test's own clock and bots."""

from arena.db.game_logs import StoredGameLog
from arena.platform.cpu_time import CpuSample
from arena.play.referee.player import PlayerAnswer
from arena.protocol.faults import Fault
from arena.protocol.games import SeatDecision
from arena.rules import Card, Move, Rules
from tests.play.referee.driver import Driver
from web.viewer.logs import decisions


def log_of(driver: Driver, rules: Rules) -> StoredGameLog:
    """Return the stored log of a match's only game."""
    return StoredGameLog(
        game="g", match="m", rules=rules, record=driver.match.games()[0], kept=True, seats=()
    )


def test_notes_and_faults_are_listed_with_their_turn() -> None:
    """Other decisions, and those of other bots, aren't listed. Turns are counted within the round."""
    rules = Rules(players=3)
    driver = Driver(rules)
    driver.greet()
    for _ in range(rules.turns - 1):
        for seat in range(3):
            driver.answer(seat)
    driver.tick(0.25)
    driver.answer(1, note="a new round")
    driver.answer(0, note="not for others")
    driver.answer(2)
    driver.answer(1, lambda _: Move((Card.SOY_SAUCE,)))
    driver.play_on()
    noted, wrong = decisions(log_of(driver, rules), 1)
    assert noted == SeatDecision(
        round=2, turn=1, note="a new round", fault=None, trouble=None, millis=250.0, waited_millis=None
    )
    assert (wrong.round, wrong.turn, wrong.fault, wrong.note) == (2, 2, Fault.ILLEGAL, None)
    assert "soy_sauce" in (wrong.trouble or "")
    assert [each.note for each in decisions(log_of(driver, rules), 0)] == ["not for others"]
    assert decisions(log_of(driver, rules), 2) == ()


def test_only_long_waits_for_the_host_are_listed() -> None:
    """The decision's time doesn't include the wait."""
    rules = Rules(players=2)
    driver = Driver(rules)
    driver.greet()
    for waited in (0.05, 0.5):
        driver.now += 2.0
        driver.match.deduct(0, CpuSample(waited, 0.0), driver.now)
        driver.answer(0)
        driver.answer(1)
    driver.play_on()
    (told,) = decisions(log_of(driver, rules), 0)
    assert (told.turn, told.millis, told.waited_millis) == (2, 1500.0, 500.0)


def test_decisions_have_the_turn_of_their_request() -> None:
    """This includes games with a dummy, where only one bot decides in a round's last turn."""
    rules = Rules(players=2, dummy=True)
    driver = Driver(rules)
    driver.greet()
    while any(driver.asks[seat] for seat in range(2)):
        for seat in range(2):
            for ask in tuple(driver.asks[seat].values()):
                driver.answer(seat, note=f"{ask.view.round}.{ask.view.turn}")
    told = [each for seat in range(2) for each in decisions(log_of(driver, rules), seat)]
    assert [each.note for each in told] == [f"{each.round}.{each.turn}" for each in told]
    assert len(told) == 3 * (2 * rules.turns - 1)


def test_decisions_of_the_stand_in_are_not_listed() -> None:
    """Only the three faults of the bot itself are listed."""
    rules = Rules(players=2)
    driver = Driver(rules)
    driver.greet()
    for _ in range(3):
        driver.send(0, PlayerAnswer(0, 3, 10, Move((Card.TEMPURA,)), "never asked"))
        driver.asks[0].clear()
        driver.answer(1)
    driver.play_on((1,))
    told = decisions(log_of(driver, rules), 0)
    assert [(each.turn, each.fault) for each in told] == [(turn, Fault.PROTOCOL) for turn in (1, 2, 3)]
