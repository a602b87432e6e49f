"""The pages with a user's own bots and with an author's. Also the notice about benched bots."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from arena.db.credentials import KnownAccount
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import add_bots, play_matches
from tests.db.builders import START, present
from tests.db.test_cost import statements
from tests.web.html import Page, read
from tests.web.people import browser, logged_in
from tests.web.stable import bench, disqualify, fill_stable
from tests.web.submitted import CRASH, play, send
from web.http.authentication import SECURE_NAME
from web.http.rendering import fixed

WHY = "5 of its last 10 games <failed>"


def active(world: World, owner: KnownAccount, id_: str, bot: str) -> None:
    """Add an active bot of a user."""
    send(world.store, owner, id_, bot)
    play(world.store, id_)
    assert world.store.submissions.activate(id_, START) == 1


def test_a_user_without_bots_sees_how_to_begin(world: World, ann: KnownAccount) -> None:
    """The page links to the editor and the upload. Visitors without a session are redirected to log in."""
    text = read(logged_in(world, ann.name), "/mine")
    assert "No bots yet" in text
    assert {"/start", "/submit"} <= set(Page(text).links)
    assert "/submissions" not in Page(text).links
    assert browser(world).get("/bots").headers["location"] == "/mine"
    assert browser(world).get("/mine").headers["location"] == "/login?next=/mine"


def test_a_bot_without_games_has_no_figures(world: World, ann: KnownAccount) -> None:
    """The page says that there are no rated games yet, but still shows the last submission."""
    active(world, ann, "a1", "fresh")
    text = read(logged_in(world, ann.name), "/mine")
    assert "No rated games yet." in text
    assert re.findall(r"<dt>(.*?)</dt>", text) == ["Last submission"]
    assert "/submissions" in Page(text).links


def test_each_own_bot_is_listed_with_its_state(world: World, ann: KnownAccount) -> None:
    """Bots are in order of their names, with rank, last submission and state. Others' bots aren't listed."""
    store = world.store
    for id_, bot in (("a1", "plays"), ("a2", "resting"), ("a3", "sits")):
        active(world, ann, id_, bot)
    active(world, world.add("ben"), "b1", "bens")
    version = present(store.bots.version_id("plays", 1))
    play_matches(store, [(version, *add_bots(store, [("fresh", "house")]))], Rules(players=2), name="rated")
    store.bot_states.retire("resting", START)
    bench(world.store, "sits", WHY)
    send(store, ann, "a4", "plays")
    store.submissions.reject("a4", CRASH, START)
    send(store, ann, "a5", "coming")
    text = read(logged_in(world, ann.name), "/mine")
    articles = re.findall(r"<article.*?</article>", text)
    assert [re.findall(r'href="/bots/(\w+)"', each) for each in articles] == [
        ["plays"],
        ["resting"],
        ["sits"],
    ]
    plays, resting, sits = articles
    rank = next(line.rank for line in store.ratings.standings() if line.bot == "plays")
    assert f"<dt>Rank</dt><dd>{rank}</dd>" in plays
    assert '<a href="/submissions/a4">rejected</a>' in plays
    assert ("Reactivate" in plays, "Reactivate" in resting, "Reactivate" in sits) == (False, True, True)
    assert "5 of its last 10 games &lt;failed&gt;" in sits
    assert ("Rank" in resting, "Last submission" in resting) == (False, True)
    assert [row[0] for row in Page(text).tables[0][1:]] == ["coming, received 2026-03-01 09:35:00"]
    assert "bens" not in text


def test_a_benched_bot_plays_again_with_one_click(world: World, ann: KnownAccount) -> None:
    """A button reactivates the bot. The notice in the header disappears too."""
    active(world, ann, "a1", "sits")
    bench(world.store, "sits", WHY)
    visitor = logged_in(world, ann.name)
    assert ">1 benched<" in read(visitor, "/status")
    (action,) = re.findall(r'action="(/bots/[^"]+)"', read(visitor, "/mine"))
    assert visitor.post(action, data={"state": "active"}).status_code == 303
    assert "benched" not in read(visitor, "/mine")
    assert "benched" not in read(visitor, "/status")


def test_an_owner_can_not_change_a_disqualified_bot(world: World, ann: KnownAccount) -> None:
    """The page has no button to reactivate the bot, and no link to submit a version."""
    active(world, ann, "a1", "gone")
    disqualify(world.store, "gone", "it cheated")
    text = read(logged_in(world, ann.name), "/mine")
    assert "Disqualified: it cheated." in text
    assert "/submit?bot=gone" not in Page(text).links
    assert "<form" not in text


def test_the_notice_costs_one_indexed_read(world: World, ann: KnownAccount, tmp_path: Path) -> None:
    """The benched bots are read by an index. Without a session, there is no query."""
    for visitor in (browser(world), logged_in(world, ann.name)):
        with statements() as sent:
            assert visitor.get("/login").status_code == 200
        asked = [statement for statement, _ in sent if not statement.startswith("BEGIN")]
        assert bool(asked) == (SECURE_NAME in visitor.cookies)
    (read_bots,) = (each for each in asked if "FROM bot" in each)
    with closing(sqlite3.connect(tmp_path / "arena.sqlite3")) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {read_bots}", (1,)).fetchall()
    assert "USING INDEX ix_bot_account_id" in plan[0][3]


def test_an_author_has_all_bots_and_their_versions_on_one_page(world: World) -> None:
    """Bots are listed with state and rank, versions newest first. The case of the name doesn't matter."""
    world.filled(fill_stable)
    client = browser(world)
    _, versions = Page(client.get("/authors/ann").text).tables
    assert ["active" in row[0] for row in versions[1:]] == [True, False, False]
    bench(world.store, "mine", "it failed")
    page = Page(client.get("/bots/mine").text)
    assert "/authors/ann" in page.links
    shown = Page(client.get("/authors/Ann").text)
    bots, versions = shown.tables
    assert [row[:2] for row in bots[1:]] == [["mine@3", "benched"]]
    assert [row[0].split()[0] for row in versions[1:]] == ["mine@3", "mine@2", "mine@1"]
    assert not any("active" in row[0] for row in versions[1:])


def test_a_bot_has_the_same_figures_on_every_page(world: World) -> None:
    """The figures include the rank and the initial rating of a bot without games."""
    _, *others = add_bots(world.store, [("fresh", "ann"), ("eel", "bo"), ("tuna", "cy")])
    play_matches(world.store, [others], Rules(players=2), name="two")
    client = browser(world)
    (row,) = (row for row in client.get("/api/v1/leaderboard").json()["rows"] if row["bot"] == "fresh")
    rating = f"{fixed(row['mean'])} ± {fixed(row['spread'])}"
    by_author, versions = Page(client.get("/authors/ann").text).tables
    assert by_author[1][2:] == ["3", fixed(row["score"]), rating, "0"]
    assert versions[1][1:3] == [fixed(row["score"]), "0"]
    assert Page(client.get("/bots/fresh").text).tables[0][1][1:4] == [fixed(row["score"]), rating, "0"]
    assert Page(client.get("/compare?bots=fresh").text).tables[0][1][1:5] == [
        "3",
        fixed(row["score"]),
        rating,
        "0",
    ]
    (line,) = (each for each in Page(client.get("/leaderboard").text).tables[0] if "fresh" in each[1])
    assert (line[0], line[2]) == ("3", f"{fixed(row['score'])}{rating}")


def test_an_author_may_have_any_name(world: World, subtests: pytest.Subtests) -> None:
    """Operators may add bots by any author. The link on the bot's page leads to the author's page."""
    authors = {f"odd-{number}": name for number, name in enumerate(("a/b", "x y", "<i>", "50%", "Ümlaut"))}
    add_bots(world.store, list(authors.items()))
    client = browser(world)
    for bot, author in authors.items():
        with subtests.test(author):
            links = Page(client.get(f"/bots/{bot}").text).links
            (link,) = [link for link in links if link.startswith("/authors/")]
            answer = client.get(link)
            assert answer.status_code == 200
            assert f"/bots/{bot}" in Page(answer.text).links


def test_many_bots_come_in_pages(world: World) -> None:
    """A page has fifty bots, in order of their names."""
    names = [f"bot{number:02}" for number in range(60)]
    add_bots(world.store, [(name, "busy") for name in names])
    client = browser(world)
    first = Page(client.get("/authors/busy").text)
    (more,) = [link for link in first.links if "after=" in link]
    second = Page(client.get(more).text)
    listed = [row[0].partition("@")[0] for shown in (first, second) for row in shown.tables[0][1:]]
    assert listed == names
    assert not [link for link in second.links if "after=" in link]
