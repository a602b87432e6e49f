"""The leaderboard: numbers in store, page, CSV and API, badges, the head-to-head table, and calibration."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import fields

import pytest
from fastapi.testclient import TestClient

from arena.db.store import Store
from arena.ladder.rating import BETAS, PROVISIONAL_DEVIATION
from arena.platform.text import clean_name
from arena.protocol.leaderboard import Row
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import START, add_bots, play_matches
from tests.db.builders import claimed, finished
from tests.web.html import Page
from tests.web.people import browser
from web.http.rendering import ENVIRONMENT, fixed, millis, percent
from web.leaderboard.cache import Scale
from web.leaderboard.pages import badge_of

LISTS = (None, 2, 3, 4, 5)
NOTHING = "\N{EN DASH}"


def _query(players: int | None) -> str:
    return f"?players={players}" if players else ""


@pytest.mark.parametrize("players", LISTS)
def test_page_and_api_show_the_numbers_of_the_store(
    client: TestClient, store: Store, players: int | None
) -> None:
    """Page, API and store agree in every column of every list."""
    standings = store.ratings.standings(players or 0)
    answer = client.get(f"/api/v1/leaderboard{_query(players)}")
    assert answer.headers["content-type"] == "application/json"
    data = json.loads(answer.content)
    rows = Page(client.get(f"/leaderboard{_query(players)}").text).tables[0][1:]
    assert data["players"] == players
    assert len(data["rows"]) == len(rows) == len(standings) == 5
    for standing, api, row in zip(standings, data["rows"], rows, strict=True):
        entry, rating = standing.entry, standing.entry.rating
        for name in ("rank", "version", "benched", "house"):
            assert api[name] == getattr(standing, name)
        assert (api["bot"], api["author"]) == (clean_name(standing.bot), clean_name(standing.author))
        assert (api["mean"], api["deviation"]) == (rating.mean, rating.deviation)
        assert (api["score"], api["games"]) == (rating.score, entry.games)
        for name, count in (("win_share", entry.wins), ("mean_place", entry.place_sum)):
            assert api[name] == (count / entry.games if entry.games else None)
        assert api["fault_share"] == (entry.faulty / entry.games if entry.games else None)
        assert api["provisional"] == (rating.deviation > PROVISIONAL_DEVIATION)
        assert api["change"] is None
        assert (api["median_millis"] is None) == (entry.games == 0)
        provisional = " provisional" if api["provisional"] else ""
        last = entry.last_played
        best, worst = api["rank_best"], api["rank_worst"]
        between = "" if best is None else f"{best}" if best == worst else f"{best}{NOTHING}{worst}"
        tied = "tied " if api["tied"] else ""
        assert row == [
            f"{standing.rank}{tied}likely {between}" if between else str(standing.rank),
            f"{api['bot']}@{standing.version}{provisional}by {api['author']}",
            f"{fixed(api['score'])}{fixed(rating.mean)} ± {fixed(2 * rating.deviation)}",
            "",
            "new" if entry.games else NOTHING,
            str(entry.games),
            percent(api["win_share"]),
            fixed(api["mean_place"]),
            percent(api["fault_share"]),
            millis(api["median_millis"]) if api["median_millis"] else NOTHING,
            last.strftime("%Y-%m-%d %H:%M") if last else NOTHING,
        ]


@pytest.mark.parametrize("players", LISTS)
def test_the_csv_has_the_data_of_the_api(client: TestClient, players: int | None) -> None:
    """The CSV has the same columns, and no number is rounded."""
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


def test_the_current_list_is_marked_in_the_tabs(client: TestClient) -> None:
    """No other tab is marked. The navigation always marks the leaderboard."""
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
    """The intervals μ ± 2σ of all bots with games are drawn between 0 and 1000."""
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
    # The widths of the bands are proportional to the deviations.
    ratios = [width / row["deviation"] for row, (_, width) in zip(played, bands, strict=True)]
    assert max(ratios) == pytest.approx(min(ratios), rel=0.01)


def test_ratings_below_zero_have_a_minus_sign_on_the_axis() -> None:
    """The axis has the same typographic minus sign as all other numbers."""
    macros = ENVIRONMENT.get_template("_board.html").make_module()
    head = macros.scale_head(Scale(low=-10, high=20))  # type: ignore[attr-defined] # made from the macros
    assert re.findall(r"<text[^>]*>([^<]*)</text>", head) == ["\N{MINUS SIGN}10", "0", "10", "20"]


@pytest.fixture
def visitor(world: World) -> TestClient:
    """Return a browser for an arena with two bots that have played and one that hasn't."""
    versions = add_bots(world.store, [("winner-1", "ann"), ("loser-1", "ben"), ("new-1", "cyd")])
    play_matches(world.store, [versions[:2]] * 1, Rules(players=2), name="two")
    return browser(world)


def test_a_badge_says_what_the_leaderboard_says(visitor: TestClient) -> None:
    """A badge shows the rank and the rating, and has them as text for screen readers."""
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


def test_a_badge_without_a_rank_says_why(world: World, visitor: TestClient) -> None:
    """The reason is that the bot has no rated games yet, or is off the ladder."""
    assert "new-1 on Kaiten: no rated games yet" in visitor.get("/bots/new-1/badge.svg").text
    world.store.bot_states.retire("loser-1", START)
    assert "loser-1 on Kaiten: retired" in visitor.get("/bots/loser-1/badge.svg").text


def test_other_sites_may_embed_and_cache_a_badge(visitor: TestClient) -> None:
    """The badge doesn't depend on cookies, and its Content Security Policy allows no scripts."""
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
    """The width of each part of a badge depends on its text."""
    narrow, wide = (badge_of(bot, None, 0, "retired") for bot in ("illi", "MWMW"))
    assert narrow.label_length < wide.label_length
    assert narrow.value_width == wide.value_width


def test_shares_count_games_of_both_bots(world: World) -> None:
    """Ties count half, so the shares of a pair add up to 100. A pair without games has a dash."""
    versions = add_bots(
        world.store, [("strong-1", "ann"), ("weak-1", "ben"), ("other-1", "cyd"), ("new", "dee")]
    )
    claim = claimed(world.store, versions[:2], deals=4)
    assert world.store.results.record(finished(claim, [(1, 2), (1, 2), (2, 1), (1, 1)]))
    play_matches(world.store, [versions[1:3]], Rules(players=2), name="two")
    table = Page(browser(world).get("/leaderboard/versus").text).tables[0]
    heads = [row[0].split()[1].partition("@")[0] for row in table[1:]]
    assert sorted(heads) == ["other-1", "strong-1", "weak-1"]  # the bot "new" has not played
    cell = {(a, b): table[1 + i][1 + j] for i, a in enumerate(heads) for j, b in enumerate(heads)}
    assert (cell["strong-1", "weak-1"], cell["weak-1", "strong-1"]) == ("62", "38")
    assert (cell["strong-1", "other-1"], cell["other-1", "strong-1"]) == ("\N{EN DASH}", "\N{EN DASH}")
    assert {cell[name, name] for name in heads} == {"itself"}


def test_a_share_is_never_rounded_to_all_and_few_games_have_no_shade(world: World) -> None:
    """99.75% isn't shown as 100. Pairs with fewer than ten games have no colour, as the legend says."""
    versions = add_bots(world.store, [("strong-1", "ann"), ("weak-1", "ben"), ("other-1", "cyd")])
    claim = claimed(world.store, versions[:2], deals=200)
    assert world.store.results.record(finished(claim, [(1, 2)] * 199 + [(1, 1)]))
    play_matches(world.store, [versions[1:]], Rules(players=2), name="two")
    text = browser(world).get("/leaderboard/versus").text
    found = re.findall(r'<td class="number (\w+)" title="(\S+ ahead of \S+):', text)
    shades = {pair: shade for shade, pair in found}
    assert shades["strong-1 ahead of weak-1"] == "shade10"
    assert shades["weak-1 ahead of other-1"] == "few"
    assert re.search(r'title="strong-1 ahead of weak-1[^>]*>&gt;99<', text)
    assert "Grey figures: fewer than 10 games." in text


def test_an_empty_arena_says_so(world: World) -> None:
    """The page has a sentence instead of a table."""
    add_bots(world.store, [("alone", "ann")])
    answer = browser(world).get("/leaderboard/versus")
    assert "No two bots have met yet" in answer.text
    assert "<table" not in answer.text


PAGE = "/leaderboard/calibration"
DATA = f"/api/v1{PAGE}"


def test_page_and_data_have_the_same_numbers(world: World) -> None:
    """There is a table per number of players, and one for consecutive parts of all games."""
    versions = add_bots(world.store, [("one", "ann"), ("two", "ben"), ("three", "cyd")])
    claim = claimed(world.store, versions[:2], deals=4)
    assert world.store.results.record(finished(claim, [(1, 2), (1, 2), (2, 1), (1, 1)]))
    play_matches(world.store, [versions], Rules(players=3), name="three")
    data = browser(world).get(DATA).json()
    assert data["calibration"]["games"] == 6
    assert [(each["players"], each["games"]) for each in data["calibration"]["tables"]] == [(2, 4), (3, 2)]
    two, _, parts = Page(browser(world).get(PAGE).text).tables
    groups = data["calibration"]["tables"][0]["groups"]
    assert [row[:2] for row in two[1:]] == [
        [f"{100 * each['low']:.0f}\N{EN DASH}{100 * each['high']:.0f}%", str(each["pairs"])]
        for each in groups
    ]
    assert sum(each["pairs"] for each in groups) == 4
    assert parts[1][1:3] == ["6", "2"]
    assert data["betas"][0] == {"players": 2, "beta": BETAS[2]}


def test_a_new_match_changes_the_page(world: World) -> None:
    """The page is rendered again after a match, and otherwise only revalidated."""
    versions = add_bots(world.store, [("one", "ann"), ("two", "ben")])
    visitor = browser(world)
    assert "No rated games yet" in visitor.get(PAGE).text
    play_matches(world.store, [versions], Rules(players=2), name="two")
    answer = visitor.get(PAGE)
    assert len(Page(answer.text).tables) == 2
    assert visitor.get(PAGE, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    play_matches(world.store, [versions], Rules(players=2), name="again")
    assert visitor.get(PAGE, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 200
    assert visitor.get(DATA).json()["calibration"]["games"] == 4
