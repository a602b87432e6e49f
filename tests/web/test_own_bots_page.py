"""The page of one's own bots, and the notice in the head of every page."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, event

from arena.db.audit import NewAuditEntry
from arena.db.credentials import KnownAccount
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import add_bots, host_report, play_set
from tests.db.builders import START
from tests.web.html import Page
from tests.web.people import browser, logged_in
from tests.web.submitted import CRASH, play, send


@pytest.fixture
def ann(world: World) -> KnownAccount:
    """Give someone with an account."""
    world.store.activity.record_host(host_report(), ())
    return world.add("ann")


def active(world: World, owner: KnownAccount, id_: str, bot: str) -> None:
    """Let a bot of someone's be on the ladder."""
    send(world.store, owner, id_, bot)
    play(world.store, id_)
    assert world.store.submissions.activate(id_, START) == 1


def bench(world: World, bot: str) -> None:
    """Let a bot sit out."""
    entry = NewAuditEntry(at=START, who="terminal:test", what="bench", subject=f"bot:{bot}")
    world.store.bot_states.bench(bot, "5 of its last 10 games <failed>", START, entry)


def read(visitor: TestClient, path: str = "/mine") -> str:
    """Return a page, whose spaces are single."""
    answer = visitor.get(path)
    assert answer.status_code == 200
    return " ".join(answer.text.split())


def test_who_has_none_is_told_how_to_begin(world: World, ann: KnownAccount) -> None:
    """And who is not logged in is sent to do so."""
    assert "No bots yet" in read(logged_in(world, ann.name))
    assert browser(world).get("/bots").headers["location"] == "/mine"
    assert browser(world).get("/mine").headers["location"] == "/login?next=/mine"


def test_each_bot_is_there_with_its_state(world: World, ann: KnownAccount) -> None:
    """By name: what plays, how it ranks, what was sent last; others' bots are not."""
    store = world.store
    for id_, bot in (("a1", "plays"), ("a2", "resting"), ("a3", "sits")):
        active(world, ann, id_, bot)
    active(world, world.add("ben"), "b1", "bens")
    version = store.bots.version_id("plays", 1)
    assert version is not None
    play_set(store, [(version, *add_bots(store, [("fresh", "house")]))], Rules(players=2), name="rated")
    store.bot_states.retire("resting", START)
    bench(world, "sits")
    send(store, ann, "a4", "plays")
    store.submissions.reject("a4", CRASH, START)
    send(store, ann, "a5", "coming")
    text = read(logged_in(world, ann.name))
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
    assert "<dt>Rank</dt><dd>\N{EN DASH}</dd>" in resting
    assert [row[0] for row in Page(text).tables[0][1:]] == ["coming, received 2026-03-01 09:35:00"]
    assert "bens" not in text


def test_a_benched_bot_plays_again_with_one_click(world: World, ann: KnownAccount) -> None:
    """The notice in the head is gone with it."""
    active(world, ann, "a1", "sits")
    bench(world, "sits")
    visitor = logged_in(world, ann.name)
    assert ">1 benched<" in read(visitor, "/status")
    (action,) = re.findall(r'action="(/bots/[^"]+)"', read(visitor))
    assert visitor.post(action, data={"state": "active"}).status_code == 303
    assert "benched" not in read(visitor)
    assert "benched" not in read(visitor, "/status")


def test_a_disqualified_bot_is_beyond_its_owner(world: World, ann: KnownAccount) -> None:
    """No button is there, neither for it nor for a version of it."""
    active(world, ann, "a1", "gone")
    entry = NewAuditEntry(at=START, who="terminal:test", what="disqualify", subject="bot:gone")
    world.store.bot_states.disqualify("gone", "it cheated", START, entry)
    text = read(logged_in(world, ann.name))
    assert "Disqualified: it cheated." in text
    assert "/submit?bot=gone" not in Page(text).links
    assert "<form" not in text


def test_the_notice_costs_one_indexed_read(world: World, ann: KnownAccount, tmp_path: Path) -> None:
    """And nothing for those who are not logged in."""
    visitors = (browser(world), logged_in(world, ann.name))
    costs: list[list[str]] = []

    def note(*arguments: object) -> None:
        costs[-1].append(cast("str", arguments[2]))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        for visitor in visitors:
            costs.append([])
            assert visitor.get("/login").status_code == 200
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    nobodys, anns = ([each for each in cost if not each.startswith("BEGIN")] for cost in costs)
    assert nobodys == []
    (read_bots,) = (each for each in anns if "FROM bot" in each)
    with closing(sqlite3.connect(tmp_path / "arena.sqlite3")) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {read_bots}", (1,)).fetchall()
    assert "USING INDEX ix_bot_account_id" in plan[0][3]
