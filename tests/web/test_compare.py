"""Bots side by side."""

import re

import pytest
from fastapi.testclient import TestClient

from arena.rules import Card
from tests.web.html import Page


def test_without_bots_it_is_a_form(client: TestClient) -> None:
    """With the leaders as suggestions."""
    text = client.get("/compare").text
    assert text.count('name="bots"') == 4
    assert '<option value="greedy">' in text
    assert 'id="figures"' not in text


@pytest.mark.parametrize(
    "query", ["bots=greedy,random", "bots=greedy&bots=random", "bots=+greedy+,&bots=random,greedy"]
)
def test_names_come_in_fields_or_in_a_list(client: TestClient, query: str) -> None:
    """Each is compared once, and stays in the form."""
    text = client.get(f"/compare?{query}").text
    assert re.findall(r'name="bots" value="([^"]*)"', text) == ["greedy", "random", "", ""]
    page = Page(text)
    figures, met, cards = page.tables
    assert [row[0].partition("@")[0] for row in figures[1:]] == ["greedy", "random"]
    assert [row[0] for row in met[1:]] == ["greedy", "random"]
    assert len(cards) == 1 + len(Card)
    for line in (0, 1):
        assert len(re.findall(rf'<path class="line l{line}" d="M[\d. L-]+"/>', text)) == 1
    assert "/bots/greedy" in page.links


def test_figures_are_those_of_the_leaderboard(client: TestClient) -> None:
    """And shares of games together add up to one."""
    rows = {row["bot"]: row for row in client.get("/api/v1/leaderboard").json()["rows"]}
    figures, met, _ = Page(client.get("/compare?bots=greedy,random").text).tables
    for row in figures[1:]:
        known = rows[row[0].partition("@")[0]]
        assert row[1] == str(known["rank"])
        assert row[4] == str(known["games"])
    shares = [int(re.match(r"\d+", cell)[0]) for cell in (met[1][2], met[2][1])]  # type: ignore[index]
    assert abs(sum(shares) - 100) <= 1


def test_what_is_no_bot_is_said(client: TestClient) -> None:
    """The others are compared all the same, and nothing that was typed becomes markup."""
    text = client.get("/compare", params={"bots": "greedy,<b>nobody</b>,random"}).text
    assert "There is no bot called <b><bdi>&lt;b&gt;nobody&lt;/b&gt;</bdi></b>" in text
    assert 'id="met"' in text
    alone = client.get("/compare?bots=nobody-there").text
    assert "There is no bot called" in alone
    assert 'id="figures"' not in alone


def test_there_is_an_end_to_it(client: TestClient) -> None:
    """Four bots at most; more fields than that are refused."""
    text = client.get("/compare?bots=a1,b1,c1,d1,e1").text
    assert re.findall(r'name="bots" value="([^"]*)"', text) == ["a1", "b1", "c1", "d1"]
    assert client.get("/compare?" + "&".join(["bots=greedy"] * 5)).status_code == 422
