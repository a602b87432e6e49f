"""Event streams: only for callers who may see the submission, and limited in number."""

import asyncio
import itertools
from collections.abc import Callable
from contextlib import AsyncExitStack, aclosing
from datetime import timedelta

import msgspec
import pytest
from starlette.types import Message

from arena.db.credentials import KnownAccount
from arena.db.submissions import KnownSubmission
from arena.protocol.states import Role, Scope
from arena.protocol.submissions import Stage, WholeSubmission
from tests.accounts.world import World
from tests.db.builders import present
from tests.db.test_submissions import CAUSE, PLENTY, new
from tests.patience import WAIT_SECONDS
from tests.web.app import site_over
from tests.web.people import token
from tests.web.submitted import finish_game, play, queue
from web.submissions.api import MAX_CONCURRENT_PER_ACCOUNT, SubmissionEvents

SUBMISSION = "5ca1ab1e"
RETRY = b"retry: 10000\n\n"


@pytest.fixture
def ann(world: World) -> KnownAccount:
    """Add the owner of the submission."""
    account = world.add("ann")
    world.store.submissions.add(new(SUBMISSION, "mine", "ann", account.id), PLENTY)
    return account


def found(world: World) -> KnownSubmission:
    """Return the submission's current state."""
    return present(world.store.submissions.find(SUBMISSION))


def streamed(world: World, secret: str, *meanwhile: Callable[[], object]) -> bytes:
    """Follow the submission with a token until the stream ends. Call the next function after each event."""
    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "https",
        "path": f"/api/v1/submissions/{SUBMISSION}/events",
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {secret}".encode())],
    }
    came = bytearray()
    asked: list[bool] = []
    left = iter(meanwhile)

    async def receive() -> Message:
        if asked:
            await asyncio.Event().wait()  # the client stays connected
        asked.append(True)
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            assert dict(message["headers"])[b"content-type"].startswith(b"text/event-stream")
        body = message.get("body", b"")
        came.extend(body)
        if body.startswith(b"event: stage") and (act := next(left, None)):
            await asyncio.to_thread(act)

    async def follow() -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            await site_over(world)(scope, receive, send)

    asyncio.run(follow())
    return bytes(came)


def test_stages_are_followed_until_the_end(world: World, ann: KnownAccount) -> None:
    """Every change causes an event immediately. The stream ends after the last stage."""
    came = streamed(
        world,
        token(world, ann, {Scope.READ}),
        lambda: world.store.submissions.mark_inspected(
            SUBMISSION, "sha256:1", world.now + timedelta(seconds=1)
        ),
        lambda: world.store.submissions.reject(SUBMISSION, CAUSE, world.now),
    )
    stages = [
        msgspec.json.decode(line.removeprefix(b"data: ")) for line in came.splitlines() if b"data: " in line
    ]
    assert [said["stage"] for said in stages] == ["received", "inspected", "rejected"]
    assert stages[-1]["cause"]["exit_code"] == 3


def test_each_game_causes_an_event(world: World, ann: KnownAccount) -> None:
    """The event has the figures of all finished games. A game that has only begun causes none."""
    play(world.store, SUBMISSION, games=0)

    def next_game(number: int) -> None:
        queue(world.store, SUBMISSION, number)
        finish_game(world.store)

    came = streamed(
        world,
        token(world, ann, {Scope.READ}),
        lambda: next_game(0),
        lambda: next_game(1),
        lambda: world.store.submissions.reject(SUBMISSION, CAUSE, world.now),
    )
    told = [
        msgspec.json.decode(line.removeprefix(b"data: "), type=WholeSubmission)
        for line in came.splitlines()
        if b"data: " in line
    ]
    assert [[game.figures is not None for game in each.games] for each in told] == [
        [],
        [True],
        [True, True],
        [True, True],
    ]
    assert told[-1].stage is Stage.REJECTED


def test_the_stream_of_a_demoted_operator_ends(world: World, ann: KnownAccount) -> None:
    """The operator receives no further changes to another account's submission."""
    ben, _ = world.add("ben", Role.OPERATOR), world.add("eve", Role.OPERATOR)

    def demote() -> None:
        world.accounts.operators.set_role("eve", "ben", Role.USER)
        world.store.submissions.wait(SUBMISSION, "a secret")

    came = streamed(world, token(world, ben, {Scope.READ, Scope.OPERATE}), demote)
    assert ann.name.encode() in came
    assert (came.count(b"event: stage"), b"a secret" in came) == (1, False)


def test_the_stream_of_a_revoked_token_ends(world: World, ann: KnownAccount) -> None:
    """The stream ends even though the account may still see the submission."""
    secret = token(world, ann, {Scope.READ})

    def revoke() -> None:
        assert world.accounts.tokens.revoke(ann, world.accounts.tokens.of(ann)[0].id)
        world.store.submissions.wait(SUBMISSION, "a secret")

    came = streamed(world, secret, revoke)
    assert (came.count(b"event: stage"), b"a secret" in came) == (1, False)


def test_the_stream_of_a_deleted_account_ends(world: World, ann: KnownAccount) -> None:
    """The stream sends no event with the pseudonym."""
    came = streamed(
        world,
        token(world, ann, {Scope.READ}),
        lambda: world.store.accounts.delete(ann.id, "former-1", world.now),
    )
    assert (came.count(b"event: stage"), b"former" in came) == (1, False)


def test_access_is_checked_again_while_nothing_changes(world: World, ann: KnownAccount) -> None:
    """Access is checked every fifteen seconds. If it is allowed, a comment keeps the connection open."""
    seconds = itertools.count(0.0, 5.0)
    answers = iter([True, True, False])

    async def follow() -> list[bytes]:
        following = SubmissionEvents(world.store.submissions, lambda: next(seconds))
        return [event async for event in following.events(found(world), ann.id, lambda: next(answers))]

    event, *rest = asyncio.run(follow())
    assert event.startswith(b"event: stage")
    assert rest == [b": still here\n\n"]
    assert list(answers) == []


def test_streams_per_account_are_limited(world: World, ann: KnownAccount) -> None:
    """At the limit, a client must retry until another stream ends. Other accounts aren't affected."""
    other = ann.id + 1

    async def follow() -> tuple[bytes, bytes, bytes]:
        following = SubmissionEvents(world.store.submissions)

        async def first(account: int, streams: AsyncExitStack) -> bytes:
            events = following.events(found(world), account, lambda: True)
            return await anext(await streams.enter_async_context(aclosing(events)))

        async with AsyncExitStack() as streams:
            for _ in range(MAX_CONCURRENT_PER_ACCOUNT):
                assert (await first(ann.id, streams)).startswith(b"event: stage")
            refused, others = await first(ann.id, streams), await first(other, streams)
        async with AsyncExitStack() as streams:
            return refused, others, await first(ann.id, streams)

    refused, others, again = asyncio.run(follow())
    assert refused == RETRY
    assert (others[:12], again[:12]) == (b"event: stage", b"event: stage")
