"""Tests of commands with which authors see their bots at a site, and choose their active version."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.rules import Rules
from tests.builders import add_bots, play_matches
from tests.cli.author import Author, refused
from tests.cli.forked import CommandResult
from tests.client.live import live
from tests.db.builders import START, present
from tests.db.test_submissions import CAUSE, PLENTY, new
from tests.patience import wait_until
from tests.web.stable import bench, disqualify, fill_stable, play_next


@contextmanager
def at_home(folder: Path) -> Iterator[Author]:
    """Yield ann, who has a bot ``mine`` with three versions and some games, and is logged in."""
    home, data = folder / "home", folder / "data"
    home.mkdir()
    data.mkdir()
    with live(data) as site:
        site.world.filled(fill_stable)
        author = Author(home, site)
        author.log_in("ann")
        yield author


@pytest.fixture
def ann(tmp_path: Path) -> Iterator[Author]:
    """Yield ann for a test that changes something."""
    with at_home(tmp_path) as author:
        yield author


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Author]:
    """Yield ann for tests that change nothing that another test reads."""
    with at_home(tmp_path_factory.mktemp("ann")) as author:
        yield author


def fine(said: CommandResult) -> list[list[str]]:
    """Check that a command succeeded, and return the words of each line that it printed."""
    assert said.code == 0, said.err
    assert "\x1b" not in said.out + said.err
    return [line.split() for line in said.out.splitlines()]


def submit(ann: Author, id_: str, bot: str) -> None:
    """Add a submission by ann."""
    account = ann.live.world.account("ann")
    ann.live.store.submissions.add(new(id_, bot, "ann", account.id), PLENTY)


def test_status_shows_the_author_s_bots_and_submissions_in_progress(ann: Author) -> None:
    """For a benched bot, the command prints the reason and the command that reactivates it."""
    rows = fine(ann.types("status"))
    assert rows == [["bot", "active", "latest", "state"], ["mine", "mine@3", "3", "active"]]
    submit(ann, "a1", "mine")
    submit(ann, "a2", "fresh")
    ann.live.store.submissions.wait("a1", "no room\x1b[2J")
    submit(ann, "a3", "over")
    ann.live.store.submissions.reject("a3", CAUSE, START)
    bench(ann.live.store, "mine", "it was gone 5 times")
    said = ann.types("status")
    rows = fine(said)
    assert rows[1] == ["mine", "-", "3", "benched"]
    assert [row[0] for row in rows[4:]] == ["a2", "a1"]
    assert r"no room\x1b[2J" in said.out
    assert "mine is benched: it was gone 5 times. Submit a new version or run" in said.err
    assert "`arena return mine`" in said.err
    told = json.loads(ann.types("status", "--json").out)
    assert [each["name"] for each in told["bots"]] == ["mine"]
    assert [each["id"] for each in told["submissions"]] == ["a2", "a1"]


def test_status_without_bots_says_how_to_submit_one(reader: Author, tmp_path: Path) -> None:
    """The advice is on stderr. The lists in JSON are empty."""
    author = Author(tmp_path, reader.live)
    author.log_in("eve")
    said = author.types("status")
    assert (said.code, said.out) == (0, "")
    assert "arena submit" in said.err
    assert json.loads(author.types("status", "--json").out) == {"bots": [], "submissions": []}


def test_status_of_a_bot_shows_versions_and_submissions(reader: Author) -> None:
    """The output has results, stages and causes. If all submissions were rejected, it has only these."""
    submit(reader, "a1", "mine")
    reader.live.store.submissions.reject("a1", CAUSE, START)
    submit(reader, "a2", "never")
    reader.live.store.submissions.reject("a2", CAUSE, START)
    said = reader.types("status", "mine")
    rows = fine(said)
    assert rows[0] == ["mine@3", "active"]
    assert rows[2][:3] == ["version", "active", "created"]
    assert [row[:2] for row in rows[3:6]] == [["3", "active"], ["2", rows[4][1]], ["1", rows[5][1]]]
    assert "note of mine@2 <i>" in said.out
    assert "crash: it exited with code 3" in said.out
    told = json.loads(reader.types("status", "mine", "--json").out)
    assert (told["bot"]["version"], len(told["versions"]), len(told["submissions"])) == (3, 3, 1)
    assert "a2" in reader.types("status", "never").out
    assert json.loads(reader.types("status", "never", "--json").out)["bot"] is None
    assert "there is no bot called nobody" in refused(reader.types("status", "nobody"), 2)
    assert "is not a valid bot name" in refused(reader.types("status", "na\xefve"), 2)


def test_versions_are_listed_with_their_results(reader: Author) -> None:
    """Any bot's versions are listed, newest first. The owner also sees the notes."""
    said = reader.types("versions", "mine")
    rows = fine(said)
    assert [row[0] for row in rows] == ["version", "3", "2", "1"]
    assert "note of mine@2 <i>" in said.out
    told = json.loads(reader.types("versions", "mine", "--json").out)["versions"]
    assert [each["number"] for each in told] == [3, 2, 1]
    assert told[2]["results"][0]["games"] == 2
    score = f"{told[0]['results'][0]['score']:.2f}"
    assert rows[1][rows[1].index("0") :][:4] == ["0", score, "-", "-"]
    others = fine(reader.types("versions", "other"))
    assert len(others) == 2
    refused(reader.types("versions", "nobody"), 1)


def test_an_owner_chooses_what_plays(ann: Author) -> None:
    """Commands roll back, retire and reactivate a bot. They print the message of a site that refuses."""
    for words, said in (
        (("rollback", "mine", "1"), "mine@1 is active"),
        (("rollback", "mine", "3"), "mine@3 is active"),
        (("retire", "mine"), "mine is retired"),
        (("return", "mine"), "mine@3 is active"),
    ):
        done = ann.types(*words)
        assert (done.code, done.out, done.err) == (0, "", f"arena: {said}\n")
    known = present(ann.live.store.bots.find("mine"))
    assert (known.version, known.state) == (3, "active")
    for words in (
        ("rollback", "mine", "9"),
        ("retire", "other"),
        ("retire", "nobody"),
        ("return", "../account"),
    ):
        refused(ann.types(*words), 1)
    for words in (("retire", ""), ("return", ".."), ("versions", "."), ("logs", "..")):
        assert "is not a valid name or id" in refused(ann.types(*words), 2)
    disqualify(ann.live.store, "mine", "it cheats")
    assert ann.types("return", "mine").code == 1
    assert "mine is disqualified: it cheats" in ann.types("status").err


def test_logs_show_the_author_s_seats(reader: Author) -> None:
    """Logs have the notes, faults and stderr of the author's seats only, safe for a terminal."""
    said = reader.types("logs", "logged-0-0")
    fine(said)
    first, *_ = lines = said.out.splitlines()
    assert first == "seat 1: mine@2 (exit code 1, killed by the kernel for using too much memory)"
    assert r"    seat 1: secret of mine \x1b[31m" in lines
    assert r"keeping <wasabi>\u202e for squid" in said.out
    assert "round 1, turn 1: " in said.out
    assert "seat 0" not in said.out
    told = json.loads(reader.types("logs", "logged-0-0", "--json").out)
    assert [seat["bot"] for seat in told["seats"]] == ["mine"]
    for game in ("nothing", "../../account", "\x1b[2J"):
        assert "\x1b" not in refused(reader.types("logs", game), 1)


def test_a_game_is_named_in_several_ways(reader: Author) -> None:
    """A game can be given by id, number or page, or as the last game of the author's bots."""
    last = json.loads(reader.types("logs", "--last", "--json").out)["game"]
    (line,) = reader.live.store.games.newest(None, 1, bot="mine")
    assert last == line.game
    page = f"{reader.live.url}/games/{last}/2/3?step=pass"
    for word in (str(line.number), page, last):
        assert json.loads(reader.types("logs", word, "--json").out)["game"] == last
    for word, why in (
        ("999999", "no rated game at"),
        ("https://elsewhere.example/games/1", "is not the URL of a game on"),
        (f"{reader.live.url}/bots/mine", "is not the URL of a game on"),
    ):
        assert why in refused(reader.types("logs", word), 2)
    assert reader.types("logs", last, "--last").code == 2


def test_games_of_the_author_s_bots_are_listed(reader: Author) -> None:
    """Each game is listed once, newest first. An option lists only those that none of the bots won."""
    known = reader.live.store.games.newest(None, 99, bot="mine")
    rows = fine(reader.types("games", "--mine"))
    assert [(row[0], row[-1]) for row in rows[1:]] == [(str(game.number), game.game) for game in known]
    lost = {}
    for owner, bot in (("ann", "mine"), ("ben", "other")):
        login = {"ARENA_SITE": reader.live.url, "ARENA_TOKEN": reader.live.token(owner)}
        told = json.loads(reader.types("games", "--mine", "--lost", "--json", **login).out)["games"]
        lost[bot] = [game["game"] for game in told]
        played = reader.live.store.games.newest(None, 99, bot=bot)
        places = {game.game: [seat.place for seat in game.seats if seat.bot == bot] for game in played}
        assert lost[bot] == [game for game, found in places.items() if min(found) > 1]
    assert lost["mine"] != lost["other"]
    assert "no rated games lost by your bots" in reader.types("games", "--mine", "--lost").err
    assert len(json.loads(reader.types("games", "--mine", "-n", "1", "--json").out)["games"]) == 1
    assert reader.types("games", "--lost").code == 2
    assert "less than or equal to" in reader.types("games", "-n", str(2**63)).err
    every = [row[0] for row in fine(reader.types("games"))]
    assert every[0] == "number"
    assert len(every) >= len(rows)


def test_without_bots_there_are_no_games(reader: Author, tmp_path: Path) -> None:
    """An author without bots gets a one-line message."""
    author = Author(tmp_path, reader.live)
    author.log_in("eve")
    line = refused(author.types("games", "--mine"), 2)
    assert line == "arena: no bots yet: submit one with `arena submit BOT`"


def test_a_replay_is_fetched(reader: Author) -> None:
    """The game is given by id, number or address, and its replay goes to a file or stdout."""
    (game,) = reader.live.store.games.newest(None, 1, bot="mine")
    said = reader.types("replay", "get", game.game)
    assert json.loads(said.out)["game"] == game.game
    for word in (str(game.number), f"{reader.live.url}/games/{game.game}/2/3"):
        assert reader.types("replay", "get", word, "-o", "game.json").code == 0
        assert (reader.home / "game.json").read_text() == said.out
    assert reader.types("replay", "verify", "game.json").out == "1 game verified\n"
    for words, code in (
        (("nothing",), 1),
        ((f"{reader.live.url}/bots/mine",), 2),
        ((game.game, "-o", "."), 2),
    ):
        refused(reader.types("replay", "get", *words), code)


def test_decisions_of_the_author_s_games_are_put_to_a_bot(reader: Author) -> None:
    """Decisions come from a given game or from lost games. An option selects another bot's decisions."""
    (game,) = reader.live.store.games.newest(None, 1, bot="mine")
    own = {number for number, seat in enumerate(game.seats) if seat.bot == "mine"}
    for word in (str(game.number), f"{reader.live.url}/games/{game.game}"):
        told = json.loads(reader.types("rerun", word, "random", "--json").out)
        assert {each["game"] for each in told["differences"]} == {game.game}
        assert {each["seat"] for each in told["differences"]} == own
    ben = {"ARENA_SITE": reader.live.url, "ARENA_TOKEN": reader.live.token("ben")}
    listed = json.loads(reader.types("games", "--mine", "--lost", "--json", **ben).out)["games"]
    lost = [each["game"] for each in listed]
    said = reader.types("rerun", "--lost", "-n", "2", "random", "--json", **ben)
    assert {each["game"] for each in json.loads(said.out)["differences"]} == set(lost[:2])
    never = reader.types("rerun", "--lost", "--of", f"{listed[0]['seats'][0]['bot']}@99", "random", **ben)
    assert "@99 yet" in refused(never, 1)
    others = json.loads(reader.types("rerun", game.game, "random", "--of", "other", "--json").out)
    assert not {each["seat"] for each in others["differences"]} & own
    line = refused(reader.types("rerun", "--lost", "random"), 1)
    assert line == "arena: no rated games lost by your bots yet"
    refused(reader.types("rerun", "nothing", "random"), 1)


def test_a_game_of_the_site_is_analysed(reader: Author) -> None:
    """The game is given by its number. The replay gets the same analysis as JSON, with the game's id."""
    store = reader.live.store
    play_matches(
        store, [add_bots(store, [("short", "ben"), ("quick", "ben")])], Rules(players=2), name="duel"
    )
    (game,) = store.games.newest(None, 1)
    assert game.game.startswith("duel-")
    words = ("--playouts", "8", "--seed", "3", "--json", "-o", "analysed.json")
    said = reader.types("analyse", str(game.number), *words)
    assert "1 game analysed, --playouts 8 --seed 3" in said.err
    (found,) = json.loads(said.out)["games"]
    told = json.loads((reader.home / "analysed.json").read_bytes())
    assert (told["game"], told["analysis"]["game"], told["analysis"]) == (game.game, game.game, found)


def test_a_challenge_is_followed_until_it_is_played(reader: Author) -> None:
    """Afterwards, the command prints each game's result, the number of wins, and the games' addresses."""
    before = asked(reader)
    with reader.typing("challenge", "mine", "greedy", "other", "--version", "2") as typing:
        wait_until(lambda: asked(reader) != before, "a challenge")
        for _ in range(3):
            play_next(reader.live.store)
        said = typing.wait()
    rows = fine(said)
    assert rows[0] == ["bot", "games", "wins", "place", "points"]
    assert [row[:2] for row in rows[1:4]] == [["mine@2", "3"], ["greedy@1", "3"], ["other@1", "3"]]
    page = f"{reader.live.url}/challenges/{asked(reader)[0]}/games/"
    assert [row[0].startswith(page) for row in rows[4:]] == [True] * 3
    assert said.err.count("arena: game ") == 3
    assert "1. " in said.err


def asked(ann: Author) -> list[str]:
    """Return the ids of ann's challenges."""
    account = ann.live.world.account("ann")
    return [each.id for each in ann.live.store.challenges.newest(account.id, None, 10)]


def test_a_challenge_continues_without_its_author(reader: Author) -> None:
    """A challenge continues after Ctrl-C, and if the author chooses not to follow it."""
    with reader.typing("challenge", "mine", "mine@1") as typing:
        shown = typing.readline()  # now the command is following the challenge
        typing.interrupt()
        said = typing.wait()
    assert said.code == 130
    page = f"{reader.live.url}/challenges/{asked(reader)[0]}"
    assert shown == f"arena: progress: {page}\n"
    assert f"The challenge continues; progress: {page}" in said.err
    told = reader.types("challenge", "mine", "greedy", "--no-follow", "--json")
    assert json.loads(told.out)["state"] == "waiting"
    second = reader.types("challenge", "mine", "greedy", "--no-follow")
    assert second.out == f"{asked(reader)[0]}\n"
    for words in (["nobody"], ["greedy@99"], ["mine"], ["greedy", "random", "other", "mine@1", "mine@2"]):
        refused(reader.types("challenge", "mine", *words), 1)
