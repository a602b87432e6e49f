"""Games whose logs or replays have been deleted: pages and data say so."""

from datetime import timedelta

from arena.db.credentials import KnownAccount
from arena.protocol.states import Scope
from tests.accounts.world import World
from tests.web.people import browser, logged_in, program, token
from tests.web.stable import Stable

GAME = "logged-0-0"
PRINTED = "secret of mine"
LOGS = f"/api/v1/games/{GAME}/logs"


def asked(world: World, account: KnownAccount) -> tuple[int, str]:
    """Request the logs as a program, and return status and text."""
    answer = program(world, token(world, account, {Scope.READ})).get(LOGS)
    return answer.status_code, answer.text


def test_deleted_logs(world: World, stable: Stable) -> None:
    """Callers who could see the logs before get a 410, and others a 404. The game remains public."""
    assert PRINTED in logged_in(world, "ann").get(f"/games/{GAME}").text
    assert world.store.logs.remove_logs(world.now + timedelta(days=99), 99)
    status, text = asked(world, stable.ann)
    assert (status, "been deleted" in text, "keeping" in text) == (410, True, False)
    assert asked(world, world.add("passer-by"))[0] == 404
    page = logged_in(world, "ann").get(f"/games/{GAME}").text
    assert "The logs of this game have been deleted." in page
    assert PRINTED not in page
    assert "Watch this game" in page
    assert "been deleted" not in browser(world).get(f"/games/{GAME}").text
    assert browser(world).get(f"/games/{GAME}/1/1").status_code == 200


def test_deleted_replays(world: World, stable: Stable) -> None:
    """Addresses that need the replay return 410. The result remains, and the response gives its address."""
    anybody = browser(world)
    before = anybody.get(f"/api/v1/games/{GAME}").json()
    assert world.store.logs.remove_replays(world.now + timedelta(days=99), 99)
    page = anybody.get(f"/games/{GAME}")
    assert page.status_code == 200
    assert "The replay of this game has been deleted." in page.text
    assert "Ratings before and after" in page.text
    assert "mine" in page.text
    for gone in ("Watch this game", "replay.json", "og.png", "Shuffle"):
        assert gone not in page.text
    assert anybody.get(f"/api/v1/games/{GAME}").json() == before
    problem = anybody.get(f"/games/{GAME}/replay.json")
    assert problem.status_code == 410
    assert problem.headers["content-type"] == "application/problem+json"
    assert f"/api/v1/games/{GAME}" in problem.json()["hint"]
    for path in ("1/1", "og.png", "1/1/og.png", "frames.json"):
        assert anybody.get(f"/games/{GAME}/{path}").status_code == 410, path
    assert "has been deleted" in anybody.get(f"/games/{GAME}/1/1").text
    assert anybody.get("/bots/mine").status_code == 200
    # Nothing plays a game without its replay.
    world.later(days=30)
    assert "Nothing to show yet" in anybody.get("/tv").text
    front = anybody.get("/").text
    assert ("Most points" in front, "/embed/" in front, "Watch a game" in front) == (True, False, False)
    assert asked(world, stable.ann)[0] == 410
