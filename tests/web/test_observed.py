"""Logs and metrics of requests to the site."""

from collections.abc import Iterator

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from arena.protocol.states import Role
from tests.accounts.world import PASSWORD, World
from tests.web.app import components_over
from tests.web.stable import fill_games
from web.app import create_app
from web.http.metrics import SiteMetrics
from web.http.request_log import RequestLog


def samples(metrics: SiteMetrics, name: str) -> dict[tuple[str, ...], float]:
    """Return the values of a metric by label values, which are in order of the labels' names."""
    families = text_string_to_metric_families(generate_latest(metrics.registry).decode())
    found = (sample for family in families for sample in family.samples if sample.name == name)
    return {tuple(value for _, value in sorted(sample.labels.items())): sample.value for sample in found}


def test_requests_are_logged_and_counted_by_route(world: World) -> None:
    """Pages, cached pages, files, unknown paths and wrong methods are included."""
    world.filled(fill_games)
    components = components_over(world)
    client = TestClient(create_app(components))
    game = world.store.games.newest(limit=1)[0].game
    with capture_logs() as logs:
        for path in (
            "/leaderboard",
            "/leaderboard",
            f"/games/{game}",
            "/static/site.css",
            "/secret-path?a=b",
        ):
            client.get(path)
        client.post("/leaderboard", headers={"Sec-Fetch-Site": "same-origin"})
        client.request("BREW", "/cards")
    told = [(line["method"], line["route"], line["status"]) for line in logs if line["event"] == "request"]
    assert told == [
        ("GET", "/leaderboard", 200),
        ("GET", "/leaderboard", 200),
        ("GET", "/games/{game}", 200),
        ("GET", "/static/{path}", 200),
        ("GET", "unknown", 404),
        ("POST", "/leaderboard", 405),
        ("unknown", "unknown", 403),
    ]
    counted = samples(components.metrics, "kaiten_http_requests_total")
    assert counted["GET", "/leaderboard", "2xx"] == 2
    assert counted["unknown", "unknown", "4xx"] == 1
    assert samples(components.metrics, "kaiten_http_request_seconds_count")["/leaderboard",] == 3


def test_probes_are_logged_at_level_debug(world: World) -> None:
    """Probes come every few seconds."""
    client = TestClient(create_app(components_over(world)))
    with capture_logs() as logs:
        for path in ("/healthz", "/readyz"):
            assert client.get(path).headers["Cache-Control"] == "no-store"
    assert {line["log_level"] for line in logs} == {"debug"}


def test_logins_and_uploads_are_counted(world: World) -> None:
    """Failed logins are counted by reason."""
    components = components_over(world)
    world.accounts.operators.create_user("terminal:test", "ann", PASSWORD, Role.USER)
    client = TestClient(create_app(components), headers={"Sec-Fetch-Site": "same-origin"})
    for _ in range(11):
        client.post("/login", data={"name": "ann", "password": "wrong"})
    failures = samples(components.metrics, "kaiten_login_failures_total")
    assert failures == {("credentials",): 10, ("too_many",): 1}
    assert samples(components.metrics, "kaiten_uploads_total") == {("received",): 0, ("refused",): 0}


def test_open_streams_are_counted() -> None:
    """A stream's duration doesn't count as a response time."""
    app, metrics = FastAPI(), SiteMetrics()

    @app.get("/events")
    def events() -> StreamingResponse:
        def body() -> Iterator[bytes]:
            yield str(samples(metrics, "kaiten_event_streams")[()]).encode()

        return StreamingResponse(body(), media_type="text/event-stream")

    assert TestClient(RequestLog(app, metrics)).get("/events").text == "1.0"
    assert samples(metrics, "kaiten_event_streams")[()] == 0
    assert samples(metrics, "kaiten_http_requests_total") == {("GET", "/events", "2xx"): 1}
    assert samples(metrics, "kaiten_http_request_seconds_count") == {}
