"""Slow uploads: a client that sends slowly can't keep its slot forever."""

import asyncio
import select
import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from fastapi import Request
from starlette.types import Message, Receive, Scope, Send

from arena.protocol.states import Scope as May
from arena.submissions.receiver import MAX_CONCURRENT, SOURCE_SLOTS
from tests.accounts.world import World
from tests.builders import host_report
from tests.patience import WAIT_SECONDS, wait_until
from tests.web.app import components_over
from tests.web.people import token
from tests.web.server import serving
from web.app import create_app
from web.http.errors import Problem
from web.http.uploads import BODY_TIMEOUTS, BodyTimeoutMiddleware, BodyTimeouts, pieces

KIB = 1024


def received(came: Iterable[tuple[float, int]], timeouts: BodyTimeouts = BODY_TIMEOUTS) -> int:
    """Receive a body of parts with these durations and sizes, and return its length."""
    now = 0.0
    parts = iter(came)
    length = 0

    async def receive() -> Message:
        nonlocal now
        seconds, size = next(parts, (0.0, 0))
        now += seconds
        return {"type": "http.request", "body": bytes(size), "more_body": size > 0}

    async def app(scope: Scope, receive: Receive, _send: Send) -> None:
        nonlocal length
        length = sum([len(piece) async for piece in pieces(Request(scope, receive))])

    async def send(_: Message) -> None:
        raise AssertionError

    scope = {"type": "http", "method": "PUT", "headers": [(b"transfer-encoding", b"chunked")]}
    asyncio.run(BodyTimeoutMiddleware(app, timeouts, lambda: now)(scope, receive, send))
    return length


def test_a_file_may_be_slow_within_limits() -> None:
    """Small files may be slow. Large ones may take as long as they do at the minimum rate."""
    assert received([(0.0, 5)]) == 5
    assert received([(2.9, 1)] * 10) == 10
    assert received([(1.0, 64 * KIB)] * 800) == 800 * 64 * KIB


@pytest.mark.parametrize("came", [[(20.0, 1)] * 3, [(1.0, 60 * KIB)] * 800, [(0.0, 64 * KIB), (31.5, 1)]])
def test_a_body_that_is_too_slow_on_average_is_refused(came: list[tuple[float, int]]) -> None:
    """Regular small parts don't help. The response is 408, and says what to do.

    Without the minimum rate, the same body is received.
    """
    with pytest.raises(Problem, match="after the first 30 seconds, it must average 64 KiB") as refused:
        received(came)
    assert (refused.value.status_code, bool(refused.value.hint)) == (408, True)
    assert received(came, replace(BODY_TIMEOUTS, grace_seconds=1000.0)) == sum(size for _, size in came)


def test_the_total_time_of_a_body_is_limited() -> None:
    """The limit is a quarter of an hour, even if the rate is always high enough, unless it is lifted."""
    assert received([(1.0, 66 * KIB)] * 899) == 899 * 66 * KIB
    assert received([(1.0, 66 * KIB)] * 901, replace(BODY_TIMEOUTS, total_seconds=1000.0)) == 901 * 66 * KIB
    with pytest.raises(Problem, match="took longer than 900 seconds") as refused:
        received([(1.0, 66 * KIB)] * 901)
    assert (refused.value.status_code, bool(refused.value.hint)) == (408, True)


def test_a_body_that_never_arrives_does_not_end_a_stream() -> None:
    """The client announces a body in a GET, but sends none, and disconnects after the body's time limit."""
    came: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(0.1)
        return {"type": "http.disconnect"}

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        waiting = asyncio.ensure_future(receive())
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        came.extend([await waiting, await receive()])

    async def send(_: Message) -> None:
        pass

    scope = {"type": "http", "method": "GET", "headers": [(b"content-length", b"5")]}
    asyncio.run(BodyTimeoutMiddleware(app, BodyTimeouts(idle_seconds=0.01))(scope, receive, send))
    assert [message["type"] for message in came] == ["http.disconnect"] * 2


def put(  # noqa: PLR0913, PLR0917 - parts of the header
    address: tuple[str, int], secret: str, name: str, kind: str, length: int, source: str = "127.0.0.1"
) -> socket.socket:
    """Connect from an address of this host, and send the header of an upload."""
    sender = socket.create_connection(address, timeout=WAIT_SECONDS, source_address=(source, 0))
    sender.sendall(
        f"PUT /api/v1/bots/{name}/submissions?kind={kind} HTTP/1.1\r\nHost: a\r\n"
        f"Authorization: Bearer {secret}\r\nContent-Length: {length}\r\n\r\n".encode()
    )
    return sender


def status(sender: socket.socket) -> int:
    """Return the response's status."""
    with sender, sender.makefile("rb") as answer:
        return int(answer.readline().split()[1])


@contextmanager
def site(world: World, timeouts: BodyTimeouts) -> Iterator[tuple[str, int]]:
    """Serve the site over a real socket."""
    world.store.activity.record_host(host_report(), ())
    with serving(create_app(replace(components_over(world), body_timeouts=timeouts))) as address:
        yield address


def secret_of(world: World, name: str) -> str:
    """Add an account, and return its token with the scope submit."""
    return token(world, world.add(name), {May.SUBMIT})


def send_images(
    world: World,
    address: tuple[str, int],
    senders: ExitStack,
    places: int = MAX_CONCURRENT - SOURCE_SLOTS,
) -> list[socket.socket]:
    """Begin an upload of an image for each slot, from several addresses, and return their sockets."""
    return [
        senders.enter_context(
            put(address, secret_of(world, f"eve{n}"), f"slow{n}", "image", 1 << 29, f"127.0.0.{2 + n}")
        )
        for n in range(places)
    ]


def begin_images(
    world: World,
    address: tuple[str, int],
    senders: ExitStack,
    places: int = MAX_CONCURRENT - SOURCE_SLOTS,
) -> list[socket.socket]:
    """Begin the uploads, and wait until all have a slot."""
    begun = send_images(world, address, senders, places)
    wait_until(lambda: len(list(world.uploads.glob("*.part"))) == len(begun), "images' uploads in progress")
    return begun


def drip_until_answered(sender: socket.socket) -> None:
    """Send some bytes repeatedly, far above the minimum rate, until a response arrives."""

    def answered() -> bool:
        if select.select([sender], [], [], 0)[0]:
            return True
        try:
            sender.sendall(bytes(64 * KIB))
        except ConnectionError:  # the site has responded, and closed the connection
            return True
        return False

    wait_until(answered, "a response")


def upload(address: tuple[str, int], secret: str, kind: str = "image") -> int:
    """Upload a small file, and return the status."""
    sender = put(address, secret, "hers", kind, 5)
    sender.sendall(b"x = 1")
    return status(sender)


DRIPPING = BodyTimeouts(idle_seconds=600, grace_seconds=600, bytes_per_second=1, total_seconds=600)
"""Limits that no upload in these tests exceeds."""


def test_slow_images_do_not_block_a_source_file(world: World) -> None:
    """A source file gets a slot within the first minute, when another image doesn't."""
    secret = secret_of(world, "ann")
    with site(world, DRIPPING) as address, ExitStack() as senders:
        begin_images(world, address, senders)
        assert upload(address, secret) == 503
        assert upload(address, secret, "python") == 201


def test_without_reserved_places_slow_images_block_a_source_file(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The images then take all slots."""
    monkeypatch.setattr("arena.submissions.receiver.SOURCE_SLOTS", 0)
    secret = secret_of(world, "ann")
    with site(world, DRIPPING) as address, ExitStack() as senders:
        begin_images(world, address, senders, MAX_CONCURRENT)
        assert upload(address, secret, "python") == 503


def test_without_losing_places_slow_images_block_an_image_for_hours(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The images then keep their slots for as long as they are being sent."""
    monkeypatch.setattr("arena.submissions.receiver.SLOW_AFTER", timedelta(days=1))
    secret = secret_of(world, "ann")
    with site(world, DRIPPING) as address, ExitStack() as senders:
        begin_images(world, address, senders)
        world.later(hours=3)
        assert upload(address, secret) == 503


def test_slow_images_block_an_image_for_at_most_a_minute(world: World) -> None:
    """After a minute, the slowest upload is cancelled with the reason, and the others continue."""
    secret = secret_of(world, "ann")
    with site(world, DRIPPING) as address, ExitStack() as senders:
        slowest, *others = begin_images(world, address, senders)
        for sender in others:
            sender.sendall(bytes(1 << 21))  # enough to reach the disk
        wait_until(
            lambda: sum(file.stat().st_size > 0 for file in world.uploads.iterdir()) == len(others),
            "data of the other images",
        )
        assert upload(address, secret) == 503
        world.later(minutes=1)
        assert upload(address, secret) == 201
        drip_until_answered(slowest)
        with slowest.makefile("rb") as answer:
            told = answer.readline() + answer.read(2000)
        assert b" 408 " in told
        assert b"seconds, so it was cancelled to make room" in told
        assert b"counts towards your quota" in told
        assert not select.select(others, [], [], 0)[0]


def test_slow_images_lose_their_places_after_the_total_time(world: World) -> None:
    """Images lose their slots even if their rate is high enough. The next upload then gets a slot.

    With a longer total time, it would get none, as the tests above show.
    """
    secret = secret_of(world, "ann")
    # The last upload must end within the total time, even on a busy host.
    limits = BodyTimeouts(idle_seconds=600, grace_seconds=600, bytes_per_second=1, total_seconds=5)
    with site(world, limits) as address, ExitStack() as senders:
        # On a busy host, the first upload may be over before the last begins, so this waits for none.
        for sender in send_images(world, address, senders):
            drip_until_answered(sender)
            assert status(sender) == 408
        assert upload(address, secret) == 201


def test_a_slow_form_is_ended_too(world: World) -> None:
    """The form's connection is closed soon, except by a site that allows more time."""
    strict = BodyTimeouts(idle_seconds=60.0, grace_seconds=1.0, bytes_per_second=KIB, total_seconds=60.0)
    with site(world, DRIPPING) as unlimited, site(world, strict) as address:
        patient, sender = (
            socket.create_connection(each, timeout=WAIT_SECONDS) for each in (unlimited, address)
        )
        for each in (patient, sender):
            each.sendall(
                b"POST /login HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\nContent-Length: 20\r\n"
                b"Content-Type: application/x-www-form-urlencoded\r\n\r\nname=ann"
            )
        assert status(sender) == 408
        patient.sendall(b"&password=ab")
        assert status(patient) == 403
