"""Tests of reading many games at once."""

from datetime import UTC, datetime, timedelta

from arena.db.store import Store
from tests.builders import START, fill

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def test_games_are_found_by_time_and_number(store: Store) -> None:
    """Each game is found once, with the seats that were taken over. Games without a replay are left out."""
    games = store.public_games
    assert games.first_ended(LONG_AGO, 0) is None
    fill(store)
    numbers = games.numbers(START, START + timedelta(days=1))
    assert numbers == (1, 12)
    found = games.find(range(1, 13), START)
    pages = [page for each in found if (page := store.games.find(each.game)) is not None]
    assert [(each.number, each.game, each.match, each.ended, each.replay) for each in found] == [
        (page.number, page.game, page.match, page.ended, page.replay) for page in pages
    ]
    assert [each.taken_over for each in found] == [
        tuple(seat.taken_over for seat in page.seats) for page in pages
    ]
    assert [each.number for each in found] == list(range(1, 13))
    assert games.first_ended(START, 0) == min(each.ended for each in found)
    assert games.first_ended(LONG_AGO, 12) is None
    last = max(each.ended for each in found)
    assert games.find(range(1, 13), last + timedelta(seconds=1)) == ()
    assert games.numbers(last, last + timedelta(seconds=1))[0] > 1
    while store.logs.remove_replays(last, 50):
        pass
    assert {each.ended for each in games.find(range(1, 13), LONG_AGO)} == {last}
    assert games.first_ended(LONG_AGO, 0) == last
