"""Atom feeds."""

from dataclasses import replace
from datetime import datetime, timedelta
from xml.etree import ElementTree as ET

import pytest
from httpx2 import Client

from arena.db.audit import NewAuditEntry
from arena.ladder.settings import LadderChange
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import add_bots, play_matches
from tests.web.people import browser
from tests.web.stable import bench, fill_stable

_ATOM = "{http://www.w3.org/2005/Atom}"


def feed(client: Client, path: str) -> ET.Element:
    """Return a feed, and check that it and its entries have the elements that RFC 4287 requires."""
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    root = ET.fromstring(answer.content)  # noqa: S314 - our own
    assert root.tag == f"{_ATOM}feed"
    entries = root.findall(f"{_ATOM}entry")
    for each in (root, *entries):
        assert all(each.findtext(_ATOM + name) for name in ("id", "title", "updated")), ET.tostring(each)
    assert root.findtext(f"{_ATOM}author/{_ATOM}name")
    ids = [each.findtext(f"{_ATOM}id") for each in entries]
    assert len(set(ids)) == len(ids)
    times = [datetime.fromisoformat(each.findtext(f"{_ATOM}updated") or "") for each in entries]
    assert times == sorted(times, reverse=True)
    for each in entries:
        link = each.find(f"{_ATOM}link")
        assert link is not None
        assert client.get(link.attrib["href"]).status_code == 200
    return root


def titles(root: ET.Element) -> list[str | None]:
    """Return the entries' titles."""
    return [each.findtext(f"{_ATOM}title") for each in root.findall(f"{_ATOM}entry")]


@pytest.mark.parametrize("path", ["/feeds/bots/mine", "/feeds/authors/Ann"])
def test_versions_and_benching_are_in_the_feeds_of_bot_and_author(world: World, path: str) -> None:
    """Entries are newest first, with the public reason as text. The pages link to the feeds."""
    world.filled(fill_stable)
    bench(world.store, "mine", "it <failed>\x07 & failed")
    client = browser(world)
    found = feed(client, path)
    assert sorted(map(str, titles(found))) == [
        "mine: benched",
        "mine: version 1 joined the ladder",
        "mine: version 2 joined the ladder",
        "mine: version 3 joined the ladder",
    ]
    summaries = [each.text or "" for each in found.iter(f"{_ATOM}summary")]
    assert "mine is benched: it <failed>\\x07 & failed." in summaries
    page = path.removeprefix("/feeds").lower()
    assert f'type="application/atom+xml" title="{page.rpartition("/")[2]}" href="' in client.get(page).text


def test_being_overtaken_is_in_the_feed(world: World) -> None:
    """Only the overtaken bot's feed has the entry."""
    bots = add_bots(world.store, [("first", "ann"), ("second", "ben")])
    play_matches(world.store, [bots], Rules(players=2), name="two")
    standings = world.store.ratings.standings()
    world.store.held_ranks.compare(standings, world.now)
    one, two = (each.bot for each in standings)
    swapped = [replace(each, rank=3 - each.rank) for each in reversed(standings)]
    world.store.held_ranks.compare(swapped, world.now)
    assert f"{one}: overtaken by {two}" in titles(feed(browser(world), f"/feeds/bots/{one}"))
    assert f"{one}: overtaken by {two}" not in titles(feed(browser(world), f"/feeds/bots/{two}"))


def test_a_pause_of_the_ladder_is_in_the_feeds_of_authors(world: World) -> None:
    """The entry is about the last pause or its end, not about other changes to the ladder."""
    add_bots(world.store, [("ann-s", "ann")])
    client = browser(world)

    def ladder_news() -> list[str | None]:
        return [title for title in titles(feed(client, "/feeds/authors/ann")) if "Ladder" in str(title)]

    assert ladder_news() == []
    at = world.now + timedelta(minutes=1)
    entry = NewAuditEntry(at=at, who="terminal:root", what="ladder", subject="ladder", detail="")
    world.store.ladder.change(LadderChange(paused=True), entry)
    assert ladder_news() == ["Ladder paused"]
    assert "no new ones are created" in client.get("/feeds/authors/ann").text
    world.store.ladder.change(LadderChange(deals=3), replace(entry, at=at + timedelta(minutes=1)))
    assert f"<updated>{at.isoformat()}</updated>" in client.get("/feeds/authors/ann").text
    world.store.ladder.change(LadderChange(paused=False), replace(entry, at=at + timedelta(minutes=2)))
    assert ladder_news() == ["Ladder resumed"]


def test_a_feed_of_remarkable_games_links_to_them(world: World) -> None:
    """The feed is empty but valid before the first game."""
    client = browser(world)
    assert titles(feed(client, "/feeds/games")) == []
    bots = add_bots(world.store, [("ann-s", "ann"), ("ben-s", "ben")])
    play_matches(world.store, [bots], Rules(players=2), name="two")
    assert any("points" in str(title) for title in titles(feed(client, "/feeds/games")))
    assert 'href="/feeds/games"' in client.get("/games").text


def test_odd_names_of_authors_have_a_feed(world: World) -> None:
    """Operators may add bots by an author with any name."""
    add_bots(world.store, [("odd", "a/<b>?#%")])
    root = feed(browser(world), "/feeds/authors/a%2F%3Cb%3E%3F%23%25")
    assert root.findtext(f"{_ATOM}title") == "Bots by a/<b>?#% · Kaiten"
    link = root.find(f"{_ATOM}link[@rel='self']")
    assert link is not None
    assert link.attrib["href"].endswith("/feeds/authors/a/%3Cb%3E%3F%23%25")
