"""An arena that can't play is told from a bot that can't be played."""

from arena.coordinator.voids import VOIDS_IN_A_ROW, VoidsInARow


def test_an_arena_that_can_not_play_is_told() -> None:
    """Enough failures in a row among the arena's own bots, or among ever other strangers, are too many."""
    house, strangers = VoidsInARow(), VoidsInARow()
    for number in range(VOIDS_IN_A_ROW):
        assert not house.too_many
        assert not strangers.too_many
        house.add(())
        strangers.add((f"bot {number}", "sometimes") if number % 2 else (f"bot {number}",))
    assert house.too_many
    assert strangers.too_many


def test_one_bot_that_spoils_its_matches_stops_nobody() -> None:
    """However many fail: while one stranger's bot sits in all of them, the others' go on."""
    voids = VoidsInARow()
    for number in range(5 * VOIDS_IN_A_ROW):
        voids.add(("spoiler", f"bot {number}"))
    assert not voids.too_many
    voids.add(("another",))
    assert voids.too_many


def test_a_match_that_is_played_clears_all() -> None:
    """The row begins anew, with other suspects."""
    voids = VoidsInARow()
    for _ in range(VOIDS_IN_A_ROW - 1):
        voids.add(())
    voids.reset()
    voids.add(("spoiler",))
    assert (voids.count, voids.too_many) == (1, False)
    for _ in range(2 * VOIDS_IN_A_ROW):
        voids.add(("spoiler",))
    assert not voids.too_many
