"""The page of the arena's state: what its machines can hold, and whether strangers' bots may play."""

import pytest
from fastapi.testclient import TestClient

from arena.controls import CONTROL_NAMES, CONTROLS
from arena.store import Store
from tests.builders import add_bots, host_report
from tests.web.app import site_of
from tests.web.html import Page

STOPS = {control.name: control.stops for control in CONTROLS}


@pytest.fixture
def client(empty_store: Store) -> TestClient:
    """Give a client of a site without games."""
    return TestClient(site_of(empty_store))


def test_before_the_first_check_it_says_so(client: TestClient) -> None:
    """A visitor reads what will stand here, and that strangers' bots are refused until then."""
    text = client.get("/status").text
    assert "No machine has been checked yet" in text
    assert "Until then bots of strangers are refused" in text
    assert client.get("/api/v1/status").json() == {
        "games": 0,
        "matches_running": 0,
        "matches_waiting": 0,
        "matches_quarantined": 0,
        "hosts": [],
    }


def test_a_machine_that_holds_everything(client: TestClient, empty_store: Store) -> None:
    """Everybody may play; every control is listed with what it stops."""
    empty_store.writes.record_host(host_report(), frozenset())
    text = client.get("/status").text
    (held,) = Page(text).tables
    assert "Bots of everybody may play here." in text
    assert [row[0] for row in held[1:]] == list(CONTROL_NAMES)
    assert [row[1] for row in held[1:]] == list(STOPS.values())
    assert f"{len(CONTROLS)} of {len(CONTROLS)} are held" in text


def test_what_is_not_held_is_named(client: TestClient, empty_store: Store) -> None:
    """By name and with what it stops, told apart from what was accepted; strangers' bots are refused."""
    empty_store.writes.record_host(host_report("swap", "tmp-files"), {"tmp-files"})
    text = client.get("/status").text
    missing, held = Page(text).tables
    assert "Bots of strangers are refused here." in text
    assert missing[1:] == [
        ["tmp-files", STOPS["tmp-files"], "accepted"],
        ["swap", STOPS["swap"], "not held"],
    ]
    assert len(held[1:]) == len(CONTROLS) - 2
    assert "2026-11-03" in text


def test_what_is_accepted_lets_strangers_in(client: TestClient, empty_store: Store) -> None:
    """They may play, and the page says that not all is held."""
    empty_store.writes.record_host(host_report("swap"), {"swap"})
    assert "may play here, though not every control is held" in client.get("/status").text
    (host,) = client.get("/api/v1/status").json()["hosts"]
    assert host["strangers"] is True
    assert [line["name"] for line in host["missing"]] == ["swap"]


def test_plain_processes_hold_nothing(client: TestClient, empty_store: Store) -> None:
    """Whatever is accepted: strangers' bots are refused, and the page says why."""
    empty_store.writes.record_host(host_report(isolates=False), frozenset(CONTROL_NAMES))
    text = client.get("/status").text
    assert "nothing is isolated" in text
    assert "Bots of strangers are refused here." in text
    assert Page(text).tables == []


def test_what_was_seen_is_for_the_operator_alone(client: TestClient, empty_store: Store) -> None:
    """Neither page nor data tell a visitor how a control was got round."""
    empty_store.writes.record_host(host_report("swap"), frozenset())
    for path in ("/status", "/api/v1/status"):
        assert "seen of" not in client.get(path).text


def test_a_machine_with_a_strange_name_is_text(client: TestClient, empty_store: Store) -> None:
    """Its name becomes no markup."""
    empty_store.writes.record_host(host_report(host="<b>\N{RIGHT-TO-LEFT OVERRIDE}vm"), frozenset())
    text = client.get("/status").text
    assert "&lt;b&gt;vm" in text
    assert "<b>vm" not in text


def test_it_counts_what_the_arena_does(client: TestClient, empty_store: Store) -> None:
    """The same numbers as the store's."""
    add_bots(empty_store, [("a", "house")])
    totals = empty_store.reads.totals()
    found = client.get("/api/v1/status").json()
    assert (found["games"], found["matches_waiting"]) == (totals.games, totals.matches_waiting)
    assert client.head("/status").status_code == 200


def test_it_is_linked_from_every_page(client: TestClient) -> None:
    """And the page itself is marked as the current one."""
    assert "/status" in Page(client.get("/").text).links
    assert '<a href="/status" aria-current="page">' in client.get("/status").text
