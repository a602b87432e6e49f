"""Tests of comparisons in paired games, and of their results' file."""

from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from arena.local.compare import (
    Comparison,
    ComparisonProgress,
    DealResult,
    deal_results,
    read_comparison,
)
from arena.local.games import LocalResult, LocalSeatResult
from arena.local.resultsfile import ResultsFile, WrongResults
from arena.play.replay.document import Variant
from arena.rules import Rules


def comparison(*players: int, field: int = 0, seed: int = 1) -> Comparison:
    """Return a comparison with this many bots in the field."""
    names = ("new", "old", *(f"field{number}" for number in range(field)))
    return Comparison(
        bots=names,
        digests=tuple(name[::-1] for name in names),
        tables=tuple(Variant.of(Rules(players=count)) for count in players),
        seed=seed,
        effect=0.05,
        error=0.05,
    )


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_without_a_field_the_bots_swap_their_seats(players: int) -> None:
    """A pair's games have the same deck. After two deals, each bot has had each seat equally often."""
    games = list(comparison(players).games(0, 4))
    assert [game.number for game in games] == list(range(8))
    for one, two in zip(games[::2], games[1::2], strict=True):
        assert one.seed == two.seed
        assert [1 - bot for bot in one.bots] == list(two.bots)
    seats = Counter((seat, bot) for game in games for seat, bot in enumerate(game.bots))
    assert set(seats.values()) == {4}


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_with_a_field_both_bots_take_the_same_seat(players: int) -> None:
    """Both bots play against the same opponents. Their seat changes with each deal."""
    games = list(comparison(players, field=2).games(0, players))
    for deal, (one, two) in enumerate(zip(games[::2], games[1::2], strict=True)):
        assert one.bots[deal] == 0
        assert two.bots[deal] == 1
        assert (*one.bots[:deal], *one.bots[deal + 1 :]) == (*two.bots[:deal], *two.bots[deal + 1 :])
        assert set(one.bots) <= {0, 2, 3}


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("field", [1, 2, 3, 4])
def test_every_bot_of_the_field_plays_equally_often(players: int, field: int) -> None:
    """In a whole number of cycles, the tested bot meets each of them equally often, in each of its seats."""
    games = comparison(players, field=field).games(0, players * field)
    met = Counter((game.bots.index(0), bot) for game in games if 0 in game.bots for bot in game.bots if bot)
    assert len(met) == players * field
    assert len(set(met.values())) == 1


def test_a_resumed_comparison_plays_the_same_deals() -> None:
    """From any deal on, the games are the same as without an interruption."""
    plan = comparison(2, 5, field=1)
    whole = [game[1:] for game in plan.games(0, 6)]
    assert [game[1:] for game in plan.games(2, 6)] == whole[4:]


def results(*places: tuple[int, int]) -> list[LocalResult]:
    """Return two-player games with these places by seat."""
    games = comparison(2).games(0, len(places))
    return [
        LocalResult(game, tuple(map(_at_place, ended)), (), None)
        for game, ended in zip(games, places, strict=False)
    ]


def _at_place(place: int) -> LocalSeatResult:
    return LocalSeatResult(place, 0, (), False, None, None)  # noqa: FBT003 - a seat's result


def test_a_deal_is_judged_by_both_games() -> None:
    """The first bot has the first seat in a deal's first game, and the second seat in its second."""
    won, split = deal_results(results((1, 2), (2, 1), (1, 2), (1, 2)))
    assert won.difference == 1
    assert split.difference == 0


def test_a_file_continues_where_it_ended(tmp_path: Path) -> None:
    """An incomplete last line is dropped, and the file's seed is used."""
    path, plan = tmp_path / "results.jsonl", comparison(2)
    with closing(ResultsFile(path)) as file:
        assert read_comparison(file, plan, any_seed=True) == (plan, ())
        for _ in range(3):
            file.write(DealResult((1.0, 0.0), (0, 1)))
    with path.open("ab") as cut:
        cut.write(b"[[1.0,0.")
    with closing(ResultsFile(path)) as file:
        known, done = read_comparison(file, comparison(2, seed=2), any_seed=True)
        assert (known, done) == (plan, (DealResult((1.0, 0.0), (0, 1)),) * 3)
        with pytest.raises(WrongResults, match="another command is writing"):
            ResultsFile(path)
        file.write(DealResult((0.5, 0.5), (0, 0)))
        assert len(read_comparison(file, plan, any_seed=True)[1]) == 4
    progress = ComparisonProgress(plan)
    for result in done:
        progress.add(result)
    assert (progress.deals, progress.shares, progress.faults) == (3, (1.0, 0.0), [0, 3])


@pytest.mark.parametrize("length", [0, 3, 20, 60])
def test_a_header_that_was_cut_off_is_written_again(tmp_path: Path, length: int) -> None:
    """A crash can cut a file off anywhere in its first line."""
    path, plan = tmp_path / "results.jsonl", comparison(2)

    def whole() -> bytes:
        with closing(ResultsFile(path)) as file:
            assert read_comparison(file, plan, any_seed=True) == (plan, ())
            file.write(DealResult((1.0, 0.0), (0, 1)))
        return path.read_bytes()

    before = whole()
    path.write_bytes(before[:length])
    assert whole() == before


def test_a_new_file_without_results_is_removed(tmp_path: Path) -> None:
    """An empty file that existed before is kept."""
    path = tmp_path / "results.jsonl"
    for exists in (False, True):
        if exists:
            path.touch()
        with closing(ResultsFile(path)) as file:
            read_comparison(file, comparison(2), any_seed=True)
        assert path.exists() == exists


def test_results_of_another_comparison_are_refused(tmp_path: Path) -> None:
    """A file with another comparison's results is left unchanged."""
    with closing(ResultsFile(tmp_path / "results.jsonl")) as file:
        file.write(comparison(2))
        for other, what in (
            (comparison(3), "different --players or variants"),
            (comparison(2, field=1), "different bots"),
            (comparison(2, seed=2), "a different --seed"),
        ):
            with pytest.raises(WrongResults, match=what):
                read_comparison(file, other, any_seed=False)


@pytest.mark.parametrize("text", ["def choose(view):\n    return view.hand[0]\n", "one line", "{}", "[]\n"])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    """A file that contains something else is left unchanged, even if its only line is not terminated."""
    path = tmp_path / "bot.py"
    path.write_text(text)
    with (
        closing(ResultsFile(path)) as file,
        pytest.raises(WrongResults, match=r"bot\.py is not a file of comparison results"),
    ):
        read_comparison(file, comparison(2), any_seed=True)
    assert path.read_text() == text
    with pytest.raises(WrongResults, match="is not a regular file"):
        ResultsFile(tmp_path)
