"""The leaderboard as a page and as CSV: filters, pages and orders."""

import csv
import io
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient

from arena.db.standings import BoardChanges, RatingRepository
from arena.ladder.rating_events import OVERALL
from arena.ladder.standings import BoardOrder
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import add_bots, play_matches
from tests.db.builders import claimed, finished
from tests.web.app import site_over
from tests.web.html import Page
from tests.web.people import browser, logged_in
from tests.web.test_api import pages
from web.leaderboard.pages import PER_PAGE, as_csv

BOTS = 2 * PER_PAGE + 7


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Yield an arena with many bots. Every third is a house bot, and a few have played."""
    world = World.at(tmp_path_factory.mktemp("crowd"))
    names = [
        (f"bot-{number:03}", "house" if number % 3 == 0 else f"author-{number % 10}")
        for number in range(BOTS)
    ]
    versions = add_bots(world.store, names)
    for number in range(4):
        seated = versions[number * 5 : number * 5 + 5]
        play_matches(world.store, [seated], Rules(players=5), name=f"five-{number}")
    yield world
    world.store.close()


@pytest.fixture(scope="module")
def visitor(crowd: World) -> TestClient:
    """Return a browser without a session."""
    return browser(crowd)


def names(visitor: TestClient, path: str) -> list[str]:
    """Return the names of the bots on a leaderboard page."""
    answer = visitor.get(path)
    assert answer.status_code == 200
    tables = Page(answer.text).tables
    return [row[1].partition("@")[0] for row in tables[0][1:]] if tables else []


def everybody(visitor: TestClient, query: str = "") -> list[str]:
    """Return the names of all bots on all pages of the API's list."""
    found = pages(visitor, f"/api/v1/leaderboard?limit=40&{query}", "rows")
    return [str(row["bot"]) for page in found for row in page]


@pytest.mark.parametrize("query", ["", "players=5", "house=without", "search=author-4", "search=Bot-01"])
def test_all_pages_show_every_bot_once(visitor: TestClient, query: str) -> None:
    """Page, CSV and API list the same bots in the same order, whatever their page sizes."""
    expected = everybody(visitor, query)
    assert len(expected) == len(set(expected)) > 0
    seen: list[str] = []
    path: str | None = f"/leaderboard?{query}"
    while path:
        seen += names(visitor, path)
        page = Page(visitor.get(path).text)
        path = next((a["href"] for tag, a in page.tags if tag == "a" and a.get("rel") == "next"), None)
    assert seen == expected
    table: list[str] = []
    link: str | None = f"/leaderboard.csv?limit=40&{query}"
    while link:
        answer = visitor.get(link)
        table += [line["bot"] for line in csv.DictReader(io.StringIO(answer.text))]
        link = answer.headers["link"][1:].partition(">")[0] if "link" in answer.headers else None
    assert table == expected


def test_bots_can_be_filtered(visitor: TestClient) -> None:
    """A search matches parts of names, in any case. House bots can be excluded. A page may be empty."""
    assert len(everybody(visitor)) == BOTS
    assert len(everybody(visitor, "house=without")) == BOTS - BOTS // 3 - 1
    assert everybody(visitor, "search=%20bot-010%20") == ["bot-010"]
    assert set(everybody(visitor, "search=AUTHOR-4")) == {
        f"bot-{number:03}" for number in range(BOTS) if number % 10 == 4 and number % 3
    }
    assert everybody(visitor, "search=house&house=without") == everybody(visitor, "offset=999") == []
    assert everybody(visitor, "search=%25") == everybody(visitor, "search=_") == []


def test_ranks_are_those_of_the_whole_list(visitor: TestClient) -> None:
    """Filters don't change ranks."""
    ranks = {row["bot"]: row["rank"] for row in visitor.get("/api/v1/leaderboard?limit=500").json()["rows"]}
    narrow = visitor.get("/api/v1/leaderboard?limit=500&house=without&search=1").json()["rows"]
    assert narrow
    assert all(ranks[row["bot"]] == row["rank"] for row in narrow)


def test_links_of_a_page_keep_its_parameters(visitor: TestClient) -> None:
    """Tabs keep the filters and go to the first page.

    Links to other pages keep all parameters. Links to CSV and JSON keep the filters.
    """
    path = "/leaderboard?players=5&house=without&search=bot&page=2"
    asked = {"players": ["5"], "house": ["without"], "search": ["bot"]}
    page = Page(visitor.get(path).text)
    links = [urlsplit(link) for link in page.links]
    queries = [parse_qs(link.query) for link in links if link.path == "/leaderboard" and link.query]
    assert asked in queries
    assert {**asked, "players": ["2"]} in queries
    assert {key: value for key, value in asked.items() if key != "players"} in queries
    assert [parse_qs(link.query) for link in links if link.path == "/leaderboard.csv"] == [asked]
    assert [parse_qs(link.query) for link in links if link.path == "/api/v1/leaderboard"] == [asked]
    fields = {
        attributes.get("name"): attributes.get("value", "")
        for tag, attributes in page.tags
        if tag == "input" and "name" in attributes
    }
    assert fields == {"players": "5", "search": "bot", "house": "without"}


def test_an_empty_page_says_so(visitor: TestClient) -> None:
    """The page says that no bot matches the name, or that there is no such page."""
    assert "No such bots" in visitor.get("/leaderboard?search=nobody").text
    text = visitor.get("/leaderboard?page=99").text
    assert "No such page" in text
    assert "/leaderboard?page=3" in Page(text).links


def test_the_search_text_is_escaped(visitor: TestClient) -> None:
    """Markup is escaped, and invisible characters are removed."""
    text = visitor.get("/leaderboard?search=%22%3E%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE").text
    assert "<script>alert" not in text
    assert "&#34;&gt;&lt;script&gt;" in text
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text


def test_a_full_page_is_small(visitor: TestClient) -> None:
    """A full page is smaller than 80,000 bytes."""
    answer = visitor.get("/leaderboard")
    assert len(names(visitor, "/leaderboard")) == PER_PAGE
    assert len(answer.content) < 80_000


def test_etags_differ_by_caller_and_filter(world: World) -> None:
    """A page for one caller or filter is never mistaken for another."""
    world.add("ann")
    add_bots(world.store, [("bot", "house")])
    ann, nobody = logged_in(world, "ann"), browser(world)
    etags = {
        visitor.get(path).headers["etag"]
        for visitor in (ann, nobody)
        for path in (
            "/",
            "/leaderboard",
            "/leaderboard?players=3",
            "/leaderboard?search=bot",
            "/leaderboard.csv",
        )
    }
    assert len(etags) == 10
    assert ann.get("/leaderboard").headers["cache-control"] == "no-store"
    assert nobody.get("/leaderboard").headers["cache-control"] == "no-cache"
    assert nobody.get("/leaderboard").headers["vary"] == "Cookie, Accept-Encoding"


FORMULAS = (
    *("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1"),
    *(f"{sign}1" for sign in "\uff1d\uff0b\uff0d\uff20"),
    *(f"a{end}{sign}cmd" for end in (",", ";", "|", '"', '","', "; ") for sign in "=+-@"),
)


def test_names_are_not_formulas(world: World) -> None:
    """No cell begins like a formula, wherever a spreadsheet splits the cells."""
    add_bots(world.store, [(name, name) for name in FORMULAS])
    table = list(csv.DictReader(io.StringIO(browser(world).get("/leaderboard.csv").text)))
    for column in ("bot", "author"):
        cells = [line[column] for line in table]
        assert sorted(cell.replace("'", "") for cell in cells) == sorted(name.strip() for name in FORMULAS)
        for cell in cells:
            assert not re.search(r"(^|[,;|\t\"])\s*[-=+@\uff1d\uff0b\uff0d\uff20]", cell), cell


def test_harmless_names_stay_unchanged(world: World) -> None:
    """A sign in the middle of a name is harmless. Negative numbers remain numbers."""
    names = ("xa-b", "xa=b+c@d", "xO'Neill", "xkö_1", "x-")
    versions = add_bots(world.store, [(name, name) for name in names])
    assert world.store.results.record(finished(claimed(world.store, versions), [(1, 2, 3, 4, 5)] * 2))
    table = list(csv.DictReader(io.StringIO(browser(world).get("/leaderboard.csv").text)))
    assert {line["bot"] for line in table} == {line["author"] for line in table} == set(names)
    assert all(float(line["score"]) < 15 for line in table)
    assert as_csv(()).count("\n") == 1


def test_old_links_lead_to_the_leaderboard(client: TestClient) -> None:
    """The leaderboard used to be the front page."""
    answer = client.get("/?players=3", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (308, "/leaderboard?players=3")
    assert client.get("/?players=3").url.path == "/leaderboard"
    assert client.get("/?players=9").status_code == 422


def test_lists_are_read_when_the_site_starts(crowd: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first request then reads only changes, like all later ones."""
    read, asked = RatingRepository.changes, []

    def noted(ratings: RatingRepository, players: int, since: int) -> BoardChanges:
        changes = read(ratings, players, since)
        asked.append((players, len(changes.lines)))
        return changes

    monkeypatch.setattr(RatingRepository, "changes", noted)
    with TestClient(site_over(crowd)) as visitor:
        assert [players for players, lines in asked if lines] == [OVERALL, 2, 3, 4, 5]
        asked.clear()
        assert visitor.get("/leaderboard").status_code == 200
        assert set(asked) == {(OVERALL, 0)}


def sort_value(row: dict[str, Any], order: BoardOrder) -> Any:  # noqa: ANN401 - a number or text
    """Return the value by which a row of the API is sorted."""
    match order:
        case BoardOrder.BOT:
            return row["bot"].casefold()
        case BoardOrder.SCORE | BoardOrder.MEAN if not row["games"]:
            return None
    return row[order]


@pytest.mark.parametrize("reverse", ["no", "yes"])
@pytest.mark.parametrize("order", list(BoardOrder))
def test_rows_can_be_sorted_by_a_column(visitor: TestClient, order: BoardOrder, reverse: str) -> None:
    """Page and API agree. Rows without a value come last, and equal rows are in order of score."""
    query = f"order={order}&reverse={reverse}"
    rows = visitor.get(f"/api/v1/leaderboard?limit=500&{query}").json()["rows"]
    values = [sort_value(row, order) for row in rows]
    present = [value for value in values if value is not None]
    ascends = order.ascends != (reverse == "yes")
    assert present == sorted(present, reverse=not ascends)
    assert values == present + [None] * (len(values) - len(present))
    by_score = [row["bot"] for row in visitor.get("/api/v1/leaderboard?limit=500").json()["rows"]]
    assert sorted(by_score) == sorted(row["bot"] for row in rows)
    for (row, value), (other, next_value) in pairwise(zip(rows, values, strict=True)):
        if value == next_value:
            assert by_score.index(row["bot"]) < by_score.index(other["bot"])
    assert names(visitor, f"/leaderboard?{query}") == [row["bot"] for row in rows[:PER_PAGE]]
    text = visitor.get(f"/leaderboard?{query}").text
    if order is not BoardOrder.MEAN:  # a scale replaces its header
        assert text.count("aria-sort") == text.count("ascending" if ascends else "descending") == 1
    assert f'<option value="{order}" selected>' in text


def test_a_second_click_reverses_the_order(visitor: TestClient) -> None:
    """Another column starts in its usual order, which isn't in addresses."""
    assert "/leaderboard?order=games" in Page(visitor.get("/leaderboard").text).links
    links = Page(visitor.get("/leaderboard?order=fault_share").text).links
    assert "/leaderboard?order=fault_share&reverse=yes" in links
    links = Page(visitor.get("/leaderboard?order=fault_share&reverse=yes").text).links
    assert {"/leaderboard?order=fault_share", "/leaderboard?order=bot"} <= set(links)
    assert visitor.get("/leaderboard?reverse=perhaps").status_code == 422


def test_an_order_is_kept_with_the_other_parameters(visitor: TestClient) -> None:
    """The order is kept across pages, lists and CSV. The default order isn't in addresses."""
    page = Page(visitor.get("/leaderboard?order=games&players=5&house=without").text)
    assert "/leaderboard?players=5&house=without" in page.links
    assert "/leaderboard?house=without&order=games" in page.links
    assert "/leaderboard.csv?players=5&house=without&order=games" in page.links
    sheet = visitor.get("/leaderboard.csv?order=games").text.splitlines()
    assert sheet[1].split(",")[4].strip('"') == names(visitor, "/leaderboard?order=games")[0]
    refused = visitor.get("/leaderboard?order=luck")
    assert (refused.status_code, "order" in refused.text) == (422, True)
