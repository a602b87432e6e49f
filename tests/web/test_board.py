"""The leaderboard's numbers: store, page, CSV and API agree."""

import csv
import io
import json
from dataclasses import fields

import pytest
from fastapi.testclient import TestClient

from arena.db.store import Store
from arena.protocol.documents import Row
from tests.web.html import Page
from web.http.rendering import clean_name, fixed, millis, percent
from web.leaderboard.standings import PROVISIONAL_DEVIATION, scale_of

LISTS = (None, 2, 3, 4, 5)
NOTHING = "\N{EN DASH}"


def _query(players: int | None) -> str:
    return f"?players={players}" if players else ""


@pytest.mark.parametrize("players", LISTS)
def test_page_and_api_show_the_numbers_of_the_store(
    client: TestClient, store: Store, players: int | None
) -> None:
    """Every column of every line, in every list."""
    standings = store.ratings.standings(players or 0)
    answer = client.get(f"/api/v1/leaderboard{_query(players)}")
    assert answer.headers["content-type"] == "application/json"
    data = json.loads(answer.content)
    rows = Page(client.get(f"/leaderboard{_query(players)}").text).tables[0][1:]
    assert data["players"] == players
    assert len(data["rows"]) == len(rows) == len(standings) == 5
    for standing, api, row in zip(standings, data["rows"], rows, strict=True):
        for name in ("rank", "version", "mean", "deviation", "score", "games", "mean_place", "benched"):
            assert api[name] == getattr(standing, name)
        assert (api["bot"], api["author"]) == (clean_name(standing.bot), clean_name(standing.author))
        assert api["win_share"] == (standing.wins / standing.games if standing.games else None)
        assert api["fault_share"] == (standing.faulty / standing.games if standing.games else None)
        assert api["provisional"] == (standing.deviation > PROVISIONAL_DEVIATION)
        assert api["house"] == (standing.author == "house")
        assert api["change"] is None
        assert (api["median_millis"] is None) == (standing.games == 0)
        provisional = " provisional" if api["provisional"] else ""
        last = standing.last_played
        best, worst = api["rank_best"], api["rank_worst"]
        between = "" if best is None else f"{best}" if best == worst else f"{best}{NOTHING}{worst}"
        tied = "tied " if api["tied"] else ""
        assert row == [
            f"{standing.rank}{tied}from {between}" if between else str(standing.rank),
            f"{api['bot']}@{standing.version}{provisional}by {api['author']}",
            f"{fixed(standing.score)}{fixed(standing.mean)} ± {fixed(2 * standing.deviation)}",
            "",
            "new" if standing.games else NOTHING,
            str(standing.games),
            percent(api["win_share"]),
            fixed(standing.mean_place),
            percent(api["fault_share"]),
            millis(api["median_millis"]) if api["median_millis"] else NOTHING,
            last.strftime("%Y-%m-%d %H:%M") if last else NOTHING,
        ]


@pytest.mark.parametrize("players", LISTS)
def test_the_table_for_spreadsheets_is_that_of_the_api(client: TestClient, players: int | None) -> None:
    """The same columns of the same names, and nothing is rounded."""
    answer = client.get(f"/leaderboard.csv{_query(players)}")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="leaderboard.csv"'
    lines = list(csv.DictReader(io.StringIO(answer.text)))
    rows = client.get(f"/api/v1/leaderboard{_query(players)}").json()["rows"]
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        assert list(line) == list(row) == [field.name for field in fields(Row)]
        for name, value in row.items():
            match value:
                case None:
                    assert not line[name]
                case bool():
                    assert line[name] == ("yes" if value else "no")
                case int() | float():
                    assert float(line[name]) == value
                case str():
                    assert line[name].replace("+00:00", "Z") == value


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
    for players, expected in ((None, "/leaderboard"), (4, "/leaderboard?players=4")):
        page = Page(client.get(f"/leaderboard{_query(players)}").text)
        current = [
            attributes["href"]
            for tag, attributes in page.tags
            if tag == "a" and attributes.get("aria-current") == "page"
        ]
        assert expected in current
        assert set(current) <= {"/leaderboard", expected}


@pytest.mark.parametrize("path", ["/", "/leaderboard", "/leaderboard?players=3"])
def test_every_bar_lies_on_the_axis(client: TestClient, path: str) -> None:
    """μ ± 2σ of everybody who has played is between 0 and 1000, and the drawing says so."""
    query = path.partition("?")[2]
    rows = client.get(f"/api/v1/leaderboard?{query}").json()["rows"]
    played = [row for row in rows if row["games"]]
    tags = Page(client.get(path).text).tags
    bands = [
        (float(attributes["x"] or 0), float(attributes["width"] or 0))
        for tag, attributes in tags
        if tag == "rect" and attributes.get("class") == "band"
    ]
    ticks = [float(attributes["x"] or 0) for tag, attributes in tags if tag == "text"]
    assert len(bands) == len(played) == 4
    assert len(ticks) > 1
    assert all(0 <= tick <= 1000 for tick in ticks)
    for start, width in bands:
        assert 0 <= start < start + width <= 1000
    # The bands are to scale: as wide as the deviations are large.
    ratios = [width / row["deviation"] for row, (_, width) in zip(played, bands, strict=True)]
    assert max(ratios) == pytest.approx(min(ratios), rel=0.01)


def test_an_empty_board_has_an_axis_too() -> None:
    """Nothing to draw is no reason to fail."""
    scale = scale_of(())
    assert scale.low < scale.high
