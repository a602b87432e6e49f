"""Card statistics on the site: the table, a card by turn, the definitions, JSON and CSV."""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from typing import Any

import pytest
from fastapi.testclient import TestClient

from arena.db.store import Store
from arena.ladder.card_table import CardFigures, CardLine, CardTable, WinRate
from arena.rules import Rules
from tests.builders import add_bots, fill, play_matches
from tests.databases import sqlite_store
from tests.web.app import site_of
from tests.web.html import Page
from web.cards import COLUMNS, HEAD, Axis, Order, points, read_cards, share, top_of
from web.http.rendering import card_title


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Yield a store with enough games of two players for intervals, and a few other games."""
    with (
        pytest.MonkeyPatch.context() as patch,
        closing(sqlite_store(tmp_path_factory.mktemp("store") / "arena.sqlite3")) as store,
    ):
        for module in ("arena.ladder.card_table", "web.cards"):
            patch.setattr(f"{module}.FEW", 30)
        fill(store)
        versions = add_bots(store, [("mine", "ann"), ("yours", "ben")])
        for number in range(14):
            play_matches(store, [versions], Rules(players=2), name=f"s{number}")
        yield store


@pytest.fixture(scope="module")
def client(store: Store) -> TestClient:
    """Return a client of the site over this store."""
    return TestClient(site_of(store))


def rows(client: TestClient, path: str) -> list[list[str]]:
    """Return the rows of a page's only table, without the header."""
    (table,) = Page(client.get(path).text).tables
    return table[1:]


@pytest.mark.parametrize("players", [None, 2, 3, 5])
def test_the_table_shows_the_stored_statistics(client: TestClient, store: Store, players: int | None) -> None:
    """Each card has its sample size and its rates. For five players, there are no games yet."""
    table = read_cards(store.cards, players)
    path = f"/cards?players={players}" if players else "/cards"
    if players == 5:
        assert "No 5-player games counted yet" in client.get(path).text
        return
    assert f"<b>{table.games}</b> game" in client.get(path).text
    shown = rows(client, path)
    assert [row[0] for row in shown] == [card_title(line.card) for line in table.cards]
    for row, line in zip(shown, table.cards, strict=True):
        it = line.total
        assert row[1:3] == [f"{it.seen:,}", share(it.take_rate)]
        for cell, rate in zip(row[6:8], (it.won_taken, it.won_passed), strict=True):
            assert cell == (share(rate.value if rate else None))
        if it.difference is None:
            assert row[8] == share(None)
        elif it.few:
            assert row[8] == "few"
        else:
            ends = f"{points(it.difference.low)} to {points(it.difference.high)}"
            assert row[8] == f"{points(it.difference.value)} {ends}"


def test_bars_have_a_text(client: TestClient, store: Store) -> None:
    """Each card's drawing has a label with the rate of every turn."""
    pictures = [
        attributes["aria-label"] or ""
        for tag, attributes in Page(client.get("/cards?players=2").text).tags
        if tag == "svg" and attributes.get("role") == "img"
    ]
    table = read_cards(store.cards, 2)
    assert len(pictures) == len(table.cards)
    for text_, line in zip(pictures, table.cards, strict=True):
        for it in line.turns:
            assert f"{it.turn}: {share(it.take_rate)}" in text_


@pytest.mark.parametrize("column", COLUMNS)
def test_cards_can_be_sorted(client: TestClient, store: Store, column: str) -> None:
    """Cards without a value come last. The header shows the order, and links to the opposite one."""
    value = COLUMNS[column]
    for sort in (column, f"-{column}"):
        answer = client.get("/cards", params={"players": 2, "sort": sort})
        lines = {card_title(line.card): line for line in read_cards(store.cards, 2).cards}
        values = [value(lines[row[0]]) for row in rows(client, f"/cards?players=2&sort={sort}")]
        known = [each for each in values if each is not None]
        assert known
        assert values[: len(known)] == sorted(known, reverse=sort.startswith("-"))
        assert set(values[len(known) :]) <= {None}
        (way,) = [
            attributes["aria-sort"] for _, attributes in Page(answer.text).tags if "aria-sort" in attributes
        ]
        assert way == ("descending" if sort.startswith("-") else "ascending")
        turned = str(Order.read(sort).by(column))
        link = "/cards?players=2" if turned == "card" else f"/cards?players=2&amp;sort={turned}"
        assert f'href="{link}"' in answer.text


def test_a_new_order_begins_with_the_largest() -> None:
    """The order by card begins with the deck's first card instead."""
    assert str(Order().by("seen")) == "-seen"
    assert str(Order("seen").by("seen")) == "-seen"
    assert str(Order("seen", down=True).by("card")) == "card"


@pytest.mark.parametrize("players", [None, 2, 4])
def test_a_card_is_shown_turn_by_turn(client: TestClient, store: Store, players: int | None) -> None:
    """Each turn with a decision has a row. The page links to the neighbouring cards."""
    table = read_cards(store.cards, players)
    line = next(line for line in table.cards if line.card == "maki_2")
    path = f"/cards/maki_2?players={players}" if players else "/cards/maki_2"
    page = Page(client.get(path).text)
    (shown,) = page.tables
    assert len(shown) - 1 == len(line.turns) == Rules(players=players or 2).turns - 1
    for row, it in zip(shown[1:], line.turns, strict=True):
        assert row[0] == f"Turn {it.turn}"
        assert row[1:4] == [f"{it.seen:,}", f"{it.taken:,}", share(it.take_rate)]
    query = f"?players={players}" if players else ""
    assert {f"/cards/maki_1{query}", f"/cards/maki_3{query}", f"/cards{query}"} <= set(page.links)


def test_a_card_without_decisions_has_a_page(client: TestClient) -> None:
    """Soy sauce was in no deck of these games."""
    answer = client.get("/cards/soy_sauce?players=3")
    assert answer.status_code == 200
    assert "<h1>Soy sauce</h1>" in answer.text
    assert "Never seen in 3-player games" in answer.text


def test_small_samples_are_marked(client: TestClient, store: Store) -> None:
    """Shares from small samples are grey and have no interval."""
    of_two, of_four = (client.get(f"/cards?players={players}").text for players in (2, 4))
    assert all(line.total.few for line in read_cards(store.cards, 4).cards)
    assert of_four.count('title="Too few') >= 10
    assert 'class="band"' not in of_four
    clear = [line for line in read_cards(store.cards, 2).cards if not line.total.few]
    assert clear
    assert of_two.count('class="band"') == len(clear)


def test_the_definitions_cover_every_field_of_the_data(client: TestClient) -> None:
    """The definitions cover no other fields."""
    known = {field.name for kind in (CardTable, CardLine, CardFigures, WinRate) for field in fields(kind)}
    text_ = client.get("/cards/definitions").text
    named = set(re.findall(r"<code>(\w+)</code>", text_))
    # Fields that group others, or need no definition.
    assert named | {"players", "cards", "card", "total", "turns", "value"} == known
    assert {name for name in HEAD if re.sub(r"_(low|high|effective)$", "", name) not in known} == set()


@pytest.mark.parametrize("players", [None, 3])
def test_json_and_csv_have_the_same_numbers(client: TestClient, store: Store, players: int | None) -> None:
    """Every number in the JSON is also in the CSV."""
    query = f"?players={players}" if players else ""
    told = client.get(f"/api/v1/cards{query}").json()
    table = read_cards(store.cards, players)
    assert {name: told[name] for name in ("players", "games", "seats", "decisions", "win_rate")} == {
        "players": players,
        "games": table.games,
        "seats": table.seats,
        "decisions": table.decisions,
        "win_rate": table.win_rate,
    }
    answer = client.get(f"/cards.csv{query}")
    assert answer.headers["content-type"].startswith("text/csv")
    expected = [(card["card"], it) for card in told["cards"] for it in (card["total"], *card["turns"])]
    lines = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(lines) == len(expected)
    for line, (card, it) in zip(lines, expected, strict=True):
        assert (line["players"], line["card"]) == (str(players or "all"), card)
        assert line["turn"] == str(it["turn"] or "all")
        assert line["few"] == ("yes" if it["few"] else "no")
        for name in HEAD[3:-1]:
            assert line[name] == cell(it, name), name


def cell(it: dict[str, Any], name: str) -> str:
    """Return the CSV's text for a number in the JSON."""
    whole, _, part = name.rpartition("_")
    if part in {"low", "high", "effective"}:
        value = it[whole] and it[whole][part]
    else:
        value = it[name]["value"] if isinstance(it[name], dict) else it[name]
    return "" if value is None else str(value)


def test_the_axis_of_differences_limits_the_drawing(store: Store) -> None:
    """Zero is in the middle, and values beyond the axis are drawn at its end."""
    axis = Axis(0.2)
    assert (axis.at(-0.2), axis.at(0), axis.at(0.1), axis.at(0.2), axis.at(0.9)) == (0, 500, 750, 1000, 1000)
    assert 0 < top_of(read_cards(store.cards, 2)) <= 1
