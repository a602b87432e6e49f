"""Badges."""

import xml.etree.ElementTree as ET

import pytest
from fastapi.testclient import TestClient

from arena.rules import Rules
from tests.accounts.world import START, World
from tests.builders import add_bots, play_set
from tests.web.people import browser
from web.http.rendering import fixed
from web.leaderboard.pages import badge_of


@pytest.fixture
def visitor(world: World) -> TestClient:
    """Give a browser of an arena in which bots have played, and one has not."""
    versions = add_bots(world.store, [("winner-1", "ann"), ("loser-1", "ben"), ("new-1", "cyd")])
    play_set(world.store, [versions[:2]] * 1, Rules(players=2), name="two")
    return browser(world)


def test_a_badge_says_what_the_leaderboard_says(visitor: TestClient) -> None:
    """Rank and rating, for eyes and for those who hear it read."""
    for row in visitor.get("/api/v1/leaderboard").json()["rows"][:2]:
        answer = visitor.get(f"/bots/{row['bot']}/badge.svg")
        assert answer.headers["content-type"] == "image/svg+xml"
        drawn = ET.fromstring(answer.text)  # noqa: S314 - our own
        texts = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
        rating = f"{fixed(row['mean'], 1)} ± {fixed(row['spread'], 1)}"
        assert texts == [row["bot"], f"#{row['rank']} · {rating}, provisional"]
        title = f"{row['bot']} on Kaiten: rank {row['rank']} of 3, rating {rating}, provisional"
        assert drawn.get("aria-label") == title
        assert len(answer.content) < 2000


def test_who_has_no_rank_is_told_so(world: World, visitor: TestClient) -> None:
    """No game yet, or off the ladder."""
    assert "new-1 on Kaiten: no rated game yet" in visitor.get("/bots/new-1/badge.svg").text
    world.store.bot_states.retire("loser-1", START)
    assert "loser-1 on Kaiten: retired" in visitor.get("/bots/loser-1/badge.svg").text


@pytest.mark.parametrize("bot", ["nobody", "%3Cb%3E", "x" * 99])
def test_who_is_not_there_has_none(visitor: TestClient, bot: str) -> None:
    """404, as for the bot's page."""
    assert visitor.get(f"/bots/{bot}/badge.svg").status_code == 404


def test_any_site_may_show_it_and_keep_it_a_while(visitor: TestClient) -> None:
    """Others may embed it, caches may keep it, nobody's cookies matter, and it can do nothing."""
    answer = visitor.get("/bots/winner-1/badge.svg")
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers.get("vary", "Accept-Encoding") == "Accept-Encoding"
    assert "set-cookie" not in answer.headers
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    again = visitor.get("/bots/winner-1/badge.svg", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304
    assert again.headers["cache-control"] == "public, max-age=300"


def test_wider_texts_have_more_room() -> None:
    """The picture is as wide as its two parts, and each part as its text."""
    narrow, wide = (badge_of(bot, None, 0, "retired") for bot in ("illi", "MWMW"))
    assert narrow.label_length < wide.label_length
    assert narrow.value_width == wide.value_width
