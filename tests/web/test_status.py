"""The status page: running and waiting matches, recent activity, and hosts."""

from dataclasses import replace
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from arena import __version__
from arena.db.audit import NewAuditEntry
from arena.ladder.settings import LadderChange
from arena.protocol.match import RuntimeName, WorkerStatus
from arena.protocol.sandbox_controls import CONTROL_NAMES, CONTROLS
from arena.protocol.states import Role, Scope
from arena.protocol.status import Hour, RefusedWorker
from tests.accounts.world import World
from tests.builders import host_report
from tests.db.builders import START, add_bot, add_matches, claimed, finished, put_aside
from tests.db.test_submissions import PLENTY, game, qualify
from tests.db.test_submissions import new as submitted
from tests.web.app import site_over
from tests.web.html import Page
from tests.web.people import browser, logged_in, program, token
from tests.web.test_api import when
from web.status import bars_of

STOPS = {name: control.stops for name, control in CONTROLS.items()}
REASON = "no engine"
OLD = "it has version 0.0.9"


@pytest.fixture
def client(world: World) -> TestClient:
    """Return a client of a site without games."""
    return TestClient(site_over(world))


@pytest.fixture
def busy(world: World) -> World:
    """Return an arena with running, waiting and quarantined matches."""
    store = world.store
    ann, ben = (add_bot(store, name) for name in ("anns", "bens"))
    add_matches(store, "aside", (ann, ben), matches=1)
    put_aside(store)
    store.submissions.add(submitted(bot="<i>hush"), PLENTY)
    qualify(store)
    store.submissions.add_game(game("qualify", "u1", (ben, None)), played=0)
    add_matches(store, "rated", (ann, ben), deals=3)
    for _ in range(2):
        assert store.leases.claim("here", "worker", START, RuntimeName.DOCKER)
    store.activity.record_host(host_report(), ())
    refused = RefusedWorker(name="<i>late", host="h", reason=OLD, since=START)
    store.leases.publish_workers("here", [], [refused])
    world.add("oper", Role.OPERATOR)
    return world


def test_before_the_first_check_it_says_so(client: TestClient) -> None:
    """The page says that no host has been checked, and that untrusted bots are refused until then."""
    text = client.get("/status").text
    assert "No host has been checked yet" in text
    assert "Until then, untrusted bots are refused" in text
    assert "No rated games in the last 24 hours" in text
    assert "No matches are running" in text
    found = client.get("/api/v1/status").json()
    assert [hour["games"] for hour in found.pop("hours")] == [0] * 24
    assert found == {
        "version": __version__,
        "games": 0,
        "last_game": None,
        "paused": False,
        "disk_full": False,
        "matches_running": 0,
        "matches_waiting": 0,
        "matches_quarantined": 0,
        "running": [],
        "workers": [],
        "refused": None,
        "waiting": {"qualification": 0, "rated": 0, "challenge": 0},
        "quarantined": None,
        "hosts": [],
    }


def test_a_host_on_which_every_control_passes(client: TestClient, world: World) -> None:
    """Untrusted bots may play, and every control is listed with what it stops."""
    world.store.activity.record_host(host_report(), frozenset())
    text = client.get("/status").text
    (held,) = Page(text).tables
    assert "Untrusted bots may play here." in text
    assert [row[0] for row in held[1:]] == list(CONTROL_NAMES)
    assert [row[1] for row in held[1:]] == list(STOPS.values())
    assert f"{len(CONTROLS)} of {len(CONTROLS)} passed" in text


def test_failed_controls_are_named(client: TestClient, world: World) -> None:
    """The page lists what these controls stop, and marks accepted ones. Untrusted bots are refused.

    In the host's name, markup is escaped, and bidirectional characters are removed.
    """
    report = host_report("swap", "tmp-files", host="<b>\N{RIGHT-TO-LEFT OVERRIDE}vm")
    world.store.activity.record_host(report, {"tmp-files"})
    text = client.get("/status").text
    assert "&lt;b&gt;vm" in text
    assert "<b>vm" not in text
    missing, held = Page(text).tables
    assert "Untrusted bots are refused here." in text
    assert missing[1:] == [
        ["tmp-files", STOPS["tmp-files"], "accepted"],
        ["swap", STOPS["swap"], "failed"],
    ]
    assert len(held[1:]) == len(CONTROLS) - 2
    assert "2026-11-03" in text


def test_accepted_controls_allow_untrusted_bots(client: TestClient, world: World) -> None:
    """Untrusted bots may play, and the page says that not all controls pass."""
    world.store.activity.record_host(host_report("swap"), {"swap"})
    assert "may play here, although some controls failed" in client.get("/status").text
    (host,) = client.get("/api/v1/status").json()["hosts"]
    assert host["strangers"] is True
    assert [line["name"] for line in host["missing"]] == ["swap"]


def test_plain_processes_isolate_nothing(client: TestClient, world: World) -> None:
    """Untrusted bots are refused whatever the operator accepts, and the page says why."""
    world.store.activity.record_host(host_report(isolates=False), frozenset(CONTROL_NAMES))
    text = client.get("/status").text
    assert "without isolation" in text
    assert "Untrusted bots are refused here." in text
    assert Page(text).tables == []


def test_details_of_controls_are_not_public(client: TestClient, world: World) -> None:
    """Page and data don't show visitors how a control was circumvented."""
    world.store.activity.record_host(host_report("swap"), frozenset())
    for path in ("/status", "/api/v1/status"):
        assert "seen of" not in client.get(path).text


def test_running_matches_are_shown_with_their_bots(busy: World) -> None:
    """Rated matches have links. Qualification matches are shown without bots."""
    visitor = browser(busy)
    found = visitor.get("/api/v1/status").json()
    assert found["running"] == [
        {
            "match": None,
            "kind": "qualification",
            "players": 2,
            "deals": 1,
            "started": when(START),
            "seats": [],
        },
        {
            "match": "rated-0",
            "kind": "rated",
            "players": 2,
            "deals": 3,
            "started": when(START),
            "seats": [{"bot": "anns", "version": 1}, {"bot": "bens", "version": 1}],
        },
    ]
    assert found["waiting"] == {"qualification": 0, "rated": 1, "challenge": 0}
    assert (found["matches_running"], found["matches_waiting"], found["matches_quarantined"]) == (2, 1, 1)
    page = Page(visitor.get("/status").text)
    assert "/live/rated-0" in page.links
    (running,) = [table for table in page.tables if table[0][-1] == "Since (UTC)"]
    assert [row[:3] for row in running[1:]] == [
        ["2 seats", "qualification", "1"],
        ["anns@1 bens@1", "rated watch", "3"],
    ]


def test_private_details_are_not_public(busy: World) -> None:
    """Visitors don't see who is qualifying, which match is quarantined, which worker is rejected, or why.

    Without the scope operate, an operator's token doesn't show this either.
    """
    user = busy.add("user")
    people = {
        "visitor": browser(busy),
        "user": logged_in(busy, "user"),
        "reader": program(busy, token(busy, user, {Scope.READ})),
        "operator's reader": program(busy, token(busy, busy.account("oper"), {Scope.READ})),
    }
    for who, someone in people.items():
        for path in ("/status", "/api/v1/status"):
            text = someone.get(path).text
            assert not any(word in text for word in ("hush", "qualify-0", "aside-0", REASON, OLD)), who
        told = someone.get("/api/v1/status").json()
        assert (told["quarantined"], told["refused"]) == (None, None), who


def test_operators_see_everything(busy: World) -> None:
    """Operators see who is qualifying, and why matches were quarantined and workers rejected."""
    secret = token(busy, busy.account("oper"), {Scope.OPERATE})
    found = program(busy, secret).get("/api/v1/status").json()
    assert found["quarantined"] == [
        {
            "match": "aside-0",
            "kind": "rated",
            "seats": [{"bot": "anns", "version": 1}, {"bot": "bens", "version": 1}],
            "attempts": 3,
            "reason": REASON,
            "since": when(START + timedelta(minutes=1)),
        }
    ]
    assert found["refused"] == [{"name": "<i>late", "host": "h", "reason": OLD, "since": when(START)}]
    assert found["running"][0]["match"] == "qualify-0"
    assert found["running"][0]["seats"] == [
        {"bot": "bens", "version": 1},
        {"bot": "<i>hush", "version": None},
    ]
    text = logged_in(busy, "oper").get("/status").text
    assert "aside-0" in text
    assert REASON in text
    assert "&lt;i&gt;hush</bdi>" in text
    assert "<i>hush" not in text
    assert "&lt;i&gt;late</bdi>" in text
    assert OLD in text


def test_slots_are_shown_with_busy_ones(busy: World) -> None:
    """A host with running matches shows busy slots; an old report has no slots."""
    assert "bots at once, <b>" not in browser(busy).get("/status").text
    here = WorkerStatus(name="ohanami", host="ohanami", seats=5, busy=4)
    busy.store.leases.publish_workers("here", [here])
    text = browser(busy).get("/status").text
    assert "5 bots at once, <b>4</b> now" in text
    assert text.count('<i class="taken">') == 4
    assert text.count("<i></i>") == 1
    older = replace(host_report(host="older"), slots=None, checked=START - timedelta(days=1))
    busy.store.activity.record_host(older, ())
    assert len(browser(busy).get("/api/v1/status").json()["hosts"]) == 1  # the older host has no workers
    there = WorkerStatus(name="older", host="older", seats=5, busy=0)
    busy.store.leases.publish_workers("here", [here, there])
    assert [host["slots"] for host in browser(busy).get("/api/v1/status").json()["hosts"]] == [5, None]
    assert browser(busy).get("/status").text.count("bots at once") == 1


def test_workers_are_shown_with_their_matches(busy: World) -> None:
    """The bots of qualification matches are left out."""
    plays = WorkerStatus(name="worker", host="<b>h", seats=5, busy=4, doubted=True)
    idle = WorkerStatus(name="idle", host="idle", seats=8, busy=0, usable=0)
    busy.store.leases.publish_workers("here", [plays, idle])
    visitor = browser(busy)
    found = visitor.get("/api/v1/status").json()
    first, second = found["workers"]
    assert first == {
        "name": "idle",
        "host": "idle",
        "seats": 8,
        "busy": 0,
        "doubted": False,
        "usable": 0,
        "plays": [],
    }
    assert (second["name"], second["host"], second["seats"], second["busy"]) == ("worker", "<b>h", 5, 4)
    assert second["plays"] == found["running"]
    assert second["doubted"]
    text = visitor.get("/status").text
    (table,) = [table for table in Page(text).tables if table[0][0] == "Worker"]
    assert table[1:] == [
        ["idle busy host", "idle", "0 of 8"],
        ["worker on <b>h on probation", "2 seats anns@1 bens@1", "4 of 5"],
    ]
    assert "hush" not in text


def test_games_are_shown_by_the_hour(world: World) -> None:
    """Games are shown as labelled bars, and as a table of hours, newest first."""
    versions = [add_bot(world.store, name) for name in "ab"]
    match = finished(claimed(world.store, versions, deals=3), [(1, 2)] * 3)
    world.now = match.ended + timedelta(hours=2)
    assert world.store.results.record(match)
    visitor = browser(world)
    found = visitor.get("/api/v1/status").json()
    assert (found["games"], [hour["games"] for hour in found["hours"]]) == (3, [0] * 21 + [3, 0, 0])
    assert found["hours"][-1]["begins"] == when(world.now.replace(minute=0))
    assert found["last_game"] == when(match.ended)
    text = visitor.get("/status").text
    (hours,) = [table for table in Page(text).tables if table[0][-1] == "Games"]
    assert [row[1] for row in hours[1:]] == ["0", "0", "3"] + ["0"] * 21
    label = (
        "Rated games in the last 24 hours: 3, with a peak of 3 in one hour. The table below has the numbers."
    )
    assert f'aria-label="{label}"' in text
    assert f"{match.ended:%Y-%m-%d}" in text


@pytest.mark.parametrize(
    ("games", "top", "heights"),
    [
        ([0, 1, 0], 1, [0, 100, 0]),
        ([3, 0, 5], 5, [60, 0, 100]),
        ([7], 10, [70]),
        ([1, 2000], 2000, [1, 100]),
        ([2001, 0], 5000, [40, 0]),
    ],
)
def test_bars_fit_a_round_number(games: list[int], top: int, heights: list[float]) -> None:
    """Every number above zero is visible, and every bar begins at the bottom."""
    bars = bars_of([Hour(begins=START, games=each) for each in games])
    assert bars.top == top
    assert [bar.height for bar in bars.bars] == pytest.approx(heights, abs=0.1)
    assert all(bar.y + bar.height == bars.height for bar in bars.bars)
    assert bars.bars[-1].x + bars.bar <= bars.width
    assert (bars.games, bars.most) == (sum(games), max(games))


def test_without_games_there_are_no_bars() -> None:
    """The drawing keeps its height."""
    assert bars_of([Hour(begins=START, games=0)] * 24).top == 1


def test_a_paused_ladder_is_shown(client: TestClient, world: World) -> None:
    """All visitors see the pause."""
    assert "The ladder is paused" not in client.get("/status").text
    entry = NewAuditEntry(at=START, who="terminal:test", what="ladder")
    world.store.ladder.change(LadderChange(paused=True), entry)
    assert "The ladder is paused" in client.get("/status").text
    assert client.get("/api/v1/status").json()["paused"] is True


def test_it_is_linked_from_every_page(client: TestClient) -> None:
    """The front page, for example, has the link. On the status page, it is marked as current."""
    assert "/status" in Page(client.get("/").text).links
    assert '<a href="/status" aria-current="page">' in client.get("/status").text
