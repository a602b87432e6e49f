"""The referee's news of games in progress: only rounds that are over."""

from collections.abc import Iterator

import msgspec
import pytest

from arena.play.referee.spec import RoundsOver
from arena.rules import Move, Rules, View
from tests.play.referee.driver import Driver, first

SECRET = "I keep the wasabi for round 3"  # noqa: S105 - a bot's note


def turns_until(driver: Driver, round_number: int) -> Iterator[None]:
    """Play turn by turn until the only game has reached this round or is over."""
    while not driver.match.over and driver.rounds[0] < round_number:
        for seat in range(driver.players):
            if driver.asks[seat]:
                driver.answer(seat, note=SECRET)
        yield


def labels(news: RoundsOver) -> list[list[tuple[str, ...]]]:
    """Return the cards of each step."""
    return [[decision.cards for decision in step if decision] for step in news.steps]


@pytest.mark.parametrize("rules", [Rules(players=3), Rules(players=2, dummy=True)], ids=str)
def test_a_round_is_reported_once_it_is_over(rules: Rules) -> None:
    """Once a round is over, the news includes it and all earlier rounds. There is no news within a round."""
    driver = Driver(rules)
    driver.greet()
    asked = rules.turns - (not rules.dummy)
    for round_number in (1, 2, 3):
        for _ in turns_until(driver, round_number + 1):
            if driver.match.over or driver.rounds[0] > round_number:
                break
            assert driver.match.newly_finished_rounds() == ()
        (news,) = driver.match.newly_finished_rounds()
        assert (news.game, len(news.steps)) == (0, round_number * asked)
        assert driver.match.newly_finished_rounds() == ()
    (game,) = driver.match.games()
    assert labels(news) == labels(RoundsOver(0, game.steps))


def test_private_texts_are_not_reported() -> None:
    """The news includes the kind of a fault, but neither its explanation nor the bots' notes."""

    def wrong(view: View) -> Move:
        return first(view) if (view.round, view.turn) != (1, 2) else Move((first(view).cards[0],) * 2)

    driver = Driver(Rules(players=2))
    driver.greet()
    while driver.rounds[0] == 1:
        driver.answer(0, note=SECRET)
        driver.answer(1, wrong, note=SECRET)
    assert driver.decision(0, 1, 1).trouble is not None
    assert driver.decision(0, 1, 1).note == SECRET
    (news,) = driver.match.newly_finished_rounds()
    told = news.steps[1][1]
    assert told is not None
    assert told.fault is not None
    assert SECRET not in msgspec.json.encode(news).decode()
    assert not any(
        decision and (decision.trouble or decision.note) for step in news.steps for decision in step
    )


def test_only_the_newest_of_several_games_is_reported_and_then_to_its_end() -> None:
    """A match that plays many games at once reports no more than one that plays them in sequence."""
    driver = Driver(Rules(players=2), games=5)
    driver.greet((4, 4))

    def play_rounds(count: int) -> None:
        for _ in range(count):
            begun = dict(driver.rounds)
            while driver.rounds == begun:
                for seat in range(2):
                    for _ in range(len(begun)):
                        driver.answer(seat)

    def news() -> list[tuple[int, int]]:
        return [(each.game, len(each.steps)) for each in driver.match.newly_finished_rounds()]

    play_rounds(1)
    assert news() == [(3, 9)]
    play_rounds(3)
    assert news() == [(3, 27), (4, 9)]
    play_rounds(2)
    assert news() == [(4, 27)]
    assert driver.match.over
