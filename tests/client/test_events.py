"""A submission that is followed: every change once, whatever becomes of the connection."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import msgspec
import pytest

from arena.client import site as client
from arena.client.events import Patience, events, follow, stage_by_stage
from arena.client.site import SiteClient
from arena.client.sites import SiteProblem, SiteTrouble
from tests.client.live import Other, Reply, answering

STREAM = {"Content-Type": "text/event-stream"}
MOST = 2**16
"""Bytes of an event here, in place of a client's MiB: clients read byte by byte."""
SUBMISSION: dict[str, object] = {
    "id": "abc",
    "bot": "mine",
    "author": "ann",
    "kind": "python",
    "note": "",
    "size": 3,
    "sha256": "0" * 64,
    "stage": "received",
    "check_only": False,
    "waiting": None,
    "version": None,
    "received": "2026-11-03T11:00:00Z",
    "inspected": None,
    "qualifying": None,
    "ended": None,
    "cause": None,
}
CAUSE = {"stage": "qualifying", "kind": "memory", "text": "gone", "hint": "Load less."}


def told(stage: str, *, ended: bool = False) -> bytes:
    """Return an event as the site writes it."""
    return event(SUBMISSION | {"stage": stage, "ended": "2026-11-03T12:00:00Z" if ended else None})


def event(data: object) -> bytes:
    """Return any event."""
    return b"event: stage\ndata: " + msgspec.json.encode(data) + b"\n\n"


@contextmanager
def streaming(*bodies: bytes) -> Iterator[tuple[Other, SiteClient]]:
    """Give a server whose streams are these, one after another, and a client of it."""
    replies: list[Reply] = [(200, STREAM, body) for body in bodies]
    with answering(*replies) as other, closing(SiteClient(other.url, "kaiten_x")) as site:
        yield other, site


def test_events_of_a_name_are_told_from_the_rest() -> None:
    """Comments, other events, data of several lines; what was not finished is no event."""
    lines = [
        *(": still here", "", "retry: 10000", "", "event: other", "data: 1", ""),
        *("event: stage", "data: one", "data:two", "id: 7", "", "data: nameless", "", "event: stage", ""),
        *("event: stage", "data: cut off"),
    ]
    assert list(events(lines, "stage")) == ["one\ntwo"]


def test_every_change_comes_once_over_connections_that_break() -> None:
    """Also where one ends in the middle of an event."""
    first = b": hello\n\n" + told("received") + told("inspected")[:-9]
    with streaming(first, b"", told("received") + told("inspected"), told("active", ended=True)) as (
        other,
        site,
    ):
        waited: list[float] = []
        followed = follow(site, "abc", Patience(sleep=waited.append))
        stages = [each["stage"] for each in followed]
    assert stages == ["received", "inspected", "active"]
    assert {path for path, _ in other.asked} == {"/api/v1/submissions/abc/events"}
    assert waited == [1.0, 2.0, 1.0]


def test_patience_has_an_end() -> None:
    """A site that says nothing is asked eight times, at longer and longer intervals."""
    with streaming(b"retry: 10000\n\n") as (other, site):
        waited: list[float] = []
        with pytest.raises(SiteTrouble, match="reports no progress"):
            list(follow(site, "abc", Patience(sleep=waited.append)))
    assert len(other.asked) == 8
    assert waited == [1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]


def test_an_event_that_is_no_json_is_trouble() -> None:
    """As a connection that breaks."""
    with streaming(b"event: stage\ndata: [\n\n", told("rejected", ended=True)) as (_, site):
        followed = follow(site, "abc", Patience(sleep=lambda _: None))
        assert [each["stage"] for each in followed] == ["rejected"]


@pytest.mark.parametrize(
    "body",
    [
        event({name: value for name, value in SUBMISSION.items() if name != "stage"}),
        event(None),
        event(SUBMISSION | {"games": [1]}),
        event(SUBMISSION | {"games": [{"players": 2, "seat": 0, "figures": {}}]}),
        event(SUBMISSION | {"cause": CAUSE | {"request": {"game": 1}}}),
        event(SUBMISSION | {"ended": "0001-01-01T00:00:00Z"}),
        b"event: stage\ndata: " + b"[" * 50_000 + b"\n\n",
        b"data: " + b"x" * 2 * MOST,
        b"data: x\n" * (MOST // 4),
    ],
    ids=["no stage", "null", "game", "figures", "request", "year 1", "deep", "line", "lines"],
)
def test_an_event_that_no_arena_sends_is_named(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is passed on, and patience has its end."""
    monkeypatch.setattr(client, "MOST_EVENT_BYTES", MOST)
    with streaming(body) as (other, site):
        with pytest.raises(SiteTrouble, match=r"check that this is an arena's address"):
            list(follow(site, "abc", Patience(attempts=2, sleep=lambda _: None)))
        assert len(other.asked) == 2


@pytest.mark.parametrize(("status", "asked"), [(401, 1), (404, 1), (429, 3), (500, 3), (503, 3)])
def test_only_what_passes_is_waited_for(status: int, asked: int) -> None:
    """A refusal stays one."""
    problem = {"Content-Type": "application/problem+json"}
    body = b'{"detail": "No.", "hint": "Yes."}'
    with answering((status, problem, body)) as other, closing(SiteClient(other.url)) as site:
        with pytest.raises(SiteProblem) as refused:
            list(follow(site, "abc", Patience(attempts=3, sleep=lambda _: None)))
        assert refused.value.status == status
        assert len(other.asked) == asked


def test_no_stage_is_passed_over() -> None:
    """What went by between two looks is told from its times; what was never reached is not."""
    first = {"stage": "received", "received": "12:00", "inspected": None, "waiting": "no room"}
    last = {"stage": "active", "received": "12:00", "inspected": "12:01", "qualifying": "12:02"}
    told = [(each["stage"], each.get("waiting")) for each in stage_by_stage([first, first, last])]
    assert told == [
        ("received", "no room"),
        ("received", "no room"),
        ("inspected", None),
        ("qualifying", None),
        ("active", None),
    ]
    early = {"stage": "rejected", "received": "12:00", "inspected": None, "qualifying": None}
    assert [each["stage"] for each in stage_by_stage([early])] == ["received", "rejected"]
