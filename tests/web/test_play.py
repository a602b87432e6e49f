"""Playing against bots through the site: allowed requests, and refused ones."""

import re
import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import timedelta
from pathlib import PurePath
from typing import Final

import pytest
from fastapi.testclient import TestClient

from arena.db.person_games import MAX_WAITING, PersonGame
from arena.play.replay.document import parse
from arena.protocol.states import PersonGameState
from arena.rules import Card, Move, Rules, View
from tests.accounts.world import World
from tests.db.builders import add_bot, bot_of, present
from tests.patience import WAIT_SECONDS
from tests.person_games import analyse_person_game, play_on, with_chopsticks
from tests.web.app import components_over
from tests.web.people import HTTP, browser, logged_in, repeated
from web.app import create_app

CARD: Final = re.compile(r'name="card" value="([a-z_0-9]+)"')


@pytest.fixture
def world(world: World) -> World:
    """Return a world with two house bots."""
    for name in ("greedy", "random"):
        add_bot(world.store, name, author="house")
    return world


def sit_down(visitor: TestClient, **more: str) -> str:
    """Request a table, and return the game's path."""
    answer = visitor.post("/play", data={"opponent": ["greedy", ""], **more}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def id_of(path: str) -> str:
    """Return the ID in a game's path."""
    return PurePath(path).name


def game_at(world: World, path: str) -> PersonGame:
    """Return the game with this path."""
    return present(world.store.person_games.find(id_of(path)))


def asked(world: World, path: str) -> View:
    """Return the view in which the person at this path's table has to decide."""
    return present(game_at(world, path).asked)


def test_a_game_from_the_lobby_to_its_end(world: World) -> None:
    """The page shows the queue, the requested decision and the end. The lobby links to the running game."""
    visitor = browser(world)
    assert visitor.get("/play").text.count('<option value="greedy">') == 4
    path = sit_down(visitor, **dict.fromkeys(("soy_sauce", "dummy", "pass_both_ways"), "true"))
    assert game_at(world, path).rules == Rules(players=2, soy_sauce=True, dummy=True, pass_both_ways=True)
    assert "You are next" in visitor.get(path).text
    play_on(world.store, id_of(path), world.now, stop=lambda _: True)
    answer = visitor.get(path)
    assert answer.headers["Cache-Control"] == "no-store"
    assert "You against greedy and the dummy</h1>" in answer.text
    assert "Your turn" in answer.text
    assert f'<a href="{path}">Continue</a>' in visitor.get("/play").text
    move = asked(world, path).legal_moves()[0]
    form = {"step": "1.1", "card": move.cards[0].label, "dummy": move.dummy.label if move.dummy else ""}
    answer = visitor.post(f"{path}/move", data=form)
    assert answer.headers["location"] == f"{path}?after=1.1"
    assert game_at(world, path).chosen
    assert visitor.post(f"{path}/leave").headers["location"] == "/play"
    assert game_at(world, path).state is PersonGameState.LEFT
    assert "You left this table" in visitor.get(path).text


def test_a_game_that_is_over_shows_result_replay_and_analysis(world: World) -> None:
    """Only the visitor who played the game sees its result, replay and analysis."""
    visitor = browser(world)
    path = sit_down(visitor)
    play_on(world.store, id_of(path), world.now)
    text = visitor.get(path).text
    assert "Watch the replay" in text
    assert "Analysing this game" in text
    analyse_person_game(world.store, id_of(path))
    text = visitor.get(path).text
    assert "Costliest decisions" in text
    assert text.index(">Points</th>") < text.index(
        ">Round 1</th>"
    )  # on a phone, later columns are out of sight
    frame = present(re.search(rf'href="({path}/games/person-1/1/1)"', text))
    viewer = visitor.get(frame[1]).text
    assert "You against greedy" in viewer
    assert "you@" not in viewer
    assert '<a href="/play" aria-current="true">' in viewer
    assert "Only you can open links to this game." in viewer
    assert parse(visitor.get(f"{path}/replay.json").content).seats[game_at(world, path).seat].bot == "you"
    assert visitor.get(f"{path}/games/person-2/1/1").status_code == 404
    text = visitor.get("/play").text
    assert re.search(rf'<a href="{path}"><time datetime="[^"]+">{world.now:%Y-%m-%d} \d\d:\d\d</time>', text)
    assert "The latest 10 are listed." in text
    other = browser(world)
    assert f'<a href="{path}">' not in other.get("/play").text
    for address in (path, frame[1], f"{path}/replay.json", f"{path}/games/person-1/frames.json"):
        assert other.get(address).status_code == 404


def test_invalid_moves_are_refused_and_change_nothing(world: World) -> None:
    """Moves are refused if they are early, late, repeated, illegal, malformed, or sent by someone else.

    Pages show the reason, and lead back to the table.
    """
    visitor = browser(world)
    path = sit_down(visitor)
    first = {"step": "1.1", "card": "tempura"}
    assert "You can't make this decision now" in visitor.post(f"{path}/move", data=first).text.replace(
        "&#39;", "'"
    )
    play_on(world.store, id_of(path), world.now, stop=lambda _: True)
    hand = asked(world, path).hand
    held = hand[0].label
    missing = next(card.label for card in Card if card not in hand)
    refused = {
        "not held": ({"step": "1.1", "card": missing}, 422, "is not in the hand"),
        "no card": ({"step": "1.1"}, 422, "0 cards given"),
        "no such card": ({"step": "1.1", "card": "sushi"}, 422, "is not a kind of card"),
        "two cards": ({"step": "1.1", "card": held, "second": held}, 422, "without chopsticks"),
        "for no dummy": ({"step": "1.1", "card": held, "dummy": held}, 422, "does not control"),
        "later": ({"step": "1.2", "card": held}, 409, "already made it"),
        "no step": ({"step": "9.9", "card": held}, 422, ""),
        "long": ({"step": "1.1", "card": "x" * 100}, 422, ""),
    }
    for name, (form, status, words) in refused.items():
        answer = visitor.post(f"{path}/move", data=form)
        assert (answer.status_code, words in answer.text) == (status, True), name
        if words:
            assert f'<p><a href="{path}">' in answer.text, name
    for stranger in (browser(world), logged_in(world, world.add("eve").name)):
        assert stranger.post(f"{path}/move", data={"step": "1.1", "card": held}).status_code == 404
        assert stranger.post(f"{path}/leave").status_code == 404
    elsewhere = visitor.post(
        f"{path}/move",
        data={"step": "1.1", "card": held},
        headers={"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    )
    assert elsewhere.status_code == 403
    assert not game_at(world, path).chosen
    assert visitor.post(f"{path}/move", data={"step": "1.1", "card": held}).status_code == 303
    assert visitor.post(f"{path}/move", data={"step": "1.1", "card": held}).status_code == 409


def test_chopsticks_allow_a_second_card(world: World) -> None:
    """The form offers a second card, and both cards are stored in order."""
    visitor = browser(world)
    path = sit_down(visitor)
    play_on(world.store, id_of(path), world.now, stop=with_chopsticks)
    seen = asked(world, path)
    one, two = seen.hand[:2]
    assert "A second card" in visitor.get(path).text
    step = f"{seen.round}.{seen.turn}"
    form = {"step": step, "card": two.label, "second": one.label}
    assert visitor.post(f"{path}/move", data=form).status_code == 303
    assert present(world.store.person_games.playing()[id_of(path)]).move == Move((two, one))


def test_an_invalid_table_is_refused(world: World, subtests: pytest.Subtests) -> None:
    """The page says what to do, and no game is queued."""
    add_bot(world.store, "others", author="ann")
    refused: tuple[tuple[dict[str, list[str]], str], ...] = (
        ({}, "Choose 1 to 4 bots"),
        ({"opponent": ["greedy"] * 5}, "Choose 1 to 4 bots"),
        ({"opponent": ["nobody"]}, "You can't play against nobody"),
        ({"opponent": ["others"]}, "You can't play against others"),
        ({"opponent": ["no\0body"]}, "You can't play against no\\x00body"),
        ({"opponent": ["greedy", "random"], "dummy": ["true"]}, "the dummy variant is for exactly 2"),
    )
    for form, words in refused:
        with subtests.test(form=form):
            answer = browser(world).post("/play", data=form)
            assert answer.status_code == 422
            assert answer.text.count(" checked") == ("dummy" in form)
            known = [name for name in form.get("opponent", ()) if name in {"greedy", "random"}]
            assert answer.text.count(" selected") == min(len(known), 4)
            assert words in answer.text.replace("&#39;", "'")
            assert not world.store.person_games.open_games()


def test_a_bot_may_have_the_persons_name(world: World) -> None:
    """Operators may give a house bot any name, including the one that pages use for the person."""
    add_bot(world.store, "You", author="house")
    visitor = browser(world)
    path = sit_down(visitor, opponent="You")
    assert "You against You</h1>" in visitor.get(path).text


def test_own_bots_can_be_opponents(world: World) -> None:
    """Only the owner can choose such a bot, unless the owner opens it to people.

    An account finds its games in any browser. Deleting the account deletes them.
    """
    ann = world.add("ann")
    bot_of(world.store, "mine", ann)
    path = sit_down(logged_in(world, "ann"), opponent="mine")
    play_on(world.store, id_of(path), world.now)
    assert "mine" in logged_in(world, "ann").get(path).text
    assert browser(world).post("/play", data={"opponent": "mine"}).status_code == 422
    assert "mine" not in browser(world).get("/play").text
    owner = logged_in(world, "ann")
    assert owner.post("/bots/mine/people", data={"open": "true"}).headers["location"] == "/bots/mine#main"
    text = owner.get("/bots/mine").text
    assert "Anyone can now play against mine" in text
    assert "Stop people playing against it" in text
    assert '<option value="mine">mine</option>' in browser(world).get("/play").text
    assert browser(world).post("/play", data={"opponent": "mine"}).status_code == 303
    world.store.bot_states.retire("mine", world.now)
    assert browser(world).post("/play", data={"opponent": "mine"}).status_code == 422
    assert f'<a href="{path}">' in logged_in(world, "ann").get("/play").text
    world.store.accounts.delete(ann.id, "former", world.now)
    assert world.store.person_games.find(id_of(path)) is None


def test_tables_are_limited(world: World) -> None:
    """The number of waiting games, and of new games per address and hour, is limited."""
    one = browser(world)
    visitors = [one, *(browser(world, host=f"192.0.2.{number}") for number in range(MAX_WAITING))]
    *_, last = [sit_down(visitor) for visitor in visitors[:-1]]
    answer = visitors[-1].post("/play", data={"opponent": "greedy"})
    assert answer.status_code == 503
    assert f"{MAX_WAITING} people are waiting" in answer.text
    assert f"{MAX_WAITING - 1} people are ahead of you" in visitors[-2].get(last).text

    def start() -> int:
        return one.post("/play", data={"opponent": "greedy"}).status_code

    assert repeated(world.file, 199, start) == 303
    assert start() == 429


def test_games_per_address_are_limited(world: World) -> None:
    """The limit is the number of tables plus one, or one while people at other addresses wait for a table.

    Starting another game ends the visitor's own, which makes room.
    """
    one = browser(world)
    visitors = [browser(world) for _ in range(3)]
    first, *_ = [sit_down(visitor) for visitor in visitors]
    answer = one.post("/play", data={"opponent": "greedy"})
    assert answer.status_code == 503
    assert "3 other people at your IP address are already playing or waiting" in answer.text
    elsewhere = browser(world, host="192.0.2.1")
    waiting = sit_down(elsewhere)
    again = sit_down(visitors[0])
    assert again != first
    for _ in range(2):  # the other two games at the address
        world.store.person_games.begin()
    assert one.post("/play", data={"opponent": "greedy"}).status_code == 503
    visitors[0].post(f"{again}/leave")
    answer = one.post("/play", data={"opponent": "greedy"})
    assert (answer.status_code, "People at other IP addresses are waiting" in answer.text) == (503, True)
    elsewhere.post(f"{waiting}/leave")
    sit_down(one)


def test_an_arena_without_tables_says_so(world: World) -> None:
    """The page says that people can't play, and requests for a table are refused."""
    app = create_app(replace(components_over(world), tables_for_people=0))
    visitor = TestClient(app, base_url=HTTP, headers={"Origin": HTTP, "Sec-Fetch-Site": "same-origin"})
    assert "People can't play against the bots" in visitor.get("/play").text
    assert visitor.post("/play", data={"opponent": "greedy"}).status_code == 409


def test_a_page_waits_for_the_bots(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The response arrives as soon as the bots have decided."""
    monkeypatch.setattr("web.play.pages._WAIT_SECONDS", WAIT_SECONDS)
    visitor = browser(world)
    path = sit_down(visitor)
    play_on(world.store, id_of(path), world.now, stop=lambda _: True)
    seen = asked(world, path)
    visitor.post(f"{path}/move", data={"step": "1.1", "card": seen.hand[0].label})
    timer = threading.Timer(0.3, lambda: world.store.person_games.ask(id_of(path), seen._replace(turn=2)))
    timer.start()
    text = visitor.get(f"{path}?after=1.1").text
    timer.join()
    assert "Round 1, turn 2 of" in text
    assert "Your turn" in text


def test_only_one_request_waits_for_the_bots(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second request gets the current page. Otherwise, one person could delay others at the address."""
    monkeypatch.setattr("web.play.pages._WAIT_SECONDS", WAIT_SECONDS)
    visitor = browser(world)
    path = sit_down(visitor)
    play_on(world.store, id_of(path), world.now, stop=lambda _: True)
    seen = asked(world, path)
    visitor.post(f"{path}/move", data={"step": "1.1", "card": seen.hand[0].label})
    with ThreadPoolExecutor() as threads:
        two = [threads.submit(visitor.get, f"{path}?after=1.1") for _ in range(2)]
        done, others = wait(two, return_when=FIRST_COMPLETED)
        world.store.person_games.ask(id_of(path), seen._replace(turn=2))
        assert "turn 1 of" in done.pop().result().text
        assert "turn 2 of" in others.pop().result().text


def test_looking_at_the_page_keeps_the_game(world: World) -> None:
    """A visit to the page postpones the time at which the game counts as abandoned."""
    visitor = browser(world)
    path = sit_down(visitor)
    world.later(seconds=30)
    visitor.get(path)
    world.store.person_games.end_abandoned(world.now - timedelta(seconds=10), world.now)
    assert game_at(world, path).state is PersonGameState.WAITING
    assert CARD.findall(visitor.get(path).text) == []
