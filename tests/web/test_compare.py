"""The page that compares bots."""

import re

import pytest
from fastapi.testclient import TestClient

from tests.web.html import Page


def test_a_comparison_without_bots_is_a_form(client: TestClient) -> None:
    """The form suggests the leading bots."""
    text = client.get("/compare").text
    assert text.count('name="bots"') == 4
    assert '<option value="greedy">' in text
    assert 'id="figures"' not in text


@pytest.mark.parametrize(
    "query",
    [
        "bots=greedy,random",
        "bots=greedy&bots=random",
        "bots=+greedy+,&bots=random,greedy",
        "bots=Greedy,RANDOM",
    ],
)
def test_compared_bots_come_in_fields_or_in_a_list(client: TestClient, query: str) -> None:
    """Each bot is compared once, and its name remains in the form."""
    text = client.get(f"/compare?{query}").text
    assert re.findall(r'name="bots" value="([^"]*)"', text) == ["greedy", "random", "", ""]
    page = Page(text)
    figures, met, cards = page.tables
    assert [row[0].partition("@")[0] for row in figures[1:]] == ["greedy", "random"]
    assert [row[0] for row in met[1:]] == ["greedy", "random"]
    assert all(set(row[1:]) != {"\N{EN DASH}"} for row in cards)
    assert len(cards) > 10
    for line in (0, 1):
        assert len(re.findall(rf'<path class="line l{line}" d="M[\d. L-]+"/>', text)) == 1
    assert "/bots/greedy" in page.links


def test_figures_are_those_of_the_leaderboard(client: TestClient) -> None:
    """Ranks and games are the leaderboard's. The shares of two bots' common games add up to 100%."""
    rows = {row["bot"]: row for row in client.get("/api/v1/leaderboard").json()["rows"]}
    figures, met, _ = Page(client.get("/compare?bots=greedy,random").text).tables
    for row in figures[1:]:
        known = rows[row[0].partition("@")[0]]
        assert row[1] == str(known["rank"])
        assert row[4] == str(known["games"])
    shares = [int(re.match(r"\d+", cell)[0]) for cell in (met[1][2], met[2][1])]  # type: ignore[index]
    assert abs(sum(shares) - 100) <= 1


def test_unknown_bots_are_named(client: TestClient) -> None:
    """The other bots are still compared, and the name is escaped."""
    text = client.get("/compare", params={"bots": "greedy,<b>nobody</b>,random"}).text
    assert "There is no bot called <b><bdi>&lt;b&gt;nobody&lt;/b&gt;</bdi></b>" in text
    assert 'id="met"' in text
    alone = client.get("/compare?bots=nobody-there").text
    assert "There is no bot called" in alone
    assert 'id="figures"' not in alone


def test_compared_bots_are_limited(client: TestClient) -> None:
    """At most four bots are compared. The page names the others, in one parameter or in several."""
    assert "At most" not in client.get("/compare?bots=a1,b1,c1,d1").text
    left_out = "<b><bdi>e1</bdi></b>, <b><bdi>&lt;f&gt;</bdi></b>"
    for query in ("bots=a1,b1,c1,d1,e1,<f>", "bots=a1&bots=b1&bots=c1&bots=d1&bots=e1&bots=<f>"):
        text = client.get(f"/compare?{query}").text
        assert f"You can compare at most 4 bots. Left out: {left_out}." in text
        assert re.findall(r'name="bots" value="([^"]*)"', text) == ["a1", "b1", "c1", "d1"]
