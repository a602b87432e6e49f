"""Tests of people's games from the database to the replay, with real bots as plain processes."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from arena.db.errors import DatabaseUnavailable, QuotaReached
from arena.db.person_games import MAX_WAITING, ChosenMove, NewPersonGame, PersonGame
from arena.db.store import Store
from arena.play.botfiles import samples
from arena.play.launcher.launcher import Launcher
from arena.play.launcher.slots import FULL_TABLE, SlotPool
from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from arena.protocol.faults import FAULTS_TO_TAKE_OVER
from arena.protocol.match import Clock, Limits, RuntimeName
from arena.protocol.sandbox_controls import Gate
from arena.protocol.states import PersonGameState
from arena.rules import Move, Rules
from arena.sandbox.process.runtime import ProcessRuntime
from arena.scheduler.person_games import SILENCE_SECONDS, PersonTables, person_tables
from tests.db.builders import START, add_bot
from tests.folders import files_in
from tests.patience import wait_until
from tests.scheduler.test_coordinator import entropy

STUBBORN: Final = "import time\nfrom arena.sdk import run\ndef choose(view): time.sleep(600)\nrun(choose)\n"


PATIENT: Final = Clock(start_millis=60_000, move_millis=60_000)


@pytest.fixture(autouse=True)
def _no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't end games without a watcher: on a busy host, bots may take longer to start."""
    monkeypatch.setattr("arena.scheduler.person_games.SILENCE_SECONDS", 3_600)


@pytest.fixture
def store(store: Store) -> Store:
    """Return a store with two house bots."""
    for name in ("greedy", "random"):
        add_bot(store, name, source=str(samples() / name), author="house")
    return store


def asked_for(store: Store, id_: str, rules: Rules, *bots: str, seat: int = 0, visitor: str = "v") -> str:
    """Add a request for a game, and return the game's id."""
    versions = [store.bots.version_id(bot, 1) for bot in bots]
    store.person_games.add(
        NewPersonGame(
            id=id_,
            visitor=visitor,
            account=None,
            rules=rules,
            opponents=tuple(version for version in versions if version is not None),
            seat=seat,
            created=datetime.now(UTC),
        )
    )
    return id_


@contextmanager
def host(
    store: Store,
    run_dir: Path,
    *,
    tables: int = 1,
    clock: Clock | None = None,
    launcher: Launcher | None = None,
) -> Iterator[PersonTables]:
    """Yield running tables for people's games."""
    settings = store.ladder.settings()
    made = PersonTables(
        store.person_games,
        launcher or Launcher(ProcessRuntime(), "test", run_dir),
        replace(entropy(), now=lambda: datetime.now(UTC)),
        Gate(),
        slots=SlotPool(tables * FULL_TABLE, 0.4, first=5),
        settings=lambda: replace(settings, clock=clock or settings.clock),
        limits=Limits(),
        runtime=RuntimeName.PROCESS,
    )
    with person_tables(made):
        yield made


def known(store: Store, id_: str) -> PersonGame:
    """Return a game, which must exist."""
    game = store.person_games.find(id_)
    assert game is not None
    return game


def until(store: Store, id_: str, ready: Callable[[PersonGame], bool]) -> PersonGame:
    """Wait until a game meets a condition."""
    return wait_until(lambda: game if ready(game := known(store, id_)) else None, f"game {id_}")


def is_asked(game: PersonGame) -> bool:
    """Return whether the game is waiting for the person's decision."""
    return game.asked is not None and not game.chosen


def play(store: Store, id_: str, choose: Callable[[PersonGame], Move]) -> PersonGame:
    """Play a game to its end."""
    while True:
        game = until(store, id_, lambda game: is_asked(game) or game.ended is not None)
        if game.asked is None:
            return game
        choice = ChosenMove(round=game.asked.round, turn=game.asked.turn, move=choose(game))
        assert store.person_games.choose(id_, choice, datetime.now(UTC))


def first(game: PersonGame) -> Move:
    """Return the first legal move."""
    assert game.asked is not None
    return game.asked.legal_moves()[0]


def last(game: PersonGame) -> Move:
    """Return the last legal move, which places two cards if there are chopsticks on the table."""
    assert game.asked is not None
    return game.asked.legal_moves()[-1]


@pytest.mark.parametrize(
    "case",
    [
        (Rules(players=2, dummy=True, soy_sauce=True), ["greedy"], 0, last),
        (Rules(players=5, pass_both_ways=True), ["greedy", "random", "greedy", "random"], 2, first),
    ],
    ids=["dummy", "five"],
)
def test_a_game_is_played_to_its_replay(
    store: Store, run_dir: Path, case: tuple[Rules, list[str], int, Callable[[PersonGame], Move]]
) -> None:
    """The replay contains the moves that the person chose, and complies with the rules."""
    rules, bots, seat, choose = case
    id_ = asked_for(store, "g", rules, *bots, seat=seat)
    chosen = {}

    def noted(game: PersonGame) -> Move:
        assert game.asked is not None
        move = chosen[game.asked.round, game.asked.turn] = choose(game)
        return move

    with host(store, run_dir, clock=PATIENT):
        game = play(store, id_, noted)
    assert game.state is PersonGameState.OVER
    replay = parse(game.replay)
    verify(replay)
    assert replay.rules.as_rules == rules
    names = [*bots]
    names.insert(seat, "you")
    assert [each.bot for each in replay.seats] == names
    played = {(turn.round, turn.turn): turn.plays[seat] for turn in replay.turns}
    assert len(chosen) >= 3 * (rules.turns - 1)
    assert {at: played[at] for at in chosen} == {
        at: tuple(card.label for card in move.cards) for at, move in chosen.items()
    }
    assert not any(fault for turn in replay.turns for fault in turn.fault)
    assert store.person_games.newest("v", None, 5) == (game,)
    assert store.person_games.newest("w", None, 5) == ()


def test_a_person_has_no_clock_and_bots_keep_theirs(store: Store, run_dir: Path, tmp_path: Path) -> None:
    """A bot that never answers is taken over by the stand-in, and the game goes on."""
    folder = tmp_path / "stubborn"
    folder.mkdir()
    (folder / "bot.py").write_text(STUBBORN)
    add_bot(store, "stubborn", source=str(folder), author="house")
    id_ = asked_for(store, "g", Rules(players=2), "stubborn")
    quick = replace(PATIENT, move_millis=50, bank_millis=0)

    def slowly(game: PersonGame) -> Move:
        time.sleep(0.1)  # twice the time that a bot may take
        return first(game)

    with host(store, run_dir, clock=quick):
        game = play(store, id_, slowly)
    assert game.state is PersonGameState.OVER
    faults = [turn.fault for turn in parse(game.replay).turns if any(turn.fault)]
    assert faults == [(None, "timeout")] * FAULTS_TO_TAKE_OVER


def test_a_host_without_room_refuses_games(store: Store, run_dir: Path) -> None:
    """The game fails, so that the person doesn't wait for a table."""
    game = asked_for(store, "a", Rules(players=2), "greedy")
    with host(store, run_dir, tables=0):
        found = until(store, game, lambda game: game.ended is not None)
    assert (found.state, found.trouble) == (
        PersonGameState.FAILED,
        "the arena's host has too little memory for people's games",
    )


def test_only_the_open_decision_can_be_made_and_only_once(store: Store, run_dir: Path) -> None:
    """Early, late and repeated choices are refused."""
    id_ = asked_for(store, "g", Rules(players=2), "greedy")
    games = store.person_games
    now = datetime.now(UTC)
    assert not games.choose(id_, ChosenMove(round=1, turn=1, move=Move(())), now)
    with host(store, run_dir):
        game = until(store, id_, is_asked)
        move = first(game)
        assert not games.choose(id_, ChosenMove(round=1, turn=2, move=move), now)
        assert not games.choose("other", ChosenMove(round=1, turn=1, move=move), now)
        made: list[bool] = []
        choice = ChosenMove(round=1, turn=1, move=move)
        threads = [
            threading.Thread(target=lambda: made.append(games.choose(id_, choice, now))) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(made) == [False, False, False, True]
        until(store, id_, lambda game: is_asked(game) and game.asked is not None and game.asked.turn == 2)
        games.leave(id_, now)
    assert not games.choose(id_, ChosenMove(round=1, turn=2, move=move), now)


def test_people_wait_for_their_turn_and_leaving_makes_room(store: Store, run_dir: Path) -> None:
    """With one table, the next game begins when the person leaves, or hasn't been seen for some time."""
    games = store.person_games
    ids = [
        asked_for(store, f"g{number}", Rules(players=2), "random", visitor=f"v{number}")
        for number in range(4)
    ]
    assert [known(store, id_).before for id_ in ids] == [0, 1, 2, 3]
    with host(store, run_dir):
        until(store, ids[0], is_asked)
        assert until(store, ids[2], lambda game: game.before == 1).state is PersonGameState.WAITING
        games.leave(ids[0], datetime.now(UTC))
        until(store, ids[1], is_asked)
        now = datetime.now(UTC)
        games.mark_present(ids[3], now + timedelta(seconds=2))
        games.end_abandoned(now + timedelta(seconds=1), now)
        until(store, ids[3], is_asked)
    assert known(store, ids[2]).state is PersonGameState.LEFT
    assert not list(run_dir.glob("*/*"))


def test_a_visitor_has_one_game_and_the_queue_has_an_end(store: Store) -> None:
    """A new game ends the visitor's previous one. A full queue accepts no more games."""
    one, two = (asked_for(store, id_, Rules(players=2), "random") for id_ in ("one", "two"))
    assert known(store, one).state is PersonGameState.LEFT
    assert store.person_games.open_of("v") == two
    for number in range(MAX_WAITING - 1):
        asked_for(store, f"g{number}", Rules(players=2), "random", visitor=f"v{number}")
    with pytest.raises(QuotaReached, match=f"{MAX_WAITING} people are waiting"):
        asked_for(store, "more", Rules(players=2), "random", visitor="w")


def test_a_game_that_can_not_be_played_says_why(store: Store, run_dir: Path) -> None:
    """A game fails if an untrusted bot may not play, an image is missing, or the arena restarts."""
    add_bot(store, "strange", source="sha256:1")
    add_bot(store, "gone", source="/nowhere", author="house")
    asked_for(store, "old", Rules(players=2), "random", visitor="v0")
    assert store.person_games.begin() is not None
    for number, bot in enumerate(("strange", "gone"), start=1):
        asked_for(store, bot, Rules(players=2), bot, visitor=f"v{number}")
    (gone,) = (each.id for each in store.bots.house_versions() if each.bot == "gone")
    store.bots.record_house_versions(gone=[gone], back=[], at=START)
    with host(store, run_dir):
        found = [
            until(store, id_, lambda game: game.trouble is not None) for id_ in ("old", "strange", "gone")
        ]
    assert {game.state for game in found} == {PersonGameState.FAILED}
    assert [game.trouble for game in found] == [
        "the arena was restarted",
        "strange can't play: this arena currently runs only house bots",
        "gone@1 can't play: its image was removed",
    ]


def test_a_game_that_takes_too_long_says_so(
    store: Store, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The arena didn't fail: the person took more than the hour that a game may take."""
    monkeypatch.setattr("arena.play.launcher.launcher.longest_seconds", lambda _: 1.0)
    id_ = asked_for(store, "g", Rules(players=2), "greedy")
    with host(store, run_dir):
        game = until(store, id_, lambda game: game.ended is not None)
    assert (game.state, game.trouble) == (PersonGameState.FAILED, "it took longer than an hour")


@pytest.mark.parametrize("method", ["ask", "finish"])
def test_a_game_that_can_not_be_stored_fails(
    store: Store, run_dir: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """The game ends once the database is available again, even though the person is still present."""
    id_ = asked_for(store, "g", Rules(players=2), "greedy")
    available, tried = threading.Event(), threading.Event()

    def unavailable(*_: object) -> None:
        tried.set()
        raise DatabaseUnavailable("the database can't be reached")

    fail = store.person_games.fail
    monkeypatch.setattr(store.person_games, method, unavailable)
    monkeypatch.setattr(
        store.person_games, "fail", lambda *given: fail(*given) if available.is_set() else unavailable()
    )
    with host(store, run_dir), ThreadPoolExecutor(1) as player:
        if method == "finish":
            player.submit(play, store, id_, first)
        wait_until(lambda: tried.is_set() and not files_in(run_dir), "the end of the match")
        available.set()
        game = until(store, id_, lambda game: game.ended is not None)
    assert (game.state, game.trouble) == (PersonGameState.FAILED, "the arena failed")


def test_a_lost_response_of_the_database_leaves_no_game_in_progress(
    store: Store, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game that was marked as playing, unknown to the coordinator, fails, and the next one is played."""
    begin = store.person_games.begin
    lost: list[str] = []

    def begin_without_response() -> PersonGame | None:
        game = begin()
        if game is not None and not lost:
            lost.append(game.id)
            raise DatabaseUnavailable("the connection was closed")
        return game

    monkeypatch.setattr(store.person_games, "begin", begin_without_response)
    asked_for(store, "lost", Rules(players=2), "greedy")
    asked_for(store, "next", Rules(players=2), "greedy", visitor="other")
    with host(store, run_dir):
        assert until(store, "lost", lambda game: game.ended is not None).trouble == "the arena failed"
        assert play(store, "next", first).state is PersonGameState.OVER


def test_a_stop_says_so_even_if_it_aborts_the_match_first(store: Store, run_dir: Path) -> None:
    """The game gives the stop as the reason, even though the launcher stops before the tables close."""
    id_ = asked_for(store, "g", Rules(players=2), "greedy")
    launcher = Launcher(ProcessRuntime(), "test", run_dir)
    with host(store, run_dir, launcher=launcher):
        until(store, id_, is_asked)
        launcher.stop()
        game = until(store, id_, lambda game: game.ended is not None)
    assert game.trouble == "the arena was stopped"


def test_a_stop_ends_games_in_progress(store: Store, run_dir: Path) -> None:
    """An arena that stops doesn't wait for people."""
    id_ = asked_for(store, "g", Rules(players=2), "greedy")
    with host(store, run_dir):
        until(store, id_, is_asked)
    assert known(store, id_).trouble == "the arena was stopped"
    assert store.person_games.remove(datetime.now(UTC) + timedelta(seconds=SILENCE_SECONDS)) == 1
    assert store.person_games.find(id_) is None
