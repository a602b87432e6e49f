"""Tests of valid records that reveal an arena fault, and therefore aren't stored."""

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from arena.db.matches import Claim, ClaimedSeat, FinishedMatch
from arena.platform.names import HOUSE
from arena.play.launcher import MatchVoid
from arena.play.referee.player import Hello, Lost
from arena.protocol.faults import Fault
from arena.protocol.match import MatchRecord, SeatReport, encode
from arena.rules import Rules
from arena.scheduler.check import verified_match
from tests.builders import match_spec
from tests.play.referee.driver import Driver

AUTHORS = ("ann", HOUSE, "bob")
IMAGES = ("sha256:a", "sha256:b", "sha256:c")


def played(
    absent: Collection[int],
    fault: Fault = Fault.ABSENT,
    seatings: tuple[tuple[int, ...], ...] = (),
    authors: tuple[str, ...] = AUTHORS,
    *,
    rated: bool = True,
) -> FinishedMatch:
    """Return the outcome of a match in which these bots never sent Hello, or had another fault."""
    rules = Rules(players=3)
    driver = Driver(rules, seatings=seatings)
    for seat in range(3):
        if seat in absent:
            driver.match.lose(seat, Lost(fault, "gone"), driver.now)
        else:
            driver.match.greeted(seat, Hello(1, "test"), driver.now)
    driver.collect()
    driver.play_on()
    spec = replace(match_spec(IMAGES), seatings=seatings)
    seats = tuple(
        ClaimedSeat(bot=f"bot-{author}", number=1, author=author, version=number)
        for number, author in enumerate(authors)
    )
    record = MatchRecord(
        match="m",
        attempt=1,
        games=driver.match.games(),
        seats=tuple(
            SeatReport(image=image, runtime="docker/runc", limits=(), trouble="?") for image in IMAGES
        ),
    )
    return verified_match(Claim(spec=spec, seats=seats, rated=rated), encode(record), datetime.now(UTC))


def test_a_match_without_any_hello_is_void() -> None:
    """The host is to blame, since three bots don't all fail at once."""
    with pytest.raises(MatchVoid, match="no bots sent Hello in time"):
        played({0, 1, 2})


def test_authors_cannot_void_a_challenge_by_silent_bots() -> None:
    """Without any Hello, a challenge is void only if a house bot takes part; one author may own the rest."""
    (game,) = played({0, 1, 2}, authors=("ann", "ann", "ann"), rated=False).games
    assert game.faults == (1, 1, 1)
    with pytest.raises(MatchVoid, match=r"house bots did not send Hello in time \(bot-house\)"):
        played({0, 1, 2}, rated=False)


def test_a_match_in_which_a_house_bot_sends_no_hello_is_void() -> None:
    """House bots are known to start, so the host was too busy. The match is not rated."""
    with pytest.raises(MatchVoid, match=r"house bots did not send Hello in time \(bot-house\)"):
        played({0, 1})


@pytest.mark.parametrize("absent", [{0}, {0, 2}])
def test_a_submitted_bot_without_hello_is_to_blame_if_house_bots_send_it(absent: set[int]) -> None:
    """If the house bots have started, the host is not to blame."""
    (game,) = played(absent).games
    assert [seat for seat, faults in enumerate(game.faults) if faults] == sorted(absent)


def test_the_bot_counts_and_not_its_seat() -> None:
    """Bots change seats between games. Here the house bot is the second bot, and has the first seat."""
    with pytest.raises(MatchVoid, match=r"house bots did not send Hello in time \(bot-house\)"):
        played({1}, seatings=((1, 2, 0),))
    (game,) = played({2}, seatings=((1, 2, 0),)).games
    assert game.faults == (0, 1, 0)


def test_a_house_bot_that_crashes_is_like_any_other() -> None:
    """Unlike a missing Hello, a crash is no sign of a busy host."""
    (game,) = played({1}, Fault.CRASH).games
    assert game.faults == (0, 1, 0)


def test_a_match_in_which_all_crash_at_the_start_is_void_if_one_is_a_house_bot() -> None:
    """The house bot is known to work, so the host must be at fault."""
    with pytest.raises(MatchVoid, match="no bot played a card, not even the house bots bot-house"):
        played({0, 1, 2}, Fault.CRASH)
    (game,) = played({0, 1, 2}, Fault.CRASH, authors=("ann", "bob", "eve")).games
    assert game.faults == (1, 1, 1)
