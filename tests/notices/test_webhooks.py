"""Delivery of webhooks to real receivers."""

import base64
import hashlib
import hmac
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from arena.db.audit import NewAuditEntry
from arena.db.credentials import KnownAccount
from arena.db.subscriptions import KnownSubscription, SubscriptionKind
from arena.notices.deliverer import Deliverer
from arena.notices.mail import Mailer
from arena.notices.metrics import DeliveryMetrics, DeliveryOutcome
from arena.notices.subscriptions import OwnSubscriptions
from arena.notices.webhooks import Webhooks
from arena.protocol.news import Topic
from tests.accounts.world import World
from tests.cli import forked
from tests.db.builders import bot_of
from tests.folders import short_folder
from tests.notices import arena
from tests.notices.receivers import Received, Receiver, contexts, receiver
from tests.patience import WAIT_SECONDS
from tests.ports import silent_port
from tests.web.people import logged_in


@contextmanager
def deliverer(  # noqa: PLR0913 - the parts of a deliverer
    world: World,
    named: frozenset[str] = frozenset(),
    tls: ssl.SSLContext | None = None,
    counted: CollectorRegistry | None = None,
    mailer: Mailer | None = None,
    *,
    seconds: float = WAIT_SECONDS,
    round_seconds: float = WAIT_SECONDS,
) -> Iterator[Deliverer]:
    """Yield a deliverer with these time limits for a delivery and for a round.

    The arena's own limits are a few seconds, in which a busy host may not even begin to respond.
    """
    made = Deliverer(
        world.store,
        Webhooks(named, tls or ssl.create_default_context()),
        mailer,
        lambda: world.now,
        DeliveryMetrics(counted or CollectorRegistry()),
    )
    with pytest.MonkeyPatch.context() as patch, closing(made):
        patch.setattr("arena.notices.webhooks._TIMEOUT_SECONDS", seconds)
        patch.setattr("arena.notices.mail._TIMEOUT_SECONDS", seconds)
        patch.setattr("arena.notices.deliverer._ROUND_SECONDS", round_seconds)
        yield made


def subscribe(world: World, account: KnownAccount, url: str, named: frozenset[str]) -> tuple[str, int]:
    """Add a webhook for all topics, and return its secret and ID."""
    own = OwnSubscriptions(world.store.subscriptions, world.sources, named=named, sends_mail=False)
    secret, made = own.add(account, SubscriptionKind.WEBHOOK, url, list(Topic), address="")
    assert secret is not None
    return secret, made.id


def bench(world: World, why: str) -> None:
    """Bench the bot ``mine``, which causes a notification."""
    entry = NewAuditEntry(at=world.now, who="terminal:test", what="bench")
    world.store.bot_states.bench("mine", why, world.now, entry)


def only(world: World, account: KnownAccount) -> KnownSubscription:
    """Return the account's only subscription."""
    (known,) = world.store.subscriptions.of(account.id)
    return known


def check(received: Received, secret: str, now: float) -> dict[str, Any]:
    """Check a request according to the Standard Webhooks specification, and return its body."""
    sent = received.headers["webhook-timestamp"]
    assert abs(int(sent) - now) < 300
    signed = f"{received.id}.{sent}.".encode() + received.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    assert 24 <= len(key) <= 64
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert received.headers["webhook-signature"] == f"v1,{expected}"
    return dict(json.loads(received.body))


@pytest.fixture
def ann(world: World) -> KnownAccount:
    """Add an account with the bot ``mine``."""
    account = world.add("ann")
    bot_of(world.store, "mine", account)
    return account


def test_news_arrives_signed_and_once(world: World, ann: KnownAccount) -> None:
    """Each notification arrives once and in order, with an ID, a time and a signature."""
    with receiver() as there, deliverer(world, there.named) as made:
        secret, _ = subscribe(world, ann, there.url, there.named)
        bench(world, "one\n\N{SUSHI}")
        bench(world, "two")
        for _ in range(3):
            made.deliver_due()
        first, second = there.requests.get_nowait(), there.requests.get_nowait()
        assert there.requests.empty()
    assert check(first, secret, world.now.timestamp()) == {
        "type": "benched",
        "timestamp": "2026-11-03T12:00:00Z",
        "data": {
            "bot": "mine",
            "title": "mine: benched",
            "text": "mine is benched: one\n\N{SUSHI}.",
            "path": "/bots/mine#benched-20261103T120000Z",
        },
    }
    assert (first.path, first.headers["content-type"]) == ("/hook?a=b", "application/json")
    assert check(second, secret, world.now.timestamp())["data"]["text"] == "mine is benched: two."
    assert first.id != second.id


def test_failed_deliveries_are_retried_with_the_same_id(world: World, ann: KnownAccount) -> None:
    """Retries come after 30 s, 90 s and so on, until one succeeds."""
    with receiver() as there, deliverer(world, there.named) as made:
        subscribe(world, ann, there.url, there.named)
        bench(world, "it failed")
        there.status = 500
        made.deliver_due()
        made.deliver_due()
        world.later(seconds=30)
        made.deliver_due()
        assert only(world, ann).trouble == "the server responded with 500"
        world.later(seconds=30)
        made.deliver_due()
        assert there.requests.qsize() == 2
        there.status = 204
        world.later(seconds=60)
        made.deliver_due()
        assert only(world, ann).trouble is None
        made.deliver_due()
        ids = [there.requests.get_nowait().id for _ in range(3)]
        assert len(set(ids)) == 1
        assert there.requests.empty()


def test_deliveries_are_counted(world: World, ann: KnownAccount) -> None:
    """Attempts and waiting notifications are counted by kind of subscription."""
    counted, waiting = CollectorRegistry(), world.store.subscriptions.waiting

    def deliveries(kind: str) -> dict[str, float | None]:
        labels = [{"kind": kind, "outcome": outcome} for outcome in DeliveryOutcome]
        return {each["outcome"]: counted.get_sample_value("kaiten_deliveries_total", each) for each in labels}

    with receiver() as there, deliverer(world, there.named, counted=counted) as made:
        subscribe(world, ann, there.url, there.named)
        assert deliveries("webhook") == deliveries("mail") == {"sent": 0, "failed": 0}
        bench(world, "one")
        bench(world, "two")
        there.status = 500
        made.deliver_due()
        assert deliveries("webhook") == {"sent": 0, "failed": 1}
        assert waiting() == {SubscriptionKind.WEBHOOK: 2, SubscriptionKind.MAIL: 0}
        there.status = 204
        world.later(seconds=30)
        for _ in range(3):
            made.deliver_due()
        assert deliveries("webhook") == {"sent": 2, "failed": 1}
        assert waiting() == {SubscriptionKind.WEBHOOK: 0, SubscriptionKind.MAIL: 0}
    assert deliveries("mail") == {"sent": 0, "failed": 0}


def test_redirects_are_not_followed(world: World, ann: KnownAccount) -> None:
    """The target of a redirect receives no request."""
    with receiver() as there, deliverer(world, there.named) as made:
        subscribe(world, ann, there.url, there.named)
        bench(world, "it failed")
        there.status = 302
        made.deliver_due()
        assert only(world, ann).trouble == "the server responded with 302, but redirects are not followed"
        assert [there.requests.get_nowait().path] == ["/hook?a=b"]
        assert there.requests.empty()


def test_a_receiver_that_is_gone_is_switched_off_at_once(world: World, ann: KnownAccount) -> None:
    """The status 410 means that the receiver is gone."""
    with receiver() as there, deliverer(world, there.named) as made:
        subscribe(world, ann, there.url, there.named)
        bench(world, "it failed")
        there.status = 410
        made.deliver_due()
    assert only(world, ann).off == world.now


def test_a_failing_receiver_is_switched_off_after_three_days(world: World, ann: KnownAccount) -> None:
    """The webhook's owner sees the reason. A successful test switches the webhook on again.

    Notifications are dropped while it is off.
    """
    with receiver() as there, deliverer(world, there.named) as made:
        _, id_ = subscribe(world, ann, there.url, there.named)
        bench(world, "it failed")
        there.status = 503
        while only(world, ann).off is None:
            made.deliver_due()
            world.later(hours=1)
        assert timedelta(days=3) <= world.now - only(world, ann).created <= timedelta(days=3, hours=8)
        assert there.requests.qsize() < 20
        visitor = logged_in(world, "ann")
        text = visitor.get("/account/notifications").text
        assert "because deliveries failed: the server responded with 503." in text
        bench(world, "dropped")
        there.status = 200
        there.requests.queue.clear()
        assert visitor.post(f"/account/notifications/{id_}/test").status_code == 303
        made.deliver_due()
        made.deliver_due()
        assert [json.loads(there.requests.get_nowait().body)["type"]] == ["test"]
        assert there.requests.empty()


def drip(listening: socket.socket, answer: bytes) -> None:
    """Send this response to one request, then a byte per second until the connection ends."""
    sock, _ = listening.accept()
    try:
        sock.sendall(answer)
        while True:
            sock.sendall(b"x")
            time.sleep(1)
    except OSError:
        sock.close()


def test_a_receiver_that_does_not_respond_delays_no_others(world: World, ann: KnownAccount) -> None:
    """A delivery to another receiver doesn't wait until the stuck one is over."""
    with receiver() as stuck, receiver() as fine:
        stuck.may_answer.clear()
        for each in (stuck, fine):
            subscribe(world, ann, each.url, each.named)
        bench(world, "it failed")
        with deliverer(world, stuck.named | fine.named) as made:
            looking = threading.Thread(target=made.deliver_due)
            looking.start()
            fine.requests.get(timeout=WAIT_SECONDS)
            assert looking.is_alive()
            stuck.may_answer.set()
            looking.join()
    assert [each.trouble for each in world.store.subscriptions.of(ann.id)] == [None, None]


def test_endless_responses_are_cut(world: World, ann: KnownAccount) -> None:
    """One receiver is silent. Two send single bytes, so no read times out, but the whole response does."""
    with (
        receiver() as stuck,
        socket.create_server(("127.0.0.1", 0)) as header,
        socket.create_server(("127.0.0.1", 0)) as version,
    ):
        begun = {header: b"HTTP/1.1 200 OK\r\nX-Long: ", version: b"HTTP/1"}
        dripping = [threading.Thread(target=drip, args=each, daemon=True) for each in begun.items()]
        for thread in dripping:
            thread.start()
        slow = [stuck, *(Receiver(listening.getsockname()[1]) for listening in begun)]
        stuck.may_answer.clear()
        for each in slow:
            subscribe(world, ann, each.url, each.named)
        bench(world, "it failed")
        with deliverer(world, frozenset().union(*(each.named for each in slow)), seconds=5) as made:
            made.deliver_due()
        for thread in dripping:
            thread.join(WAIT_SECONDS)
    troubles = [each.trouble for each in world.store.subscriptions.of(ann.id)]
    assert troubles == ["the server did not respond within 5 s"] * 3


def test_a_response_that_is_not_http_is_reported(world: World, ann: KnownAccount) -> None:
    """The subscription shows the reason."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        there = Receiver(listening.getsockname()[1])
        drips = threading.Thread(target=drip, args=(listening, b"SSH-2.0\r\n"), daemon=True)
        drips.start()
        subscribe(world, ann, there.url, there.named)
        bench(world, "it failed")
        with deliverer(world, there.named) as made:
            made.deliver_due()
    assert only(world, ann).trouble == "the server's response is not HTTP"


def test_a_refused_connection_is_reported(world: World, ann: KnownAccount) -> None:
    """The error contains the operating system's reason."""
    with silent_port() as port:
        there = Receiver(port)
        subscribe(world, ann, there.url, there.named)
        bench(world, "it failed")
        with deliverer(world, there.named) as made:
            made.deliver_due()
    assert only(world, ann).trouble == "the connection failed: Connection refused"


def test_the_checked_address_is_the_one_that_is_connected_to(
    world: World, ann: KnownAccount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host name is resolved once per delivery. The certificate must match the name."""
    server, client = contexts(tmp_path, "there.example")
    asked = []
    real = socket.getaddrinfo

    def look_up(host: str, *others: Any, **more: Any) -> Any:  # noqa: ANN401 - the library's
        if not host.endswith(".example"):
            return real(host, *others, **more)
        asked.append(host)
        return real("127.0.0.1" if asked.count(host) == 1 else "192.0.2.1", *others, **more)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with receiver(server) as there:
        named = frozenset({f"there.example:{there.port}", f"other.example:{there.port}"})
        subscribe(world, ann, f"https://there.example:{there.port}/", named)
        bench(world, "it failed")
        with deliverer(world, named, client) as made:
            made.deliver_due()
            assert (asked, only(world, ann).trouble) == (["there.example"], None)
            assert there.requests.get_nowait().headers["host"] == f"there.example:{there.port}"
            asked.clear()
            subscribe(world, ann, f"https://other.example:{there.port}/", named)
            bench(world, "again")
            made.deliver_due()
        other = world.store.subscriptions.of(ann.id)[1]
        assert str(other.trouble).startswith("the server's certificate is not valid: Hostname mismatch")


def test_a_name_with_a_private_address_is_not_connected_to(
    world: World, ann: KnownAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each delivery checks all addresses of the name."""
    real = socket.getaddrinfo

    def look_up(_host: str, *others: Any, **more: Any) -> Any:  # noqa: ANN401 - the library's
        return [*real("8.8.8.8", *others, **more), *real("127.0.0.1", *others, **more)]

    subscribe(world, ann, "https://there.example/", frozenset())
    bench(world, "it failed")
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with deliverer(world) as made:
        made.deliver_due()
    assert only(world, ann).trouble == "127.0.0.1 is not a public address"


def test_a_slow_lookup_delays_nobody_else(
    world: World, ann: KnownAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow lookup blocks only one thread, and its notification isn't delivered twice."""
    real, asked, over = socket.getaddrinfo, [], threading.Event()

    def look_up(host: str, *others: Any, **more: Any) -> Any:  # noqa: ANN401 - the library's
        if host == "slow.example":
            asked.append(host)
            assert over.wait(WAIT_SECONDS)
        return real("192.0.2.1" if host.endswith(".example") else host, *others, **more)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with receiver() as there:
        named = frozenset({f"127.0.0.1:{there.port}"})
        subscribe(world, ann, "https://slow.example/", named)
        subscribe(world, ann, f"http://127.0.0.1:{there.port}/", named)
        bench(world, "it failed")
        with deliverer(world, named, round_seconds=0.1) as made:

            def keep_looking() -> None:
                while not over.wait(0.05):
                    made.deliver_due()

            looking = threading.Thread(target=keep_looking)
            looking.start()
            try:
                assert there.requests.get(timeout=WAIT_SECONDS).body
                bench(world, "again")
                assert there.requests.get(timeout=WAIT_SECONDS).body
                assert asked == ["slow.example"]
            finally:
                over.set()
                looking.join(WAIT_SECONDS)
    assert world.store.subscriptions.of(ann.id)[0].trouble == "192.0.2.1 is not a public address"


def test_an_arena_that_is_killed_in_mid_delivery_delivers_again(
    world: World, ann: KnownAccount, tmp_path: Path
) -> None:
    """The notification is delivered again with the same ID. Completed deliveries aren't repeated."""
    with receiver() as there, short_folder() as sockets:
        subscribe(world, ann, there.url, there.named)
        bench(world, "one")
        bench(world, "two")
        world.close()
        there.may_answer.clear()
        environment = {
            "ARENA_DATA_DIR": str(tmp_path),
            "ARENA_RUN_DIR": str(sockets),
            "ARENA_SANDBOX": "process",
            "ARENA_WEBHOOK_HOSTS": ",".join(there.named),
            "PATH": "/usr/bin:/bin",
        }
        log = tmp_path / "log"
        log.touch()
        killed = forked.member((), environment, log, arena.main)
        first = there.requests.get(timeout=WAIT_SECONDS)
        killed.kill()
        killed.join()
        there.may_answer.set()
        again = forked.member((), environment, log, arena.main)
        second, third = (there.requests.get(timeout=WAIT_SECONDS) for _ in range(2))
        again.kill()
        again.join()
        assert (first.id, first.body) == (second.id, second.body)
        assert third.id != second.id
        assert there.requests.empty()
