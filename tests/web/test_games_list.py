"""The list of games: its filters, orders and form."""

import re

import pytest
from fastapi.testclient import TestClient

from arena.db import game_search
from tests.web.html import Page
from tests.web.test_api import pages
from web.games import listing


def listed(text: str) -> list[int]:
    """Return the numbers of the games on a page."""
    return [int(number) for number in re.findall(r'<a href="/games/[^"]+">(\d+)</a></th>', text)]


def test_the_form_matches_the_filters(client: TestClient) -> None:
    """Empty fields filter nothing, and filled ones keep their values."""
    empty = "bot=&author=&players=&points=&margin=&faults=&since=&until=&order=newest"
    assert listed(client.get(f"/games?{empty}").text) == listed(client.get("/games").text)
    typed = {
        "bot": "greedy",
        "author": "house",
        "points": "1",
        "margin": "9",
        "since": "2020-01-01",
        "until": "2030-01-01",
    }
    chosen = {"players": "3", "faults": "no", "order": "highest"}
    text = client.get("/games", params=typed | chosen).text
    fields = {
        attributes.get("name"): attributes.get("value")
        for tag, attributes in Page(text).tags
        if tag == "input"
    }
    assert fields == typed
    for value in chosen.values():
        assert f'<option value="{value}" selected>' in text
    assert listed(text)


def test_headers_sort_the_list(client: TestClient) -> None:
    """A header keeps the filters. The current order is marked, and the header Margin reverses it."""
    text = client.get("/games?players=3&order=closest").text
    heads = dict(re.findall(r'<a href="(/games\?[^"]*)">(Game|Result|Margin)(?=<)', text))
    assert heads == {
        "/games?players=3": "Game",
        "/games?players=3&amp;order=highest": "Result",
        "/games?players=3&amp;order=widest": "Margin",
    }
    assert re.search(r'aria-sort="ascending"><a [^>]*>Margin<span class="way" aria-hidden="true">▴<', text)
    assert text.count("aria-sort") == 1
    widest = client.get("/games?players=3&order=widest").text
    assert re.search(r'aria-sort="descending"><a href="/games\?players=3&amp;order=closest">Margin<', widest)
    assert '<a href="/games?order=closest">Margin</a>' in client.get("/games").text
    most = client.get("/games?players=3&order=highest").text
    assert re.search(r'aria-sort="descending"><a [^>]*>Result<span class="way" aria-hidden="true">▾<', most)
    assert re.findall(r'aria-current="page">([^<]*)</a> ', most) == ["3 players"]
    assert "Most points: " in most
    assert '<a href="/feeds/games">Feed of notable games</a>' in most
    assert '(UTC)</label><input id="since"' in text


@pytest.mark.parametrize("order", ["", "&order=highest"])
def test_older_games_can_be_searched(client: TestClient, monkeypatch: pytest.MonkeyPatch, order: str) -> None:
    """If a search left out older games, the page says which were searched, and links to the next search."""
    whole = listed(client.get(f"/games?players=3{order}").text)
    monkeypatch.setattr(game_search, "WINDOW", 2)
    address, found, said = f"/games?players=3&until=2030-01-01{order}", [], []
    while address:
        text = client.get(address).text
        found += listed(text)
        said += re.findall(
            r"(None of the searched games match|Games \d+ to \d+ were searched|No older)", text
        )
        [address] = re.findall(r'href="([^"]+)" rel="next">Search older games', text) or [""]
        address = address.replace("&amp;", "&")
    assert sorted(found) == sorted(whole) == [5, 6, 7, 8, 9, 10]
    assert said[:2] == ["None of the searched games match", "Games 11 to 12 were searched"]
    assert said[2:5] == [f"Games {first} to {first + 1} were searched" for first in (9, 7, 5)]
    assert said[-1] == "No older"


def told(client: TestClient, address: str) -> list[list[int]]:
    """Return the numbers of the games on each page of the API, starting at an address."""
    return [[game["number"] for game in page] for page in pages(client, address, "games")]


def test_the_api_continues_a_search(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search without matches returns an empty page. In other orders, each search is sorted separately."""
    [whole] = told(client, "/api/v1/games?players=3")
    [most] = told(client, "/api/v1/games?players=3&order=highest")
    monkeypatch.setattr(game_search, "WINDOW", 5)
    found = told(client, "/api/v1/games?players=3&limit=2")
    assert found == [[10, 9], [8, 7], [6, 5], []]
    assert [number for page in found for number in page] == whole
    newer, older = [[game for game in most if (game > 7) is newer] for newer in (True, False)]
    assert told(client, "/api/v1/games?players=3&order=highest&limit=2") == [
        newer[:2],
        newer[2:],
        older[:2],
        older[2:],
        [],
    ]


@pytest.mark.parametrize("order", ["closest", "widest", "highest"])
def test_sorted_lists_have_pages(client: TestClient, monkeypatch: pytest.MonkeyPatch, order: str) -> None:
    """Links to further pages keep the order and the filters, and the last page links to the first."""
    query = f"players=3&faults=no&until=2030-01-01&order={order}"
    whole = listed(client.get(f"/games?{query}").text)
    monkeypatch.setattr(listing, "GAMES_PER_PAGE", 2)
    address, found = f"/games?{query}", []
    while address:
        text = client.get(address).text
        found.append(listed(text))
        links = dict(
            re.findall(r'<a href="(/games[^"]+)"[^>]*>(First page|Next page|Search older games)<', text)
        )
        address = next((at for at, name in links.items() if name == "Next page"), "").replace("&amp;", "&")
        assert not address or all(part in address for part in query.split("&"))
        assert "Search older games" not in links.values()
    assert [len(page) for page in found[:-1]] == [2] * (len(found) - 1)
    assert [game for page in found for game in page] == whole
    assert len(found) > 1
    assert f"/games?{query}".replace("&", "&amp;") in links
    assert re.search(r"<title>Games, [a-z ]+ first, continued ", text)


def test_a_page_past_the_last_says_so(client: TestClient) -> None:
    """Such a page links to the first one. In the API, it is empty."""
    page = Page(text := client.get("/games?players=3&order=highest&after=9999_1").text)
    assert "No more games match." in text
    assert "/games?players=3&order=highest" in page.links
    assert "Next page" not in text
    assert told(client, "/api/v1/games?order=highest&after=9999_1") == [[]]
    assert "Search older games" not in text


def test_a_sorted_page_has_both_more_and_older_games(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a search left out older games, each page of its result links to a search of those games."""
    monkeypatch.setattr(game_search, "WINDOW", 6)
    monkeypatch.setattr(listing, "GAMES_PER_PAGE", 4)
    links = []
    for address in ("/games?order=highest", "/games?order=highest&before=13&after=9999_1"):
        text = client.get(address).text
        assert "Games 7 to 12 were searched" in text
        links.append(re.findall(r'<a href="([^"]+)"( rel="next")?>(Next page|Search older games)<', text))
    assert [name for *_, name in links[0]] == ["Next page", "Search older games"]
    assert [bool(relation) for _, relation, _ in links[0]] == [True, False]
    older = "/games?order=highest&amp;before=7"
    assert links[0][1][0] == older
    assert links[1] == [(older, ' rel="next"', "Search older games")]


def test_pages_and_the_api_agree(client: TestClient) -> None:
    """The same parameters give the same games in the same order."""
    for query in (
        "players=3",
        "order=closest",
        "order=widest",
        "order=comeback",
        "order=highest&players=2",
        "faults=yes",
        "margin=3",
        "author=house",
    ):
        data = client.get(f"/api/v1/games?limit=50&{query}").json()["games"]
        assert [game["number"] for game in data] == listed(client.get(f"/games?{query}").text), query
    first = client.get("/api/v1/games?limit=1&players=3").json()
    assert "players=3" in first["next"]


def test_an_empty_result_says_so(client: TestClient) -> None:
    """The page suggests removing a filter, and links back to all games."""
    for query in ("bot=no-such-bot", "bot=no-such-bot&players=5"):
        text = client.get(f"/games?{query}").text
        assert "No games match. Check the names, or remove a filter." in text
        assert '<a href="/games">All games</a>' in text


@pytest.mark.parametrize(
    "query",
    [
        "players=6",
        "points=ten",
        "margin=-1",
        "faults=maybe",
        "since=yesterday",
        "order=best",
        "bot=a%20b",
        "author=%00",
        "after=best&order=closest",
        "after=1_1",
    ],
)
def test_invalid_parameters_are_refused(client: TestClient, query: str) -> None:
    """Page and API name the parameter."""
    for path in ("/games", "/api/v1/games"):
        answer = client.get(f"{path}?{query}")
        assert answer.status_code == 422
        assert query.partition("=")[0] in answer.text


def test_a_version_can_not_be_combined_with_other_filters(client: TestClient) -> None:
    """Other filters start a search, which can't be filtered by version."""
    answer = client.get("/api/v1/games?bot=greedy&version=1&players=3")
    assert answer.status_code == 422
    assert "version" in answer.json()["detail"]
