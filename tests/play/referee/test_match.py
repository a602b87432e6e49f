"""Matches, clocks and faults. The test sets the time and answers for the bots."""

from itertools import permutations

import pytest

from arena.platform.cpu_time import CpuSample
from arena.play.referee.clock import SeatClock
from arena.play.referee.player import (
    DecisionRequested,
    FaultNoticed,
    GameEnded,
    GameStarted,
    Hello,
    Lost,
    MatchEnded,
    PlayerAnswer,
    RoundScored,
    TurnRevealed,
    Welcome,
)
from arena.protocol.faults import Fault, stand_in, taken_over
from arena.protocol.match import Clock
from arena.rules import Card, Move, Rules, new_game, shuffled_deck, view
from tests.play.referee.driver import SEEDS, Driver, first

CRASH = Lost(Fault.CRASH, "it exited with code 1")


def test_nothing_begins_before_all_have_greeted() -> None:
    """No seat gets an event while another one is still starting."""
    driver = Driver(Rules(players=2))
    driver.match.greeted(0, Hello(1, ""), driver.now)
    driver.collect()
    assert not driver.match.begun
    assert not driver.told


def test_the_events_of_a_game_are_in_order() -> None:
    """A bot gets welcome, start, request, reveal, scores and end, in this order."""
    driver = Driver(Rules(players=3))
    driver.greet()
    driver.play_on()
    kinds = [type(event) for event in driver.told[1]]
    assert kinds[:3] == [Welcome, GameStarted, DecisionRequested]
    assert kinds[-2:] == [GameEnded, MatchEnded]
    assert kinds.count(DecisionRequested) == 24
    assert kinds.count(TurnRevealed) == 27
    assert kinds.count(RoundScored) == 3
    assert driver.match.over


def test_nobody_learns_an_answer_before_all_have_answered() -> None:
    """All are asked at the same time, and an answer causes no event while others are still thinking."""
    driver = Driver(Rules(players=3))
    driver.greet()
    assert all(driver.asks[seat] for seat in range(3))
    before = {seat: len(driver.told[seat]) for seat in range(3)}
    driver.answer(0)
    driver.answer(2)
    assert {seat: len(driver.told[seat]) for seat in range(3)} == before


@pytest.mark.parametrize(("wishes", "at_once"), [((1, 4), 1), ((3, 2), 2), ((32, 32), 5)])
def test_games_at_once_is_the_least_of_all_wishes(wishes: tuple[int, int], at_once: int) -> None:
    """No bot plays more games in parallel than it asked for, or than there are."""
    driver = Driver(Rules(players=2), games=5)
    driver.greet(wishes)
    assert len(driver.rounds) == at_once
    assert driver.kinds_told(0, Welcome) == [Welcome(5, at_once)]
    driver.play_on()
    assert len(driver.match.games()) == 5


def test_thinking_within_the_move_time_costs_nothing() -> None:
    """The bank is untouched by a decision that took less than the move time."""
    driver = Driver(Rules(players=2))
    driver.greet()
    driver.now += 0.9
    driver.answer(0)
    driver.answer(1)
    assert driver.asks[0][0].bank == pytest.approx(10)


def test_overruns_are_paid_from_the_bank() -> None:
    """Time beyond a decision's move time is deducted only from that seat's bank."""
    driver = Driver(Rules(players=2))
    driver.greet()
    driver.answer(1)
    driver.now += 3.5
    driver.answer(0)
    assert driver.asks[0][0].bank == pytest.approx(7.5)
    assert driver.asks[1][0].bank == pytest.approx(10)
    assert driver.decision(0, 0, 0).millis == pytest.approx(3500)


def test_an_empty_bank_is_a_timeout() -> None:
    """When move time and bank are used up, the stand-in plays, and the bank remains empty."""
    driver = Driver(Rules(players=2))
    driver.greet()
    driver.answer(1)
    driver.tick(10.9)
    assert not driver.match.games()[0].steps
    driver.tick(0.2)
    decision = driver.decision(0, 0, 0)
    assert decision.fault is Fault.TIMEOUT
    assert decision.standin
    assert decision.millis is None
    assert driver.asks[0][0].bank == 0
    (notice,) = driver.kinds_told(0, FaultNoticed)
    assert isinstance(notice, FaultNoticed)
    assert notice.fault is Fault.TIMEOUT
    assert not notice.taken_over
    assert not driver.kinds_told(1, FaultNoticed)


def test_a_bot_is_timed_for_one_decision_after_another() -> None:
    """Decisions of 0.9 s never use the bank, although the last of five comes 4.5 s after its request."""
    driver = Driver(Rules(players=2), games=5)
    driver.greet((5, 5))
    while driver.asks[0]:
        while driver.asks[0]:
            driver.tick(0.9)
            driver.answer(0)
        driver.play_on([1])
    games = driver.match.games()
    times = [decision.millis for game in games for step in game.steps if (decision := step[0]) is not None]
    assert len(games) == 5
    assert times == pytest.approx([900] * len(times))
    assert not driver.kinds_told(0, FaultNoticed)


def test_answers_in_one_message_share_their_time() -> None:
    """The time is split equally, and each game's bank pays for its own answer."""
    driver = Driver(Rules(players=2), games=3)
    driver.greet((3, 3))
    driver.now += 4.2
    driver.match.deduct(0, CpuSample(0.2, 0.0), driver.now)
    driver.send(0, driver.take(0, 0), driver.take(0, 1))
    driver.now += 2.5
    driver.answer(0)
    driver.play_on([1])
    decisions = [driver.decision(game, 0, 0) for game in range(3)]
    assert [decision.millis for decision in decisions] == pytest.approx([2000, 2000, 2500])
    assert [decision.waited_millis for decision in decisions] == [100, 100, None]
    assert [driver.asks[0][game].bank for game in range(3)] == pytest.approx([9, 9, 8.5])


@pytest.mark.parametrize("copies", [1, 2])
def test_messages_that_answer_no_request_give_no_time(copies: int) -> None:
    """Duplicates and invalid answers don't restart the clock, even in the same message as an answer."""
    driver = Driver(Rules(players=2), games=3)
    driver.greet((3, 3))
    answer = driver.take(0, 0)
    driver.now += 0.5
    driver.send(0, *[answer] * copies)
    for _ in range(12):
        driver.tick(0.9)
        driver.send(0, answer, answer._replace(game=99))
    driver.tick(0.25)
    (notice,) = driver.kinds_told(0, FaultNoticed)
    assert isinstance(notice, FaultNoticed)
    assert notice.game == 1
    driver.tick(11.01)
    driver.play_on([1])
    assert driver.decision(0, 0, 0).millis == pytest.approx(500)
    assert [driver.decision(game, 0, 0).fault for game in range(3)] == [None, Fault.TIMEOUT, Fault.TIMEOUT]


def test_rubbish_that_costs_a_decision_also_takes_its_time() -> None:
    """Its time isn't charged again in another game."""
    driver = Driver(Rules(players=2), games=2)
    driver.greet((2, 2))
    driver.now += 3
    driver.send(0, driver.take(0, 0)._replace(game=99))
    driver.now += 0.5
    driver.send(0, driver.take(0, 1))
    driver.play_on([1])
    assert [driver.decision(game, 0, 0).millis for game in range(2)] == pytest.approx([3000, 500])
    assert driver.asks[0][0].bank == pytest.approx(8)


@pytest.mark.parametrize("game", [0, 99])
def test_an_answer_next_to_an_invalid_one_takes_its_time(game: int) -> None:
    """An invalid answer doesn't reduce the time of the other answers in its message."""
    driver = Driver(Rules(players=2), games=4)
    driver.greet((4, 4))
    driver.now += 9
    rubbish = driver.take(0, 0)._replace(game=game, turn=99)
    driver.send(0, rubbish, *[driver.take(0, game) for game in range(1, 4)])
    driver.play_on([1])
    decisions = [driver.decision(game, 0, 0) for game in range(4)]
    assert [decision.fault for decision in decisions] == [Fault.PROTOCOL, None, None, None]
    assert [decision.millis for decision in decisions] == pytest.approx([0, 3000, 3000, 3000])


def test_one_pause_is_one_timeout() -> None:
    """A bot that pauses for too long loses one decision, and its other decisions keep their time."""
    driver = Driver(Rules(players=2), games=3)
    driver.greet((3, 3))
    driver.tick(11.1)
    late = [driver.take(0, game) for game in range(3)]
    driver.now += 0.5
    driver.send(0, *late)
    driver.play_on([1])
    decisions = [driver.decision(game, 0, 0) for game in range(3)]
    assert [decision.fault for decision in decisions] == [Fault.TIMEOUT, None, None]
    assert [decision.millis for decision in decisions[1:]] == pytest.approx([250, 250])
    assert [driver.asks[0][game].bank for game in range(3)] == pytest.approx([0, 10, 10])


def with_an_empty_bank() -> Driver:
    """Return a match of two games in turn 2. Seat 0 has 0.1 s left in its bank for game 0."""
    driver = Driver(Rules(players=2), games=2)
    driver.greet((2, 2))
    driver.now += 10.9
    driver.send(0, driver.take(0, 0))
    for seat in (0, 1, 1, 1, 1):  # the last two answers are those of seat 1 in turn 2
        driver.answer(seat)
    return driver


def test_an_empty_bank_in_one_game_does_not_limit_another() -> None:
    """A bot may think about the game with a bank first."""
    driver = with_an_empty_bank()
    driver.tick(10.9)
    driver.send(0, driver.take(0, 1))
    driver.tick(0.5)
    driver.send(0, driver.take(0, 0))
    assert not driver.kinds_told(0, FaultNoticed)
    assert [driver.decision(game, 1, 0).millis for game in range(2)] == pytest.approx([500, 10_900])


def test_after_a_late_answer_the_rest_of_its_time_counts_for_the_next() -> None:
    """Otherwise a bot could think for the limit of one game and let another game time out."""
    driver = with_an_empty_bank()
    driver.tick(5.1)
    driver.send(0, driver.take(0, 0))
    driver.tick(0.5)
    driver.send(0, driver.take(0, 1))
    assert driver.decision(0, 1, 0).fault is Fault.TIMEOUT
    assert driver.decision(1, 1, 0).millis == pytest.approx(4500)


def test_answers_that_were_ready_early_do_not_time_out() -> None:
    """A library may send them with a slow one, in a message that takes longer than the limit of one game."""
    driver = with_an_empty_bank()
    driver.tick(5.1)
    driver.send(0, driver.take(0, 0), driver.take(0, 1))
    assert not driver.kinds_told(0, FaultNoticed)
    assert [driver.decision(game, 1, 0).millis for game in range(2)] == pytest.approx([1100, 4000])


def test_a_message_without_answers_takes_its_time_once() -> None:
    """The first decision that it ends takes the time."""
    driver = Driver(Rules(players=2), games=3)
    driver.greet((3, 3))
    driver.now += 3
    driver.send(0, *[driver.take(0, game)._replace(turn=99) for game in range(3)])
    driver.play_on([1])
    assert [driver.decision(game, 0, 0).millis for game in range(3)] == pytest.approx([3000, 0, 0])


def test_only_the_hosts_delays_after_the_request_extend_a_decision() -> None:
    """A delay that ended before the request doesn't count, and one that ended just after it hardly does."""
    driver = Driver(Rules(players=2))
    driver.greet()
    driver.answer(1)
    driver.match.deduct(0, CpuSample(5.0, 0.0), driver.now)
    driver.now += 0.05
    driver.match.deduct(0, CpuSample(5.0, 0.0), driver.now)
    driver.tick(10.95)
    assert not driver.match.games()[0].steps
    driver.match.deduct(0, CpuSample(0.1, 0.0), driver.now)
    driver.tick(0.14)
    assert not driver.match.games()[0].steps
    driver.tick(0.02)
    assert driver.decision(0, 0, 0).fault is Fault.TIMEOUT
    assert driver.decision(0, 0, 0).waited_millis == pytest.approx(150)


def test_an_answer_after_its_deadline_is_late_even_before_the_tick() -> None:
    """Whether an answer is late depends on its own time, not on that of the next tick."""
    driver = Driver(Rules(players=2), clock=Clock(move_millis=100, bank_millis=0))
    driver.greet()
    driver.now += 0.2
    driver.answer(0)
    driver.answer(1)
    assert driver.decision(0, 0, 0).fault is Fault.TIMEOUT


def test_a_late_answer_is_dropped_without_a_second_fault() -> None:
    """An answer to a decision that the stand-in has already made changes nothing."""
    driver = Driver(Rules(players=2), clock=Clock(move_millis=100, bank_millis=0))
    driver.greet()
    late = driver.asks[0].pop(0).view
    driver.answer(1)
    driver.tick(0.2)
    driver.send(0, PlayerAnswer(0, late.round, late.turn, late.legal_moves()[0]))
    driver.answer(0)
    driver.answer(1)
    assert driver.decision(0, 1, 0).fault is None


def test_a_backlog_of_stale_requests_costs_what_has_timed_out_and_no_more() -> None:
    """A bot that falls behind still gets every request, may answer each, and continues from the last."""
    driver = Driver(Rules(players=2), clock=Clock(move_millis=100, bank_millis=0))
    driver.greet()
    backlog = []
    for _ in range(2):
        backlog.append(driver.asks[0].pop(0))
        driver.answer(1)
        driver.tick(0.2)
    for ask in backlog:
        move = ask.view.legal_moves()[0]
        driver.send(0, PlayerAnswer(0, ask.view.round, ask.view.turn, move, nonce=ask.nonce))
    driver.play_on()
    assert driver.match.over
    faults = [step[0].fault for step in driver.match.games()[0].steps if step[0]]
    assert faults[:2] == [Fault.TIMEOUT] * 2
    assert not any(faults[2:])


def test_an_illegal_move_is_played_by_the_stand_in() -> None:
    """An illegal move is a fault whose explanation names the card, and the stand-in plays."""
    driver = Driver(Rules(players=2))
    driver.greet()
    seen = driver.asks[0][0].view
    missing = next(card for card in Card if card not in seen.hand)
    driver.answer(0, lambda _: Move((missing,)))
    driver.answer(1)
    decision = driver.decision(0, 0, 0)
    assert decision.fault is Fault.ILLEGAL
    assert decision.cards == (stand_in(seen).cards[0].label,)
    assert missing.label in (decision.trouble or "")


@pytest.mark.parametrize("kind", ["unreadable", "impossible turn", "another answer"])
def test_messages_that_break_the_protocol_are_faults(kind: str) -> None:
    """An unreadable move counts immediately, an unrequested one in the next decision at the latest."""
    driver = Driver(Rules(players=2))
    driver.greet()
    seen = driver.asks[0][0].view
    good = seen.legal_moves()[0]
    if kind == "unreadable":
        driver.send(0, PlayerAnswer(0, 1, 1, None, broken="99 is not a card"))
        step = 0
    elif kind == "impossible turn":
        driver.send(0, PlayerAnswer(0, 1, 10, good))
        step = 0
    else:
        driver.send(0, PlayerAnswer(0, 1, 1, good), PlayerAnswer(0, 1, 1, seen.legal_moves()[-1]))
        step = 1
    driver.answer(1)
    driver.answer(1)
    assert driver.decision(0, step, 0).fault is Fault.PROTOCOL


def test_moves_before_the_match_has_begun_count_against_the_first_decisions() -> None:
    """There are no requests while others are still starting, so each answer is premature."""
    driver = Driver(Rules(players=2), games=2)
    driver.match.greeted(0, Hello(1, ""), driver.now)
    driver.send(0, PlayerAnswer(0, 1, 1, Move((Card.TEMPURA,))), PlayerAnswer(0, 1, 2, Move((Card.TEMPURA,))))
    driver.match.greeted(1, Hello(1, ""), driver.now)
    driver.collect()
    driver.play_on()
    first, second = driver.match.games()
    assert [step[0].fault for step in first.steps if step[0] and step[0].fault] == [Fault.PROTOCOL] * 2
    assert driver.decision(0, 1, 0).fault is Fault.PROTOCOL
    assert driver.decision(0, 0, 0).trouble == (
        "an answer for game 0, round 1, turn 1, sent before the request"
    )
    assert not any(step[0].fault for step in second.steps if step[0])


@pytest.mark.parametrize("together", [False, True])
def test_the_same_answer_twice_is_no_fault(*, together: bool) -> None:
    """A repeated answer changes nothing, in the same message, before the next request or after it."""
    driver = Driver(Rules(players=2))
    driver.greet()
    ask = driver.asks[0].pop(0)
    answer = PlayerAnswer(0, 1, 1, ask.view.legal_moves()[0], nonce=ask.nonce)
    driver.send(0, *[answer] * (2 if together else 1))
    driver.send(0, answer._replace(note="once more"))
    driver.answer(1)
    driver.send(0, answer)
    driver.play_on()
    driver.send(0, answer)
    assert driver.match.over
    assert not [step[0] for step in driver.match.games()[0].steps if step[0] and step[0].fault]


EARLY = "an answer for game 0, round 1, turn 2, sent before the request"


@pytest.mark.parametrize("when", ["with its own turn open", "before the others", "after the others"])
def test_an_early_answer_is_refused_the_same_way_however_it_races(when: str) -> None:
    """In any order of answers, only the decision that the early answer names has a protocol fault."""
    driver = Driver(Rules(players=2))
    driver.greet()
    ask = driver.asks[0].pop(0)
    good = PlayerAnswer(0, 1, 1, ask.view.legal_moves()[0], nonce=ask.nonce)
    early = PlayerAnswer(0, 1, 2, ask.view.legal_moves()[0], nonce=ask.nonce)
    if when == "with its own turn open":
        driver.send(0, early)
        driver.send(0, good)
        driver.answer(1)
    elif when == "before the others":
        driver.send(0, good)
        driver.send(0, early)
        driver.answer(1)
    else:
        driver.answer(1)
        driver.send(0, good)
        driver.send(0, early)
    driver.asks[0].clear()
    driver.answer(1)
    assert driver.decision(0, 0, 0).fault is None
    assert driver.decision(0, 1, 0).fault is Fault.PROTOCOL
    assert driver.decision(0, 1, 0).trouble == EARLY
    driver.play_on()
    assert driver.match.over
    assert [step[0].fault for step in driver.match.games()[0].steps if step[0]].count(None) == 26


def test_one_message_cannot_answer_the_request_that_it_causes() -> None:
    """An early answer is refused even without a nonce, if its message also answers the open decision."""
    driver = Driver(Rules(players=2))
    driver.greet()
    driver.answer(1)
    move = driver.asks[0].pop(0).view.legal_moves()[0]
    driver.send(0, PlayerAnswer(0, 1, 1, move), PlayerAnswer(0, 1, 2, move))
    driver.asks[0].clear()
    driver.answer(1)
    assert driver.decision(0, 0, 0).fault is None
    assert driver.decision(0, 1, 0).trouble == EARLY


def test_an_answer_to_a_game_that_has_not_begun_counts_in_that_game() -> None:
    """An answer to a game that hasn't begun is a fault in that game, not in the game in progress."""
    driver = Driver(Rules(players=2), games=2)
    driver.greet()
    driver.send(0, PlayerAnswer(1, 2, 3, driver.asks[0][0].view.legal_moves()[0]))
    driver.play_on()
    first, second = driver.match.games()
    assert not [step[0] for step in first.steps if step[0] and step[0].fault]
    assert [index for index, step in enumerate(second.steps) if step[0] and step[0].fault] == [11]


def test_nonces_differ_from_decision_to_decision_and_from_seat_to_seat() -> None:
    """Nonces can't be predicted, so a bot that sends the right one has read its request."""
    driver = Driver(Rules(players=5), games=2)
    driver.greet()
    driver.play_on()
    nonces = [
        event.nonce
        for seat in range(5)
        for event in driver.kinds_told(seat, DecisionRequested)
        if isinstance(event, DecisionRequested)
    ]
    assert len(nonces) == 2 * 5 * 3 * 6
    assert len(set(nonces)) == len(nonces)
    assert all(0 < nonce < 2**32 for nonce in nonces)


def test_stand_ins_are_marked_for_everybody() -> None:
    """All seats see where the stand-in chose; an automatic turn has no marks."""
    driver = Driver(Rules(players=3))
    driver.greet()
    driver.answer(1, lambda _: Move((Card.SOY_SAUCE,)))
    driver.play_on()
    for seat in range(3):
        turns = [event for event in driver.kinds_told(seat, TurnRevealed) if isinstance(event, TurnRevealed)]
        assert [turn.stand_ins for turn in turns[:2]] == [(False, True, False), (False, False, False)]
        assert [turn.stand_ins for turn in turns if turn.turn.turn == 9] == [()] * 3


def test_the_end_of_a_match_says_how_many_games_were_played() -> None:
    """MatchEnded is the last event, even if a bot has left and the other games aren't played."""
    driver = Driver(Rules(players=2), games=3)
    driver.greet()
    driver.match.lose(0, CRASH, driver.now)
    driver.collect()
    driver.play_on((1,))
    assert driver.told[1][-1] == MatchEnded(1)
    assert not driver.kinds_told(0, MatchEnded)


def test_a_breach_does_not_save_the_bank() -> None:
    """A bot that breaks the protocol after thinking has still used up the time."""
    driver = Driver(Rules(players=2))
    driver.greet()
    driver.now += 8
    driver.send(0, PlayerAnswer(9, 1, 1, None))
    driver.answer(1)
    assert driver.decision(0, 0, 0).fault is Fault.PROTOCOL
    assert driver.asks[0][0].bank == pytest.approx(3)


def test_the_third_fault_takes_the_seat_over_to_the_end_of_the_game() -> None:
    """After the third fault the bot gets no requests in that game, but it does in the next."""
    driver = Driver(Rules(players=2), games=2)
    driver.greet()
    for _ in range(3):
        driver.answer(0, lambda _: Move((Card.SOY_SAUCE,)))
        driver.answer(1)
    assert not driver.asks[0]
    notices = driver.kinds_told(0, FaultNoticed)
    assert [notice.taken_over for notice in notices if isinstance(notice, FaultNoticed)] == [
        False,
        False,
        True,
    ]
    while 1 not in driver.asks[1]:
        driver.answer(1)
    record = driver.match.games()[0]
    assert [step[0].fault for step in record.steps if step[0]][:4] == [Fault.ILLEGAL] * 3 + [None]
    assert all(step[0].standin for step in record.steps if step[0])
    assert 1 in driver.asks[0]
    (ended,) = driver.kinds_told(1, GameEnded)
    assert isinstance(ended, GameEnded)
    assert ended.places == (2, 1)


def test_no_new_games_begin_after_a_crash() -> None:
    """The stand-in finishes the games in progress; the rest of the match isn't played."""
    driver = Driver(Rules(players=3), games=3)
    driver.greet()
    driver.answer(0)
    driver.match.lose(1, CRASH, driver.now)
    driver.collect()
    driver.play_on((0, 2))
    assert driver.match.over
    assert len(driver.match.games()) == 1
    assert driver.decision(0, 0, 1).fault is Fault.CRASH
    assert driver.decision(0, 1, 1).fault is None
    assert driver.decision(0, 1, 1).standin
    assert driver.match.seats()[1].lost == CRASH.why


def test_a_crash_after_its_answer_counts_from_the_next_decision() -> None:
    """A bot's answer before its crash counts as its own."""
    driver = Driver(Rules(players=2))
    driver.greet()
    driver.answer(0)
    driver.match.lose(0, CRASH, driver.now)
    driver.collect()
    driver.play_on((1,))
    assert driver.decision(0, 0, 0).fault is None
    assert driver.decision(0, 1, 0).fault is Fault.CRASH


def test_a_bot_that_leaves_on_its_last_decision_loses_the_next_game_too() -> None:
    """The stand-in finishes that game and plays another one, since the bot may have been last anyway."""
    driver = Driver(Rules(players=2), games=4)
    driver.greet()
    while driver.asks[0][0].view.round < 3 or driver.asks[0][0].view.turn < 9:
        for seat in (0, 1):
            driver.answer(seat)
    driver.match.lose(0, CRASH, driver.now)
    driver.asks[0].clear()
    driver.collect()
    driver.play_on((1,))
    first, second = driver.match.games()
    assert driver.match.over
    faults = [[decision.fault if decision else None for decision in step] for step in first.steps]
    assert [number for number, step in enumerate(faults) if step[0] is not None] == [26]
    assert taken_over(faults, 2) == (26, None)
    assert all(step[0].standin for step in second.steps if step[0])


def test_a_bot_that_leaves_between_games_loses_one() -> None:
    """After a complete first game the second one is played without it, and there is no third."""
    driver = Driver(Rules(players=2), games=4)
    driver.greet()
    while len(driver.match.games()) == 1 and driver.rounds:
        for seat in (0, 1):
            ask = driver.asks[seat].get(0)
            last = ask is not None and (ask.view.round, ask.view.turn) == (3, 9)
            if last and seat == 1:
                driver.match.lose(0, CRASH, driver.now)
                driver.collect()
            if driver.asks[seat].get(0):
                driver.answer(seat)
    driver.play_on((1,))
    first, second = driver.match.games()
    assert not any(step[0].fault for step in first.steps if step[0])
    assert [step[0].fault for step in second.steps if step[0]][:2] == [Fault.CRASH, None]
    assert driver.match.over


def test_a_match_without_any_bot_ends() -> None:
    """If every seat is lost, the stand-ins play one game."""
    driver = Driver(Rules(players=4), games=6)
    for seat in range(4):
        driver.match.lose(seat, CRASH, driver.now)
    assert driver.match.over
    assert len(driver.match.games()) == 1


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_a_bots_answers_tells_the_others_nothing(order: tuple[int, ...]) -> None:
    """Bots learn of a turn only when no decision is open in any game. Its events are in the games' order."""
    driver = Driver(Rules(players=2), games=3)
    driver.greet((3, 3))
    for game in range(3):
        ask = driver.asks[1].pop(game)
        driver.send(1, PlayerAnswer(game, ask.view.round, ask.view.turn, first(ask.view)))
    before = len(driver.told[1])
    for game in order:
        assert len(driver.told[1]) == before
        ask = driver.asks[0].pop(game)
        driver.send(0, PlayerAnswer(game, ask.view.round, ask.view.turn, first(ask.view)))
    news = driver.told[1][before:]
    kinds = [
        (type(event), event.game) for event in news if isinstance(event, TurnRevealed | DecisionRequested)
    ]
    assert len(kinds) == len(news)
    assert kinds == [(kind, game) for game in range(3) for kind in (TurnRevealed, DecisionRequested)]


def test_faults_are_revealed_with_the_turn_of_all_games() -> None:
    """Until the last decision is made, if only because time runs out, only the bot learns of its fault."""
    driver = Driver(Rules(players=2), games=2, clock=Clock(move_millis=1000, bank_millis=0))
    driver.greet((2, 2))
    for game in (0, 1):
        driver.send(1, PlayerAnswer(game, 1, 1, first(driver.asks[1].pop(game).view)))
    before = [len(driver.told[seat]) for seat in (0, 1)]
    driver.send(0, PlayerAnswer(1, 1, 1, None))
    assert [type(event) for event in driver.told[0][before[0] :]] == [FaultNoticed]
    assert len(driver.told[1]) == before[1]
    driver.tick(1.5)
    revealed = [event for event in driver.told[1][before[1] :] if isinstance(event, TurnRevealed)]
    assert [(event.game, event.stand_ins) for event in revealed] == [(0, (True, False)), (1, (True, False))]


@pytest.mark.parametrize("dummy", [False, True])
def test_the_stand_in_is_a_function_of_the_view(*, dummy: bool) -> None:
    """The stand-in plays the first card of the hand, and if it controls the dummy, the next card for it."""
    rules = Rules(players=2, dummy=dummy)
    seen = view(new_game(rules, shuffled_deck(rules, bytes.fromhex(SEEDS[0]))), 0)
    move = stand_in(seen)
    assert move == Move((seen.hand[0],), seen.hand[1] if dummy else None)
    assert move in seen.legal_moves()


def test_a_clock_never_goes_below_zero() -> None:
    """A decision that took longer than all remaining time leaves an empty bank."""
    assert SeatClock(1, 10).spend(0.5) == SeatClock(1, 10)
    assert SeatClock(1, 10).spend(4) == SeatClock(1, 7)
    assert SeatClock(1, 10).spend(400) == SeatClock(1, 0)


@pytest.mark.parametrize("when", ["first", "last", "before the others said hello"])
def test_each_stray_answer_costs_a_decision_however_far_the_others_are(when: str) -> None:
    """A bot's number of faults doesn't depend on the order of answers."""
    driver = Driver(Rules(players=2))
    strays = [PlayerAnswer(7, 1, 1, None)] * 5
    if when == "before the others said hello":
        driver.match.greeted(0, Hello(1, "test"), driver.now)
        driver.send(0, *strays)
        driver.match.greeted(1, Hello(1, "test"), driver.now)
        driver.collect()
    else:
        driver.greet()
        if when == "last":
            driver.answer(1)
        driver.send(0, *strays)
    driver.play_on([1])
    assert [driver.decision(0, step, 0).fault for step in range(4)] == [Fault.PROTOCOL] * 3 + [None]
    assert driver.match.over
