"""Matches in which bots change seats from game to game."""

from arena.play.referee.player import (
    DecisionRequested,
    FaultNoticed,
    GameEnded,
    GameStarted,
    Hello,
    Lost,
    PlayerAnswer,
)
from arena.protocol.faults import Fault
from arena.rules import Rules
from tests.play.referee.driver import Driver

SEATINGS = ((2, 0, 1), (0, 1, 2), (1, 2, 0))
"""For each of three games, the bot in each seat."""


def driver(games_at_once: int = 1) -> Driver:
    """Return a match of three bots that have greeted."""
    its = Driver(Rules(players=3), 3, seatings=SEATINGS)
    its.greet((games_at_once,) * 3)
    return its


def seats(its: Driver, bot: int) -> list[int]:
    """Return the seats that GameStarted events named to a bot."""
    return [each.seat for each in its.kinds_told(bot, GameStarted) if isinstance(each, GameStarted)]


def test_every_bot_learns_its_seat_in_each_game() -> None:
    """A bot is told its seat at the start of each game, and its requests have the view of that seat."""
    its = driver()
    its.play_on()
    assert its.match.over
    for bot in range(3):
        mine = [bots.index(bot) for bots in SEATINGS]
        assert seats(its, bot) == mine
        asked = {
            (ask.game, ask.view.seat)
            for ask in its.kinds_told(bot, DecisionRequested)
            if isinstance(ask, DecisionRequested)
        }
        assert asked == set(enumerate(mine))
        assert len(its.kinds_told(bot, GameEnded)) == 3


def test_an_answer_is_recorded_on_the_seat_of_its_game() -> None:
    """With several games at once, each answer's note is recorded on the seat that its bot had."""
    its = driver(games_at_once=3)
    while any(its.asks[bot] for bot in range(3)):
        for bot in range(3):
            if its.asks[bot]:
                its.answer(bot, note=f"bot {bot}")
    for game, bots in zip(its.match.games(), SEATINGS, strict=True):
        for step in game.steps:
            assert [decision.note for decision in step if decision] == [f"bot {bot}" for bot in bots]


def test_a_bot_that_leaves_is_taken_over_on_its_seat_in_every_game() -> None:
    """The stand-in plays only games that a lost bot has begun. ``seats()`` is in the order of the bots."""
    its = driver(games_at_once=2)
    its.match.lose(1, Lost(Fault.CRASH, "it ended"), its.now)
    its.collect()
    its.play_on((0, 2))
    assert its.match.over
    games = its.match.games()
    assert len(games) == 2
    for game, bots in zip(games, SEATINGS[:2], strict=True):
        standins = {seat for step in game.steps for seat, decision in enumerate(step) if decision.standin}  # type: ignore[union-attr]  # everybody is asked
        assert standins == {bots.index(1)}
    assert [end.lost for end in its.match.seats()] == [None, "it ended", None]


def test_an_absent_bot_has_its_fault_on_its_seat_in_the_first_game() -> None:
    """The stand-in plays on that seat, and the bots that greeted play on the others."""
    its = Driver(Rules(players=3), 3, seatings=SEATINGS)
    for bot in (0, 1):
        its.match.greeted(bot, Hello(1, ""), its.now)
    its.match.lose(2, Lost(Fault.ABSENT, "no Hello"), its.now)
    its.collect()
    its.play_on((0, 1))
    (game,) = its.match.games()
    assert its.decision(0, 0, 0).fault is Fault.ABSENT
    assert all(its.decision(0, 0, seat).fault is None for seat in (1, 2))
    assert its.match.over
    assert game.totals


def test_an_unasked_answer_is_a_fault_on_the_seat_of_its_bot() -> None:
    """An answer that wasn't requested, before the first game or during it, is a fault on its bot's seat."""
    its = driver()
    ask = its.asks[0][0]
    its.send(0, PlayerAnswer(7, 1, 1, ask.view.legal_moves()[0]))
    assert len(its.kinds_told(0, FaultNoticed)) == 1
    its.play_on()
    assert its.decision(0, 0, SEATINGS[0].index(0)).fault is Fault.PROTOCOL

    early = Driver(Rules(players=3), 3, seatings=SEATINGS)
    early.match.answered(1, [PlayerAnswer(0, 1, 1, ask.view.legal_moves()[0])], early.now)
    early.greet()
    early.play_on()
    assert early.decision(0, 0, SEATINGS[0].index(1)).fault is Fault.PROTOCOL
