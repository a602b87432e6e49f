"""An arena that can't play is told from a bot that can't be played."""

from arena.coordinator.voids import VOIDS_IN_A_ROW, VoidsInARow


def test_an_arena_that_can_not_play_is_told() -> None:
    """Enough failures in a row among the arena's own bots, or among ever other strangers, are too many."""
    house, strangers = VoidsInARow(), VoidsInARow()
    for number in range(VOIDS_IN_A_ROW):
        assert not house.too_many(1)
        assert not strangers.too_many(1)
        house.add((), "w")
        strangers.add((f"bot {number}", "sometimes") if number % 2 else (f"bot {number}",), "w")
    assert house.too_many(1)
    assert strangers.too_many(1)


def test_one_bot_that_spoils_its_matches_stops_nobody() -> None:
    """However many fail: while one stranger's bot sits in all of them, the others' go on."""
    voids = VoidsInARow()
    for number in range(5 * VOIDS_IN_A_ROW):
        voids.add(("spoiler", f"bot {number}"), "w")
    assert not voids.too_many(1)
    voids.add(("another",), "w")
    assert voids.too_many(1)


def test_one_worker_of_several_that_spoils_matches_stops_nobody() -> None:
    """Others play them. Alone, or where another is no better, it is the arena."""
    voids = VoidsInARow()
    for _ in range(VOIDS_IN_A_ROW):
        voids.add((), "one")
    assert voids.too_many(1)
    assert not voids.too_many(2)
    voids.add((), "two")
    assert voids.too_many(2)


def test_a_match_that_is_played_clears_all() -> None:
    """The row begins anew, with other suspects."""
    voids = VoidsInARow()
    for _ in range(VOIDS_IN_A_ROW - 1):
        voids.add((), "w")
    voids.reset()
    voids.add(("spoiler",), "w")
    assert (voids.count, voids.too_many(1)) == (1, False)
    for _ in range(2 * VOIDS_IN_A_ROW):
        voids.add(("spoiler",), "w")
    assert not voids.too_many(1)
