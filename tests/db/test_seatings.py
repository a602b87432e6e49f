"""Tests of rated matches whose bots change seats between games."""

from dataclasses import replace
from typing import Any

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
    """Return the names of a game's bots in seat order."""
    return [NAMES[bot] for bot in SEATINGS[game]]


def test_everything_about_a_game_goes_by_its_own_seats(store: Store, claim: Claim) -> None:
    """The page, list, replay and ratings of a game have its bots in that game's seat order."""
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
    board = {line.bot: line.entry for line in store.ratings.standings()}
    counted = {name: (board[name].games, board[name].wins, board[name].faulty) for name in NAMES}
    assert counted == dict.fromkeys(NAMES, (3, 1, 1))
    assert store.ladder.rebuild().differing == 0
    assert store.cards.rebuild().differing == 0


def test_logs_go_by_the_seats_of_the_game(store: Store, claim: Claim) -> None:
    """Each seat of a game has the stderr that its bot printed in the whole match."""
    assert store.results.record(finished(claim, [(1, 2, 3)] * 3))
    for index in range(3):
        log = present(store.logs.find(f"m-{index}"))
        assert [(seat.seat, seat.bot) for seat in log.seats] == list(enumerate(seated(index)))
        assert [seat.report.image for seat in log.seats] == [f"sha256:{name}" for name in seated(index)]
        assert [seat.report.stderr for seat in log.seats] == [f"seat {bot}" for bot in SEATINGS[index]]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"bots": (0, 1, 1)}, "each bot in the match must have one seat"),
        ({"points": (1, 2)}, "one entry per seat"),
    ],
)
def test_a_game_with_other_seats_is_refused(claim: Claim, change: dict[str, Any], why: str) -> None:
    """Each bot must have one seat, and each tuple one entry per seat."""
    with pytest.raises(ValueError, match=why):
        replace(finished(claim, [(1, 2, 3)]).games[0], **change)
