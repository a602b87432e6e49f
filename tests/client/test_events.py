"""Tests of following a submission: every change arrives exactly once, even if the connection breaks."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import msgspec
import pytest

from arena.client import site as client
from arena.client.events import RetryPolicy, events, follow, stage_by_stage
from arena.client.site import SiteClient
from arena.client.sites import SiteError, SiteProblem
from tests.client.live import Other, Reply, answering

STREAM = {"Content-Type": "text/event-stream"}
MOST = 2**16
"""Size limit of events in these tests. The client's own, 1 MiB, takes too long: it reads byte by byte."""
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
    """Return an event with this stage, as the site sends it."""
    return event(SUBMISSION | {"stage": stage, "ended": "2026-11-03T12:00:00Z" if ended else None})


def event(data: object) -> bytes:
    """Return an event with any data."""
    return b"event: stage\ndata: " + msgspec.json.encode(data) + b"\n\n"


@contextmanager
def streaming(*bodies: bytes, breaks: bool = False) -> Iterator[tuple[Other, SiteClient]]:
    """Yield a server whose streams have these bodies, in order, and a client of that server.

    With ``breaks``, every connection breaks: the server declares longer bodies than it sends.
    """
    headers = STREAM | ({"Content-Length": f"{2 * MOST}"} if breaks else {})
    replies: list[Reply] = [(200, headers, body) for body in bodies]
    with answering(*replies) as other, closing(SiteClient(other.url, "kaiten_x")) as site:
        yield other, site


def test_events_are_filtered_by_name() -> None:
    """Comments, other events and unfinished events are skipped. The lines of an event's data are joined."""
    lines = [
        *(": still here", "", "retry: 10000", "", "event: other", "data: 1", ""),
        *("event: stage", "data: one", "data:two", "id: 7", "", "data: nameless", "", "event: stage", ""),
        *("event: stage", "data: cut off"),
    ]
    assert list(events(lines, "stage")) == ["one\ntwo"]


def test_every_change_comes_once_over_connections_that_break() -> None:
    """A connection may even break in the middle of an event."""
    first = b": hello\n\n" + told("received") + told("inspected")[:-9]
    bodies = (first, b"", told("received") + told("inspected"), told("active", ended=True))
    with streaming(*bodies, breaks=True) as (other, site):
        waited: list[float] = []
        followed = follow(site, "abc", RetryPolicy(sleep=waited.append))
        stages = [each["stage"] for each in followed]
    assert stages == ["received", "inspected", "active"]
    assert {path for path, _ in other.asked} == {"/api/v1/submissions/abc/events"}
    assert waited == [1.0, 2.0, 1.0]


def test_retries_are_limited() -> None:
    """A site that reports nothing is asked eight times, at increasing intervals."""
    with streaming(b"retry: 10000\n\n") as (other, site):
        waited: list[float] = []
        with pytest.raises(SiteError, match="stopped sending updates"):
            list(follow(site, "abc", RetryPolicy(sleep=waited.append)))
    assert len(other.asked) == 8
    assert waited == [1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]


def test_an_event_that_is_not_json_is_retried() -> None:
    """After invalid JSON, the client reconnects as after a broken connection."""
    with streaming(b"event: stage\ndata: [\n\n", told("rejected", ended=True)) as (_, site):
        followed = follow(site, "abc", RetryPolicy(sleep=lambda _: None))
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
def test_an_event_that_no_arena_sends_is_refused(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """No part of such an event is passed on, and the client gives up after its last attempt."""
    monkeypatch.setattr(client, "MAX_EVENT_BYTES", MOST)
    with streaming(body) as (other, site):
        with pytest.raises(SiteError, match=r"check that this is an arena's address"):
            list(follow(site, "abc", RetryPolicy(attempts=2, sleep=lambda _: None)))
        assert len(other.asked) == 2


@pytest.mark.parametrize(("status", "asked"), [(401, 1), (404, 1), (429, 3), (500, 3), (503, 3)])
def test_only_temporary_errors_are_retried(status: int, asked: int) -> None:
    """A refused request isn't repeated, but one that failed or came too early is."""
    problem = {"Content-Type": "application/problem+json"}
    body = b'{"detail": "No.", "hint": "Yes."}'
    with answering((status, problem, body)) as other, closing(SiteClient(other.url)) as site:
        with pytest.raises(SiteProblem) as refused:
            list(follow(site, "abc", RetryPolicy(attempts=3, sleep=lambda _: None)))
        assert refused.value.status == status
        assert len(other.asked) == asked


def test_no_stage_is_skipped() -> None:
    """Stages between two events are derived from the submission's times.

    Stages that were never reached aren't reported.
    """
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
