"""Tests of games' highlights."""

from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.highlights import KEPT, SURPRISE, Highlight, HighlightKind, best, highlights
from arena.ladder.rating import Rating, expected

STRONG, WEAK, NEW = Rating(45.0, 1.0), Rating(20.0, 1.0), Rating(25.0, 25 / 3)
HIGHLIGHT = st.builds(
    Highlight,
    kind=st.sampled_from(HighlightKind),
    game=st.integers(1, 50),
    seat=st.integers(0, 1),
    other=st.none() | st.integers(0, 1),
    value=st.integers(0, 5).map(float),
)


def upsets(*arguments: object) -> list[tuple[int, int | None]]:
    """Return (seat, other) for each upset in a game."""
    found = highlights(1, *arguments)  # type: ignore[arg-type]
    return [(each.seat, each.other) for each in found if each.kind is HighlightKind.UPSET]


def test_a_win_against_the_odds_is_an_upset() -> None:
    """The highlight has the pair with the least probable result, and the result's probability."""
    found = highlights(7, (STRONG, WEAK, Rating(22.0, 1.0)), (3, 1, 2), (20, 40, 30))
    assert found[0] == Highlight(
        kind=HighlightKind.UPSET, game=7, seat=1, other=0, value=expected(WEAK, STRONG, (3,))
    )
    assert found[0].value < SURPRISE


def test_an_expected_result_is_no_upset() -> None:
    """Ties aren't upsets either, nor are a new bot's wins, except against a very strong bot."""
    assert upsets((STRONG, WEAK), (1, 2), (40, 30)) == []
    assert upsets((STRONG, WEAK), (1, 1), (40, 40)) == []
    assert upsets((Rating(30.0, 1.0), NEW), (2, 1), (40, 30)) == []
    assert upsets((STRONG, NEW), (2, 1), (40, 30)) == [(1, 0)]


def test_beating_a_seat_that_was_taken_over_is_no_upset() -> None:
    """A favourite that crashed was not beaten. The stand-in's points don't count either."""
    found = highlights(1, (STRONG, WEAK), (2, 1), (None, 12))
    assert [(each.kind, each.seat, each.value) for each in found] == [(HighlightKind.POINTS, 1, 12)]
    assert highlights(1, (STRONG, WEAK), (1, 2), (None, None)) == ()


def test_the_most_points_of_a_game_count() -> None:
    """If several seats have the most points, the first one counts."""
    found = highlights(1, (WEAK, WEAK, WEAK), (3, 1, 1), (20, 50, 50))
    assert [(each.kind, each.seat, each.other, each.value) for each in found] == [
        (HighlightKind.POINTS, 1, None, 50)
    ]


@given(st.lists(HIGHLIGHT, max_size=30), st.integers(0, 30))
def test_the_best_can_be_merged_from_parts(found: list[Highlight], cut: int) -> None:
    """The best of two parts contain the best of the whole."""
    assert best((*best(found[:cut]), *best(found[cut:]))) == best(found) == best(reversed(found))
    for kind in HighlightKind:
        kept = [each.value for each in best(found) if each.kind is kind]
        rest = sorted(each.value for each in found if each.kind is kind)
        assert kept == (rest[:KEPT] if kind is HighlightKind.UPSET else rest[::-1][:KEPT])
