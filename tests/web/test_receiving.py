"""Bodies that come piece by piece: anyone who drips does not keep a place for ever."""

import asyncio
import select
import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest
from fastapi import Request
from starlette.types import Message, Receive, Scope, Send

from arena.protocol.states import Scope as May
from arena.submissions.receiver import FOR_SOURCES, MOST_AT_ONCE
from tests.accounts.world import World
from tests.builders import host_report
from tests.demo.running import await_that
from tests.web.app import parts_over
from tests.web.people import token
from tests.web.server import serving
from web.app import create_app
from web.http.errors import Problem
from web.http.uploads import PACE, Pace, Paced, pieces

KIB = 1024


def received(came: Iterable[tuple[float, int]]) -> int:
    """Receive a body whose parts take this many seconds and have this many bytes; return its length."""
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
    asyncio.run(Paced(app, PACE, lambda: now)(scope, receive, send))
    return length


def test_a_file_comes_at_any_rate_that_is_not_too_slow() -> None:
    """In a moment; small ones slowly; large ones for as long as they take at the least rate."""
    assert received([(0.0, 5)]) == 5
    assert received([(2.9, 1)] * 10) == 10
    assert received([(1.0, 64 * KIB)] * 800) == 800 * 64 * KIB


@pytest.mark.parametrize("came", [[(20.0, 1)] * 3, [(1.0, 60 * KIB)] * 800, [(0.0, 64 * KIB), (31.5, 1)]])
def test_who_is_too_slow_on_the_whole_is_sent_away(came: list[tuple[float, int]]) -> None:
    """However regularly something comes; with 408, and what to do."""
    with pytest.raises(Problem, match="arrived too slowly: after 30 seconds, less than 64 KiB") as refused:
        received(came)
    assert (refused.value.status_code, bool(refused.value.hint)) == (408, True)


def test_no_rate_lets_a_body_take_longer_than_its_time() -> None:
    """A quarter of an hour, even where the rate is kept all the time."""
    assert received([(1.0, 66 * KIB)] * 899) == 899 * 66 * KIB
    with pytest.raises(Problem, match="took longer than 900 seconds") as refused:
        received([(1.0, 66 * KIB)] * 901)
    assert (refused.value.status_code, bool(refused.value.hint)) == (408, True)


def put(  # noqa: PLR0913, PLR0917 - what a file begins with
    address: tuple[str, int], secret: str, name: str, kind: str, length: int, source: str = "127.0.0.1"
) -> socket.socket:
    """Begin to send a file from an address of this machine."""
    sender = socket.create_connection(address, timeout=60, source_address=(source, 0))
    sender.sendall(
        f"PUT /api/v1/bots/{name}/submissions?kind={kind} HTTP/1.1\r\nHost: a\r\n"
        f"Authorization: Bearer {secret}\r\nContent-Length: {length}\r\n\r\n".encode()
    )
    return sender


def status(sender: socket.socket) -> int:
    """Return the status of the answer."""
    with sender, sender.makefile("rb") as answer:
        return int(answer.readline().split()[1])


@contextmanager
def site(world: World, pace: Pace) -> Iterator[tuple[str, int]]:
    """Serve the site over a real socket."""
    world.store.activity.record_host(host_report(), ())
    with serving(create_app(replace(parts_over(world), pace=pace))) as address:
        yield address


def secret_of(world: World, name: str) -> str:
    """Return a new account's token for submissions."""
    return token(world, world.add(name), {May.SUBMIT})


def begin_images(world: World, address: tuple[str, int], senders: ExitStack) -> list[socket.socket]:
    """Begin to send as many images as find places, from several addresses; return the senders."""
    images = range(MOST_AT_ONCE - FOR_SOURCES)
    begun = [
        senders.enter_context(
            put(address, secret_of(world, f"eve{n}"), f"slow{n}", "image", 1 << 29, f"127.0.0.{2 + n}")
        )
        for n in images
    ]
    await_that(lambda: len(list(world.uploads.glob("*.part"))) == len(begun), "images on their way")
    return begun


def drip_until_answered(sender: socket.socket) -> None:
    """Send some bytes now and then, far more than the rate asks for, until there is an answer."""

    def answered() -> bool:
        if select.select([sender], [], [], 0)[0]:
            return True
        sender.sendall(bytes(64 * KIB))
        return False

    await_that(answered, "an answer")


def image(address: tuple[str, int], secret: str, name: str = "hers") -> int:
    """Send an image; return the status."""
    sender = put(address, secret, name, "image", 5)
    sender.sendall(b"image")
    return status(sender)


DRIPPING = Pace(silence=600, grace=600, rate=1, whole=600)
"""No upload ends for its own pace."""


def test_images_that_drip_keep_no_source_out(world: World) -> None:
    """Where a further image finds no place within a minute, a source file does."""
    secret = secret_of(world, "ann")
    with site(world, DRIPPING) as address, ExitStack() as senders:
        begin_images(world, address, senders)
        assert image(address, secret) == 503
        source = put(address, secret, "mine", "python", 6)
        source.sendall(b"x = 1\n")
        assert status(source) == 201


def test_images_that_drip_keep_no_image_out_for_more_than_a_minute(world: World) -> None:
    """The slowest loses its place; it is told why, and the others go on."""
    secret = secret_of(world, "ann")
    with site(world, DRIPPING) as address, ExitStack() as senders:
        slowest, *others = begin_images(world, address, senders)
        for sender in others:
            sender.sendall(bytes(1 << 21))  # enough to be counted
        await_that(
            lambda: sum(file.stat().st_size > 0 for file in world.uploads.iterdir()) == len(others), "them"
        )
        assert image(address, secret) == 503
        world.later(minutes=1)
        assert image(address, secret) == 201
        drip_until_answered(slowest)
        with slowest.makefile("rb") as answer:
            told = answer.readline() + answer.read(2000)
        assert b" 408 " in told
        assert b"this upload was ended to make room for another" in told
        assert b"counts towards your quota" in told
        assert not select.select(others, [], [], 0)[0]


def test_a_slow_line_gets_its_image_in(world: World) -> None:
    """For minutes, beside others that drip, where a place is left for those who come."""
    with site(world, DRIPPING) as address, ExitStack() as senders:
        slow = senders.enter_context(put(address, secret_of(world, "ben"), "bens", "image", 5))
        for minute in range(5):
            slow.sendall(b"image"[minute : minute + 1])
            world.later(minutes=1)
            assert image(address, secret_of(world, f"ann{minute}"), f"hers{minute}") == 201
        assert status(slow) == 201


def test_images_that_drip_keep_their_places_for_a_time_alone(world: World) -> None:
    """However well the rate is kept: then the next one finds a place."""
    secret = secret_of(world, "ann")
    with site(world, Pace(silence=600, grace=600, rate=1, whole=1)) as address, ExitStack() as senders:
        begun = begin_images(world, address, senders)

        for sender in begun:
            drip_until_answered(sender)
            assert status(sender) == 408
        assert image(address, secret) == 201


def test_a_form_that_drips_is_ended_as_well(world: World) -> None:
    """It holds neither a thread nor, for long, a connection."""
    with site(world, Pace(silence=60.0, grace=1.0, rate=KIB, whole=60.0)) as address:
        sender = socket.create_connection(address, timeout=60)
        sender.sendall(
            b"POST /login HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\nContent-Length: 60\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\n\r\nname=ann"
        )
        assert status(sender) == 408
