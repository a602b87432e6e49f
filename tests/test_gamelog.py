"""What is told of a bot's decisions, from games that were played; the test is clock and bots."""

from arena.gamelog import SeatDecision, decisions
from arena.match import Fault
from arena.referee.player import Answer
from arena.rules import Card, Move, Rules
from arena.store import GameLog
from tests.referee.driver import Driver


def log_of(driver: Driver, rules: Rules) -> GameLog:
    """Return what the store gives of the only game of a match."""
    return GameLog(game="g", match="m", rules=rules, record=driver.match.games()[0], kept=True, seats=())


def test_notes_and_faults_are_told_with_their_turn() -> None:
    """Nothing is told of other decisions, nor of those of others; the turn is that of the round."""
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
    assert noted == SeatDecision(round=2, turn=1, note="a new round", fault=None, trouble=None, millis=250.0)
    assert (wrong.round, wrong.turn, wrong.fault, wrong.note) == (2, 2, Fault.ILLEGAL, None)
    assert "soy_sauce" in (wrong.trouble or "")
    assert [each.note for each in decisions(log_of(driver, rules), 0)] == ["not for others"]
    assert decisions(log_of(driver, rules), 2) == ()


def test_every_turn_is_told_as_it_was_asked() -> None:
    """With a dummy too, where only one is asked in a round's last turn, and moves have a card for it."""
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


def test_what_the_stand_in_plays_is_not_told() -> None:
    """Of a bot that was taken over there are its three faults."""
    rules = Rules(players=2)
    driver = Driver(rules)
    driver.greet()
    for _ in range(3):
        driver.send(0, Answer(0, 3, 9, Move((Card.TEMPURA,)), "never asked"))
        driver.asks[0].clear()
        driver.answer(1)
    driver.play_on((1,))
    told = decisions(log_of(driver, rules), 0)
    assert [(each.turn, each.fault) for each in told] == [(turn, Fault.PROTOCOL) for turn in (1, 2, 3)]
