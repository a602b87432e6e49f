"""Tests of leagues, which are computed from their logs and use the ladder's tables."""

import random
from collections import Counter
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from arena.local.bots import LocalBot, UnusableBot, bots_in, find_bot
from arena.local.games import LocalGame, LocalResult, LocalSeatResult
from arena.local.league import HeadToHead, League, LeagueEntrant, LeagueGame, LeagueRules, Line, read_league
from arena.local.resultsfile import ResultsFile, WrongResults
from arena.play.replay.document import Variant
from arena.rules import Rules

RULES = LeagueRules(tables=tuple(Variant.of(Rules(players=players)) for players in (2, 3)), seed=1)


def folder_of(folder: Path, *names: str) -> tuple[LocalBot, ...]:
    """Write bots to a folder, and return them."""
    for name in names:
        (folder / f"{name}.py").write_text(f"NAME = {name!r}\ndef choose(view):\n    return view.hand[0]\n")
    return bots_in(folder)


def ended(game: LocalGame) -> LocalResult:
    """Return the result of a game in which bots are placed in the order of their indices."""
    order = sorted(game.bots)
    places = [order.index(bot) + 1 for bot in game.bots]
    seats = [
        LocalSeatResult(place, 9, (), is_taken_over=False, median_millis=2, slowest_millis=3)
        for place in places
    ]
    return LocalResult(game, tuple(seats), (), None)


def play(league: League, games: int) -> list[LeagueGame]:
    """Play games, and return their lines in the log."""
    return [league.played(ended(game)) for game in league.plan(games, random.Random(1))]  # noqa: S311 - a test's dice


def test_the_better_bot_is_rated_higher(tmp_path: Path) -> None:
    """All bots play about equally often, at all table sizes, and at most once per table."""
    bots = folder_of(tmp_path, "a", "b", "c", "d")
    league = League(RULES, bots)
    assert [entrant.name for entrant in league.enter_missing()] == ["a", "b", "c", "d"]
    lines = play(league, 120)
    standings = league.board().rows
    assert [standing.bot for standing in standings] == ["a", "b", "c", "d"]
    assert [standing.version for standing in standings] == [1] * 4
    assert max(each.games for each in standings) < 2 * min(each.games for each in standings)
    assert {standing.median_millis for standing in standings} == {2.0}
    sizes = Counter(len(line.versions) for line in lines)
    assert sizes.keys() == {2, 3}
    assert all(len(set(line.versions)) == len(line.versions) for line in lines)
    met = sum(bots[version].name == "a" for line in lines for version in line.versions if 1 in line.versions)
    assert league.meeting("a", "b") == HeadToHead(met, ahead=met, behind=0, tied=0)
    assert league.meeting("b", "a") == HeadToHead(met, ahead=0, behind=met, tied=0)


def test_a_log_gives_the_same_league(tmp_path: Path) -> None:
    """Replaying a log gives a league that is equal to the last bit.

    A bot whose code has changed has a new version without the old one's games.
    """
    bots = folder_of(tmp_path, "a", "b", "c")
    league = League(RULES, bots)
    log: list[Line] = [*league.enter_missing(), *play(league, 30)]
    again = League(RULES, bots)
    again.replay(log)
    assert again.enter_missing() == ()
    assert again.board() == league.board()
    assert again.games == 30
    (tmp_path / "b.py").write_text("def choose(view):\n    return view.hand[-1]\n")
    changed = League(RULES, bots)
    changed.replay(log)
    (entrant,) = changed.enter_missing()
    assert entrant.name == "b"
    standing = next(each for each in changed.board().rows if each.bot == "b")
    old = next(each for each in league.board().rows if each.bot == "b")
    assert (standing.version, standing.games, standing.mean) == (2, 0, old.mean)
    assert changed.meeting("a", "b").games == 0


def test_the_file_of_a_league(tmp_path: Path) -> None:
    """Reading returns the lines that were written. Other files are refused."""
    path = tmp_path / "league.jsonl"
    log = (
        LeagueEntrant("a", "1"),
        LeagueEntrant("b", "2"),
        LeagueGame((0, 1), (2, 1), (False, True), (None, 7)),
    )
    other_seed = msgspec.structs.replace(RULES, seed=2)
    with closing(ResultsFile(path)) as file:
        assert read_league(file, RULES, any_seed=True) == (RULES, ())
        for line in log:
            file.write(line)
        assert read_league(file, other_seed, any_seed=True) == (RULES, log)
        for wanted in (other_seed, msgspec.structs.replace(RULES, tables=RULES.tables[:1])):
            with pytest.raises(WrongResults, match="different --players or --seed"):
                read_league(file, wanted, any_seed=False)
        path.write_text("{}\n")
        with pytest.raises(WrongResults, match="is not a league file"):
            read_league(file, RULES, any_seed=True)


def test_the_bots_of_a_folder(tmp_path: Path) -> None:
    """Files and folders with bots are found, except hidden and private ones."""
    folder_of(tmp_path, "b", "_private", ".hidden")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "bot.js").write_text("")
    (tmp_path / "notes.txt").write_text("")
    assert [bot.name for bot in bots_in(tmp_path)] == ["a", "b"]
    (tmp_path / "a.py").write_text("")
    with pytest.raises(UnusableBot, match="called a: rename one"):
        bots_in(tmp_path)
    with pytest.raises(UnusableBot, match="no such folder"):
        bots_in(tmp_path / "none")
    assert find_bot(str(tmp_path / "a")).language is not None
