"""The page of an author."""

import pytest

from tests.accounts.world import World
from tests.builders import add_bots
from tests.web.html import Page
from tests.web.people import browser
from tests.web.stable import bench, fill_stable


def test_an_author_has_all_bots_and_their_versions_on_one_page(world: World) -> None:
    """Whatever the case of the name: each bot with its state and rank, and versions, newest first."""
    world.filled(fill_stable)
    bench(world.store, "mine", "it failed")
    client = browser(world)
    page = Page(client.get("/bots/mine").text)
    assert "/authors/ann" in page.links
    shown = Page(client.get("/authors/Ann").text)
    bots, versions = shown.tables
    assert [row[:2] for row in bots[1:]] == [["mine@3", "benched"]]
    assert [row[0].split()[0] for row in versions[1:]] == ["mine@3", "mine@2", "mine@1"]
    assert "plays" in versions[1][0]


@pytest.mark.parametrize("author", ["a/b", "x y", "<i>", "50%", "Ümlaut"])
def test_an_author_may_have_any_name(world: World, author: str) -> None:
    """An operator may add bots of anybody; the link on the bot's page leads to the author."""
    add_bots(world.store, [("odd", author)])
    client = browser(world)
    (link,) = [link for link in Page(client.get("/bots/odd").text).links if link.startswith("/authors/")]
    answer = client.get(link)
    assert answer.status_code == 200
    assert "/bots/odd" in Page(answer.text).links


@pytest.mark.parametrize("author", ["nobody", "a" * 65, "%00"])
def test_an_author_without_bots_has_no_page(world: World, author: str) -> None:
    """Neither has a name that none can have."""
    assert browser(world).get(f"/authors/{author}").status_code in {404, 422}


def test_many_bots_come_in_pages(world: World) -> None:
    """Fifty at a time, by name."""
    names = [f"bot{number:02}" for number in range(60)]
    add_bots(world.store, [(name, "busy") for name in names])
    client = browser(world)
    first = Page(client.get("/authors/busy").text)
    (more,) = [link for link in first.links if "after=" in link]
    second = Page(client.get(more).text)
    listed = [row[0].partition("@")[0] for shown in (first, second) for row in shown.tables[0][1:]]
    assert listed == names
    assert not [link for link in second.links if "after=" in link]
