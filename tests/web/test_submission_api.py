"""The API of submissions: uploads are complete or refused, visible to their owner, and can be cancelled."""

import hashlib
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from arena.db.credentials import KnownAccount
from arena.languages.language import MAX_SOURCE_BYTES
from arena.protocol.states import Role, Scope
from tests.accounts.world import World
from tests.builders import host_report
from tests.db.builders import add_bot, bot_of
from tests.db.test_submissions import PLENTY, new
from tests.web.people import logged_in, owner, program, token
from tests.web.stable import disqualify

FILE = b"print('hello')\n" * 9000
"""Larger than the limit for other requests' bodies."""


def put(
    client: TestClient, bot: str = "mine", content: bytes = FILE, **query: str
) -> "tuple[int, dict[str, object]]":
    """Upload a file, and return the status and the response."""
    answer = client.put(f"/api/v1/bots/{bot}/submissions", params={"kind": "python"} | query, content=content)
    return answer.status_code, answer.json()


def test_an_uploaded_file_becomes_a_submission(world: World, ann: KnownAccount) -> None:
    """The file is sent in pieces with a note. The response has the submission's address."""
    client = owner(world, ann)
    digest = hashlib.sha256(FILE).hexdigest()
    answer = client.put(
        "/api/v1/bots/mine/submissions",
        params={"kind": "python", "note": "a first try", "sha256": digest},
        content=(FILE[start : start + 5000] for start in range(0, len(FILE), 5000)),
    )
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["stage"], made["size"], made["sha256"]) == ("received", len(FILE), digest)
    assert (made["author"], made["note"]) == ("ann", "a first try")
    found = client.get(answer.headers["Location"]).json()
    assert found == made | {"games": []}
    assert client.get("/api/v1/submissions").json() == {"submissions": [made], "next": None}
    assert client.get("/api/v1/submissions?bot=other").json()["submissions"] == []
    assert (world.uploads / f"{made['id']}.py").read_bytes() == FILE


def test_a_submission_is_cancelled_by_its_author(world: World, ann: KnownAccount) -> None:
    """A submission in progress is rejected in its current stage, once. The author can submit again."""
    client = owner(world, ann)
    made = put(client)[1]
    address = f"/api/v1/submissions/{made['id']}"
    world.store.submissions.mark_inspected(str(made["id"]), "sha256:1", world.now)
    for stranger in (world.add("ben"), world.add("oper", Role.OPERATOR)):
        assert owner(world, stranger).delete(address).status_code == 404
    assert client.delete(address).status_code == 204
    found = client.get(address).json()
    assert (found["stage"], found["cause"]["kind"], found["cause"]["stage"]) == (
        "rejected",
        "withdrawn",
        "inspected",
    )
    again = client.delete(address)
    assert (again.status_code, "is not in progress" in again.text) == (409, True)
    world.store.submissions.mark_qualifying(str(made["id"]), world.now)
    assert client.get(address).json() == found
    assert put(client)[0] == 201


def test_a_browser_can_upload_too(world: World, ann: KnownAccount) -> None:
    """A session allows uploads from the site's own pages, but not from another site."""
    assert ann.name
    browsing = logged_in(world, "ann")
    assert put(browsing)[0] == 201
    browsing.headers["Sec-Fetch-Site"] = "cross-site"
    assert put(browsing, content=FILE[:100])[0] == 403


@pytest.mark.parametrize(
    ("bot", "content", "query", "status", "words"),
    [
        ("mine", FILE, {"sha256": "0" * 64}, 422, "has the SHA-256"),
        ("mine", FILE, {"sha256": "short"}, 422, "sha256"),
        ("mine", FILE, {"kind": "wine"}, 422, "kind"),
        ("m", FILE, {}, 422, "is not a valid"),
        ("taken", FILE, {}, 409, "belongs to a bot by ben"),
        ("mine", bytes(MAX_SOURCE_BYTES + 1), {}, 413, "limit for a source file is 1 MiB"),
    ],
)
def test_a_refused_upload_leaves_nothing(  # noqa: PLR0913, PLR0917 - columns of the table
    world: World, ann: KnownAccount, bot: str, content: bytes, query: dict[str, str], status: int, words: str
) -> None:
    """The problem says what is wrong and what to do."""
    add_bot(world.store, "taken", author="ben")
    code, problem = put(owner(world, ann), bot, content, **query)
    assert (code, problem["status"]) == (status, status)
    assert words in str(problem["detail"])
    assert problem["hint"]
    assert world.store.submissions.newest() == ()
    assert not world.uploads.exists() or list(world.uploads.iterdir()) == []


def test_a_disqualified_bot_gets_no_new_version(world: World, ann: KnownAccount) -> None:
    """The response is 409 with the reason, and nothing is stored."""
    bot_of(world.store, "mine", ann)
    disqualify(world.store, "mine", "it cheated")
    code, problem = put(owner(world, ann))
    assert (code, problem["detail"]) == (409, "mine was disqualified: it cheated.")
    assert problem["hint"] == "Contact the arena's operator."
    assert not world.uploads.exists() or list(world.uploads.iterdir()) == []


def test_a_broken_upload_leaves_nothing(world: World, ann: KnownAccount) -> None:
    """A file that is shorter than declared is refused."""
    client = owner(world, ann)
    answer = client.put(
        "/api/v1/bots/mine/submissions?kind=python",
        content=FILE[:100],
        headers={"Content-Length": str(len(FILE))},
    )
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert "only 100 of 135,000 bytes arrived" in answer.json()["detail"]
    assert list(world.uploads.iterdir()) == []


def test_a_token_that_is_revoked_during_an_upload_submits_nothing(world: World, ann: KnownAccount) -> None:
    """An upload may last for minutes, and its token is checked again at the end."""
    client = owner(world, ann)

    def pieces() -> Iterator[bytes]:
        yield FILE[:100]
        (known,) = world.accounts.tokens.of(ann)
        world.accounts.tokens.revoke(ann, known.id)
        yield FILE[100:]

    answer = client.put("/api/v1/bots/mine/submissions?kind=python", content=pieces())
    assert (answer.status_code, "revoked" in answer.json()["detail"]) == (401, True)
    assert world.store.submissions.newest() == ()
    assert list(world.uploads.iterdir()) == []


def test_an_oversized_upload_is_refused_at_its_announcement(world: World, ann: KnownAccount) -> None:
    """No byte is read. The response has the limit and the site's headers."""
    answer = owner(world, ann).put(
        "/api/v1/bots/mine/submissions?kind=image",
        content=FILE[:100],
        headers={"Content-Length": str(1 << 40)},
    )
    assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")
    assert "limit for an image archive is 768 MiB" in answer.json()["detail"]
    assert "content-security-policy" in answer.headers


def test_the_quota_and_a_host_without_a_control(world: World, ann: KnownAccount) -> None:
    """The fourth submission within a day gets a 429. On such a host, each gets a 503 without the details."""
    client = owner(world, ann)
    for _ in range(3):
        assert put(client, content=world.now.isoformat().encode())[0] == 201
        world.later(hours=1, seconds=0.5)
    answer = client.put("/api/v1/bots/mine/submissions?kind=python", content=FILE)
    assert answer.status_code == 429
    assert answer.json()["detail"] == (
        "ann has sent 3 submissions in the last 24 hours; the limit is 3. Try again in 21 hours."
    )
    wait = int(answer.headers["retry-after"])
    assert wait == 21 * 3600 - 1  # the first upload was 3 hours and 1.5 seconds ago
    world.later(seconds=wait)
    assert put(owner(world, ann))[0] == 201
    world.store.activity.record_host(host_report("swap"), ())
    code, problem = put(owner(world, ann))
    assert code == 503
    assert "swap" not in str(problem)


def test_a_quota_without_a_period_has_no_retry_time(world: World, ann: KnownAccount) -> None:
    """The quota limits an author's bots, and the detail says what to do."""
    client = owner(world, ann)
    for bot in ("one", "two"):
        assert put(client, bot)[0] == 201
    answer = client.put("/api/v1/bots/three/submissions?kind=python", content=FILE)
    assert (answer.status_code, "retry-after" in answer.headers) == (429, False)
    assert "send a new version of one of them" in answer.json()["detail"]


def test_the_same_file_again_is_refused(world: World, ann: KnownAccount) -> None:
    """The response is 409 with the submission, and nothing is queued.

    Every upload counts towards the quota, since the arena has received the file: its hash wasn't declared.
    """
    client = owner(world, ann)
    _, made = put(client)
    for _ in range(2):
        code, problem = put(client)
        same = f"this is the same file as submission {made['id']} of mine, which is in progress."
        assert (code, problem["detail"]) == (409, same)
        assert str(problem["hint"]).startswith(
            "Nothing was queued. Submitting the same file or image again creates no new version."
        )
    assert put(client)[0] == 429
    assert [each.id for each in world.store.submissions.newest()] == [made["id"]]
    assert not list(world.uploads.glob("*.part"))


def test_a_full_disk_refuses_only_uploads(world: World, ann: KnownAccount) -> None:
    """The response is 507 without a retry time. Pages and data work, and the status names the reason."""
    world.least_free = 1 << 60
    full = owner(world, ann)
    answer = full.put("/api/v1/bots/mine/submissions?kind=python", content=FILE)
    assert (answer.status_code, "retry-after" in answer.headers) == (507, False)
    assert answer.json()["detail"] == (
        "the arena's disk is too full for this file: try again later, or inform the operator."
    )
    assert full.get("/api/v1/submissions").json()["submissions"] == []
    assert full.get("/leaderboard").status_code == 200
    assert full.get("/api/v1/status").json()["disk_full"] is True
    assert "The disk is full." in full.get("/status").text
    world.least_free, world.site = 0, None  # a site reads this setting only when it is created
    assert owner(world, ann).get("/api/v1/status").json()["disk_full"] is False
    assert put(owner(world, ann))[0] == 201


SUBMISSION = "/api/v1/submissions/5ca1ab1e"


def test_a_demoted_operator_loses_access_at_once(world: World) -> None:
    """Existing tokens and sessions lose operators' access, but otherwise remain valid."""
    ann = world.add("ann")
    operators = [world.add(name, Role.OPERATOR) for name in ("ben", "eve")]
    world.store.submissions.add(new("5ca1ab1e", "mine", "ann", ann.id), PLENTY)
    visitors = [
        program(world, token(world, operators[0], {Scope.READ, Scope.OPERATE})),
        logged_in(world, "ben"),
    ]
    assert [visitor.get(SUBMISSION).status_code for visitor in visitors] == [200, 200]
    world.accounts.operators.set_role("eve", "ben", Role.USER)
    assert [visitor.get(SUBMISSION).status_code for visitor in visitors] == [404, 404]
    assert [visitor.get("/api/v1/submissions").status_code for visitor in visitors] == [200, 200]
    assert visitors[0].get("/api/v1/account").json()["scopes"] == ["read"]
