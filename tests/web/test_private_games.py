"""Games of submissions and challenges in the viewer, and private notes of all games."""

import re
from dataclasses import dataclass
from typing import Final

import pytest
from fastapi.testclient import TestClient

from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from tests.accounts.world import World
from tests.soak import many
from tests.web.html import Page
from tests.web.people import browser, logged_in
from tests.web.played import CHALLENGE, SUBMISSION, play
from tests.web.stable import fill_stable

RATED: Final = "/games/logged-0-0"
PRIVATE: Final = (
    f"/submissions/{SUBMISSION}/games/q-0-0",
    f"/challenges/{CHALLENGE}/games/{CHALLENGE}-0-0",
)


@dataclass(frozen=True)
class People:
    """Browsers of the games' owner, of another account, and of a visitor without a session."""

    owner: TestClient
    other: TestClient
    nobody: TestClient


@pytest.fixture
def people(world: World) -> People:
    """Return browsers on an arena where ann's bot has played every kind of game."""
    world.filled(_played)
    return People(logged_in(world, "ann"), logged_in(world, "ben"), browser(world))


def _played(world: World) -> None:
    play(world, world.add("ann"))
    world.add("ben")


@pytest.mark.parametrize("game", PRIVATE)
def test_a_private_game_has_the_whole_viewer(people: People, game: str) -> None:
    """The viewer has every frame and view, their data, and a replay to verify. All its links work."""
    about = people.owner.get(game)
    assert f"{game}/1/1" in Page(about.text).links
    for path in (f"{game}/1/1", f"{game}/2/5?step=reveal&view=infer:1", f"{game}/3/10?step=end"):
        answer = people.owner.get(path)
        page = Page(answer.text)
        assert answer.headers["cache-control"] == "no-store"
        addresses = sorted({link.split("#", maxsplit=1)[0] for link in page.links if link.startswith("/")})
        for link in addresses[:: many(7, 1)]:
            assert people.owner.get(link, follow_redirects=True).status_code == 200, link
    frames = people.owner.get(f"{game}/frames.json?view=seat:1")
    assert frames.headers["cache-control"] == "no-store"
    assert len(frames.json()["frames"]) == 3 * 30 + 1
    (download,) = [link for link in page.links if link.startswith("/api/v1/") and link.endswith("/replay")]
    assert verify(parse(people.owner.get(download).text)) is None


@pytest.mark.parametrize("game", PRIVATE)
def test_others_do_not_find_a_private_game(people: People, game: str) -> None:
    """The responses don't depend on whether the page exists for its owner."""
    for path in ("", "/1/1", "/9/9", "/1/1?view=everything", "/frames.json", "/frames.json?view=seat:7"):
        assert people.other.get(game + path).status_code == 404, path
    assert people.nobody.get(f"{game}/1/1").headers["location"] == f"/login?next={game}/1/1"
    assert people.nobody.get(f"{game}/frames.json").status_code == 404


@pytest.mark.parametrize("game", PRIVATE)
def test_other_sites_get_nothing_of_a_private_game(people: People, game: str) -> None:
    """There is no picture, embedded page or link preview, even for its owner."""
    text = people.owner.get(f"{game}/1/1").text
    for words in ("og:", "twitter:", "embed", "<kbd>E</kbd>"):
        assert words not in text
    assert "Only the owner and operators can open" in text
    id_ = game.rpartition("/")[2]
    for path in (
        f"{game}/og.png",
        f"{game}/1/1/og.png",
        f"/games/{id_}/og.png",
        f"/games/{id_}/1/1",
        f"/games/{id_}/1/1/og.png",
        f"/games/{id_}/frames.json",
        f"/embed/{id_}/1/1",
        f"/embed{game}/1/1",
    ):
        assert people.owner.get(path).status_code == 404, path


def notes(text: str) -> dict[str, str]:
    """Return the notes on a viewer page by turn. The key of the visible turn is ``now``."""
    found = {}
    for turn, is_hidden, said in re.findall(r'data-turn="(\w+)"( hidden)?>(.*?)</div>', text, re.DOTALL):
        found[turn if is_hidden else "now"] = said
    return found


def test_notes_are_shown_with_their_turn(world: World, subtests: pytest.Subtests) -> None:
    """Owners see the notes of their own bots, and operators see all. Others see none."""
    world.filled(fill_stable)
    world.add("cyd")
    for name, seats in ((None, ""), ("cyd", ""), ("ben", "0"), ("ann", "1"), ("oper", "012")):
        with subtests.test(name or "nobody"):
            visitor = browser(world) if name is None else logged_in(world, name)
            answer = visitor.get(f"{RATED}/2/3?step=reveal&view=seat:2")
            said = notes(answer.text)
            assert set(re.findall(r"seat (\d): keeping", said.pop("now", ""))) == set(seats)
            assert len(said) == (26 if seats else 0)
            assert {seat for text in said.values() for seat in re.findall(r"seat (\d): ", text)} == set(seats)
            assert (f"{RATED}#logs" in Page(answer.text).links) == bool(seats)
            assert answer.headers["cache-control"] == ("no-cache" if name is None else "no-store")
            assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in answer.text
            for path in (f"/embed/{RATED.removeprefix('/games/')}/2/3", f"{RATED}/frames.json"):
                assert "keeping" not in visitor.get(path).text


def test_a_turn_without_notes_says_so(people: People) -> None:
    """Those who may see notes are told that there are none."""
    said = notes(people.owner.get(f"{PRIVATE[1]}/1/1").text)
    assert len(said) == 30
    assert all("No notes for this turn." in text for text in said.values())
