"""Tests of rated matches whose bots change seats between games."""

from dataclasses import replace

import pytest

from arena.db.matches import Claim
from arena.db.store import Store
from arena.play.replay.document import parse
from tests.db.builders import add_bot, claim_one, finished, new_match, present

SEATINGS = ((2, 0, 1), (0, 1, 2), (1, 2, 0))
NAMES = ("a", "b", "c")
TAKEN_OVER = (0, 0, 3)
"""Faults by seat. In every game the last seat is taken over."""


@pytest.fixture
def claim(store: Store) -> Claim:
    """Claim a match of three bots of different authors, with different seats in each game."""
    versions = [add_bot(store, name, source=f"sha256:{name}", author=f"of-{name}") for name in NAMES]
    store.queue.add(replace(new_match("m", versions, deals=3), seatings=SEATINGS))
    return claim_one(store)


def seated(game: int) -> list[str]:
    """Return the names of the bots in the order of their seats in a game."""
    return [NAMES[bot] for bot in SEATINGS[game]]


def test_everything_about_a_game_goes_by_its_own_seats(store: Store, claim: Claim) -> None:
    """The page, the list, the replay and the ratings have the bots in the order of that game's seats."""
    assert store.results.record(finished(claim, [(1, 2, 3)] * 3, faults=TAKEN_OVER))
    listed = store.games.newest()
    assert [[seat.bot for seat in game.seats] for game in reversed(listed)] == [
        seated(game) for game in range(3)
    ]
    for index in range(3):
        page = present(store.games.find(f"m-{index}"))
        assert [seat.bot for seat in page.seats] == seated(index)
        assert [seat.author for seat in page.seats] == [f"of-{name}" for name in seated(index)]
        assert [seat.image for seat in page.seats] == [f"sha256:{name}" for name in seated(index)]
        assert [seat.place for seat in page.seats] == [1, 2, 3]
        assert [seat.taken_over for seat in page.seats] == [False, False, True]
        assert [(seat.bot, seat.author) for seat in parse(page.replay).seats] == [
            (name, f"of-{name}") for name in seated(index)
        ]
        gains = [
            seat.overall.mean_after - seat.overall.mean_before
            for seat in page.seats
            if seat.overall and seat.overall.mean_before
        ]
        assert gains[0] > 0 > gains[2]
    board = {line.bot: line for line in store.ratings.standings()}
    assert {name: (board[name].games, board[name].wins) for name in NAMES} == dict.fromkeys(NAMES, (3, 1))
    assert store.ladder.rebuild().differing == 0
    assert store.cards.rebuild().differing == 0


def test_logs_go_by_the_seats_of_the_game(store: Store, claim: Claim) -> None:
    """A seat of a game has the stderr that its bot printed in the whole match."""
    assert store.results.record(finished(claim, [(1, 2, 3)] * 3))
    for index in range(3):
        log = present(store.logs.find(f"m-{index}"))
        assert [(seat.seat, seat.bot) for seat in log.seats] == list(enumerate(seated(index)))
        assert [seat.report.image for seat in log.seats] == [f"sha256:{name}" for name in seated(index)]
        assert [seat.report.stderr for seat in log.seats] == [f"seat {bot}" for bot in SEATINGS[index]]


def test_a_take_over_counts_against_the_bot_in_the_seat(store: Store, claim: Claim) -> None:
    """Each of the three bots is taken over in one game."""
    assert store.results.record(finished(claim, [(1, 2, 3)] * 3, faults=TAKEN_OVER))
    for line in store.ratings.standings():
        assert line.games == 3
        assert line.faulty == 1


def test_a_game_without_every_bot_is_refused(store: Store, claim: Claim) -> None:
    """It is refused before anything is stored."""
    good = finished(claim, [(1, 2, 3)] * 3)
    with pytest.raises(ValueError, match="each bot of the match must have one seat"):
        replace(good.games[0], bots=(0, 1, 1))
    assert store.activity.totals().games == 0
