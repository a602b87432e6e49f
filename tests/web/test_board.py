"""The leaderboard's numbers: store, page and API agree."""

import json

import pytest
from fastapi.testclient import TestClient

from arena.store import Store
from tests.web.html import Page
from web.board import PROVISIONAL_DEVIATION, board_of, scale_of
from web.text import clean_name, fixed, percent

LISTS = (None, 2, 3, 4, 5)


def _query(players: int | None) -> str:
    return f"?players={players}" if players else ""


@pytest.mark.parametrize("players", LISTS)
def test_page_and_api_show_the_numbers_of_the_store(
    client: TestClient, store: Store, players: int | None
) -> None:
    """Every column of every line, in every list."""
    standings = store.reads.leaderboard(players or 0)
    answer = client.get(f"/api/v1/leaderboard{_query(players)}")
    assert answer.headers["content-type"] == "application/json"
    data = json.loads(answer.content)
    rows = Page(client.get(f"/{_query(players)}").text).tables[0][1:]
    assert data["players"] == players
    assert len(data["rows"]) == len(rows) == len(standings) == 5
    for standing, api, row in zip(standings, data["rows"], rows, strict=True):
        for name in ("rank", "version", "mean", "deviation", "score", "games", "mean_place"):
            assert api[name] == getattr(standing, name)
        assert (api["bot"], api["author"]) == (clean_name(standing.bot), clean_name(standing.author))
        assert api["win_share"] == (standing.wins / standing.games if standing.games else None)
        assert api["fault_share"] == (standing.faulty / standing.games if standing.games else None)
        assert api["provisional"] == (standing.deviation > PROVISIONAL_DEVIATION)
        provisional = "provisional " if api["provisional"] else ""
        last = standing.last_played
        assert row == [
            str(standing.rank),
            f"{api['bot']}@{standing.version} {provisional}by {api['author']}",
            fixed(standing.score),
            f"{fixed(standing.mean)} ± {fixed(2 * standing.deviation)}",
            "",
            str(standing.games),
            percent(api["win_share"]),
            fixed(standing.mean_place),
            percent(api["fault_share"]),
            last.strftime("%Y-%m-%d %H:%M") if last else "\N{EN DASH}",
        ]


def test_lists_count_their_own_games_only(client: TestClient) -> None:
    """The list of three players knows nothing of games of two."""
    games = {
        players: sum(
            row["games"] for row in client.get(f"/api/v1/leaderboard{_query(players)}").json()["rows"]
        )
        for players in LISTS
    }
    assert games == {None: 8 + 18 + 8, 2: 8, 3: 18, 4: 8, 5: 0}  # seats, not games


def test_the_current_list_is_marked_in_the_tabs(client: TestClient) -> None:
    """One tab is the current page, whatever the list."""
    for players, expected in ((None, "/"), (4, "/?players=4")):
        page = Page(client.get(f"/{_query(players)}").text)
        current = [
            attributes["href"]
            for tag, attributes in page.tags
            if tag == "a" and attributes.get("aria-current") == "page"
        ]
        assert expected in current
        assert set(current) <= {"/", expected}


def test_every_bar_lies_on_the_axis(client: TestClient, store: Store) -> None:
    """μ ± 2σ of everybody is between 0 and 1000, and the drawing says so."""
    board = board_of(store.reads.leaderboard(), None)
    scale = scale_of(board)
    assert scale.low % 5 == scale.high % 5 == 0
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)
    bands = [
        (float(attributes["x"] or 0), float(attributes["width"] or 0))
        for tag, attributes in Page(client.get("/").text).tags
        if tag == "rect" and attributes.get("class") == "band"
    ]
    assert len(bands) == len(board.rows)
    for row, (start, width) in zip(board.rows, bands, strict=True):
        assert start == pytest.approx(scale.at(row.mean - row.spread))
        assert 0 <= start < start + width <= 1000


def test_an_empty_board_has_an_axis_too() -> None:
    """Nothing to draw is no reason to fail."""
    scale = scale_of(board_of((), None))
    assert scale.low < scale.high
