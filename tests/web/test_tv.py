"""Kaiten TV: what comes next, and that nothing private is shown."""

import re

from fastapi.testclient import TestClient

from arena.db.store import Store
from tests.accounts.world import World
from tests.db.builders import add_bot, claimed, finished
from tests.watched import show
from tests.web.html import SITE_SCRIPTS, Page
from tests.web.people import browser
from web.http.static import STATIC


def next_show(client: TestClient, after: str = "") -> str:
    """Return where Kaiten TV leads."""
    answer = client.get("/tv", params={"after": after} if after else {}, follow_redirects=False)
    assert answer.status_code == 303
    return answer.headers["location"]


def test_it_goes_through_the_games_and_begins_again(client: TestClient, store: Store) -> None:
    """Each game once, the last leads to the first; an unknown one does too."""
    first = shown = next_show(client)
    shows = []
    while shown not in shows:
        shows.append(shown)
        shown = next_show(client, shown.rpartition("/")[2])
    assert shown == first == next_show(client, "unheard-of")
    newest = {f"/tv/games/{game.game}" for game in store.games.newest(limit=20)}
    assert newest <= set(shows)


def test_a_show_is_a_page_that_leads_on(client: TestClient) -> None:
    """From the first frame, with the script that goes on, and a link for those without."""
    text = client.get("/tv/games/faulty-0-0").text
    page = Page(text)
    assert "Round 1, turn 1" in text
    assert "/tv?after=faulty-0-0" in page.links
    scripts = {attributes["src"] for tag, attributes in page.tags if tag == "script"}
    assert scripts == {f"{STATIC}/theme.js", f"{STATIC}/tv.js"} != SITE_SCRIPTS
    assert re.search(r'data-frames="/games/faulty-0-0/frames\.json"', text)


def test_what_there_is_not_is_not_shown(client: TestClient) -> None:
    """Neither a game nor a match."""
    assert client.get("/tv/games/nothing-there").status_code == 404
    assert client.get("/tv/live/nothing-there/1").status_code == 404
    assert client.get("/tv", params={"after": "a b"}).status_code == 422


def test_running_matches_come_first(world: World) -> None:
    """Once a round is over, from the one that was over last; then the games of the match itself."""
    claim = claimed(world.store, [add_bot(world.store, name) for name in ("eel", "tuna", "squid")])
    visitor = browser(world)
    assert "No games yet" in visitor.get("/tv").text
    show(world.store, claim, 2)
    assert visitor.get("/tv").headers["location"] == "/tv/live/s-0/1"
    text = visitor.get("/tv/live/s-0/1").text
    assert "Round 2, turn 1" in text
    assert "<b>Round 3 is being played.</b>" in text
    assert "/tv?after=s-0" in text
    assert "No games yet" in visitor.get("/tv?after=s-0").text
    assert world.store.results.record(finished(claim, [(1, 2, 3)] * 2))
    assert visitor.get("/tv/live/s-0/1").headers["location"] == "/tv?after=s-0"
    assert visitor.get("/tv?after=s-0").headers["location"].startswith("/tv/games/s-0-")


def test_an_arena_without_games_says_so(world: World) -> None:
    """With a way to look again."""
    answer = browser(world).get("/tv")
    assert answer.status_code == 200
    assert "No games yet" in answer.text
