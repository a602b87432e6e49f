"""Which responses are compressed."""

import pytest

from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import add_bots, play_matches
from tests.web.people import browser


def play_two(world: World) -> None:
    """Play two games between two bots."""
    versions = add_bots(world.store, [("ann-s", "ann"), ("ben-s", "ben")])
    play_matches(world.store, [versions], Rules(players=2), name="two")


_TEXTS = ["/", "/leaderboard", "/api/v1/leaderboard", "/static/site.css"]


@pytest.mark.parametrize(
    ("path", "refused"),
    [*((path, "gzip;q=0") for path in _TEXTS), ("/", "br, gzip; q=0.0"), ("/", "gzip;q=0, br;q=1")],
)
def test_a_client_can_refuse_compression(world: World, path: str, refused: str) -> None:
    """A quality of zero refuses gzip, even while a compressed page is cached."""
    add_bots(world.store, [(f"bot-{number}", "house") for number in range(10)])
    visitor = browser(world)
    for accepted, encoding in (("gzip;q=0.5", "gzip"), (refused, None), ("gzip", "gzip"), (refused, None)):
        answer = visitor.get(path, headers={"Accept-Encoding": accepted})
        assert answer.headers.get("content-encoding") == encoding
        assert "Accept-Encoding" in answer.headers["vary"]


@pytest.mark.parametrize("path", _TEXTS)
def test_text_is_compressed(world: World, path: str) -> None:
    """The text is the same with and without compression, even if cached. A 304 has no encoding."""
    add_bots(world.store, [(f"bot-{number}", "house") for number in range(10)])
    visitor = browser(world)
    plain = visitor.get(path, headers={"Accept-Encoding": "identity"})
    for _ in range(2):
        answer = visitor.get(path, headers={"Accept-Encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip"
        assert "Accept-Encoding" in answer.headers["vary"]
        assert answer.text == plain.text
        assert int(answer.headers["content-length"]) < len(plain.content)
    assert "content-encoding" not in plain.headers
    again = visitor.get(path, headers={"Accept-Encoding": "gzip", "If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "content-encoding" not in again.headers


def test_pictures_are_not_compressed_again(world: World) -> None:
    """PNG files are already compressed."""
    play_two(world)
    game = world.store.games.newest(None, 1)[0].game
    answer = browser(world).get(f"/games/{game}/og.png", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in answer.headers
    assert answer.content.startswith(b"\x89PNG")
