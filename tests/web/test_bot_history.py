"""A bot's history on its pages and in the API: curve, opponents, games, cards, picks, faults and queue."""

import re
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from arena.db.audit import NewAuditEntry
from arena.db.histories import RatingCurve, RatingPoint
from arena.ladder.rating import expected
from arena.ladder.rating_events import OVERALL
from arena.ladder.settings import LadderChange
from arena.play.replay.document import parse
from arena.rules import Card, Rules
from tests.accounts.world import World
from tests.builders import START, add_bots, play_matches
from tests.db.builders import add_matches, present
from tests.web.html import Page
from tests.web.people import browser
from tests.web.stable import Stable, disqualify, fill_stable, play_logged
from tests.web.test_bot_page import MINE, tables
from web.bots import model
from web.bots.curve import MAX_POINTS, MAX_ROWS, SIDE, draw
from web.http.rendering import fixed, percent

BY_OPERATOR = NewAuditEntry(at=START, who="terminal:test", what="ladder")


@pytest.fixture
def stable(world: World) -> Stable:
    """Add ann's bot ``mine`` with three versions, other bots, and six matches between them."""
    return world.filled(_fill)


def _fill(world: World) -> Stable:
    stable = fill_stable(world)
    for number in range(6):
        table = (stable.versions[2], stable.other, *stable.house)[: 2 + number % 3]
        play_matches(world.store, [table], Rules(players=len(table)), name=f"m{number}", faults=0.05)
    return stable


@pytest.fixture
def visitor(world: World, stable: Stable) -> TestClient:
    """Return a browser without a session."""
    assert stable.ann
    return browser(world)


def page_of(visitor: TestClient, query: str = "") -> Page:
    """Return the bot's page."""
    answer = visitor.get(MINE + query)
    assert answer.status_code == 200
    assert len(answer.content) < 100_000
    return Page(answer.text)


def version(number: int, games: int) -> RatingCurve:
    """Return the curve of a version whose rating rises and falls."""
    points = tuple(
        RatingPoint(
            games=count,
            ended=START + timedelta(minutes=count) if count else None,
            mean=25 + count % 7,
            deviation=8 / (1 + count / 10),
        )
        for count in range(games + 1)
    )
    return RatingCurve(version=number, created=START, points=points)


def test_a_curve_has_few_points() -> None:
    """The curve has all versions from start to end, side by side and within the drawing."""
    curve = present(draw([version(number, 120 * (number % 3)) for number in range(1, 21)]))
    assert curve.games == sum(120 * (number % 3) for number in range(1, 21))
    paths = [[tuple(map(float, at.split())) for at in line.mean[1:].split("L")] for line in curve.lines]
    assert sum(map(len, paths)) <= MAX_POINTS
    assert len(curve.rows) <= MAX_ROWS + len(paths)
    ends = [0.0, *(path[-1][0] for path in paths)]
    assert [path[0][0] for path in paths] == ends[:-1]
    assert ends[-1] == SIDE
    assert [mark.at for mark in curve.versions] == ends[:-1]
    for line, path in zip(curve.lines, paths, strict=True):
        around = [tuple(map(float, at.split())) for at in line.band[1:-1].split("L")]
        assert len(around) == 2 * len(path)
        assert all(0 <= x <= SIDE and 0 <= y <= SIDE for x, y in around)
    assert [number for number in range(1, 21) if number % 3] == sorted({number for number, _ in curve.rows})


def test_labels_of_versions_do_not_overlap() -> None:
    """All versions are marked, but labels that would overlap are left out."""
    curve = present(draw([version(number, 1) for number in range(1, 3)] + [version(3, 98)]))
    assert [(mark.at, mark.value) for mark in curve.versions] == [(0, 1), (10, None), (20, None)]
    assert [mark.value for mark in curve.counts] == [20, 40, 60, 80, 100]
    assert draw([version(1, 0)]) is None


@pytest.mark.parametrize("players", [None, 3, 5])
def test_the_curve_is_also_a_table(world: World, visitor: TestClient, players: int | None) -> None:
    """The table begins and ends with the curve's ratings. A list without games says that it has none."""
    query = f"?curve={players}" if players else ""
    told = visitor.get(f"/api/v1/bots/mine/ratings{query.replace('curve', 'players')}").json()
    assert told["players"] == players
    played = [each for each in told["ratings"] if each["points"][-1]["games"]]
    page = page_of(visitor, query)
    if players == 5:
        assert played == []
        assert "No rated 5-player games yet" in visitor.get(MINE + query).text
        return
    rows = tables(page)["curve"][1:]
    first, last = played[0]["points"][0], played[-1]["points"][-1]
    for row, point in ((rows[0], first), (rows[-1], last)):
        assert row[1:3] == [
            str(point["games"]), f"{fixed(point['mean'])} ± {fixed(2 * point['deviation'])}",
        ]  # fmt: skip
    (newest,) = world.store.bots.versions("mine", limit=1)
    assert last["mean"] == newest.results[players or 0].rating.mean
    (drawn,) = [attributes for tag, attributes in page.tags if attributes.get("class") == "plot"]
    assert drawn["role"] == "img"
    assert "± " in str(drawn["aria-label"])
    assert [attributes.get("class") for tag, attributes in page.tags].count("mean") >= len(played)


@pytest.mark.parametrize("players", [None, 2])
def test_opponents_are_shown_with_expected_shares(
    world: World, visitor: TestClient, players: int | None
) -> None:
    """Page and API agree with each other and with the list's ratings. A link leads to the common games.

    Expected shares over all games are averages for the numbers of players that the ladder plays.
    """
    world.store.ladder.change(LadderChange(players=(2, 3)), BY_OPERATOR)
    told = visitor.get("/api/v1/bots/mine/opponents", params={"players": players} if players else {}).json()
    assert told["next"] is None
    standings = world.store.ratings.standings(players or OVERALL)
    ratings = {each.bot: each.entry.rating for each in standings}
    chosen = f"&curve={players}" if players else ""
    page = page_of(visitor, f"?{chosen}")
    rows = tables(page)["opponents"][1:]
    assert [row[0] for row in rows] == [each["bot"] for each in told["opponents"]]
    assert {row[0] for row in rows} == {"other", "greedy", "random"}
    for row, each in zip(rows, told["opponents"], strict=True):
        assert each["expected"] == expected(
            ratings["mine"], ratings[each["bot"]], (players,) if players else (2, 3)
        )
        assert each["games"] == each["ahead"] + each["behind"] + each["tied"]
        assert each["share"] == each["ahead"] / (each["ahead"] + each["behind"])
        counts = [str(each[name]) for name in ("games", "ahead", "behind", "tied")]
        assert row[1:6] == [*counts, percent(each["share"])]
        assert row[7] == percent(each["expected"])
        assert f"{MINE}?opponent={each['bot']}{chosen}#games" in page.links
        together = tables(page_of(visitor, f"?opponent={each['bot']}"))["games"][1:]
        assert len(together) == each["games"]
        assert all(f"{each['bot']}@" in row[1] for row in together)


def test_opponents_come_in_pages(
    world: World, stable: Stable, visitor: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page and API list every opponent once."""
    monkeypatch.setattr(model, "OPPONENTS_PER_PAGE", 4)
    names = ["crowd-1", "crowd-2", "crowd-3"]
    for version_id, name in zip(
        add_bots(world.store, [(name, "house") for name in names]), names, strict=True
    ):
        play_matches(world.store, [(stable.versions[2], version_id)], Rules(players=2), name=f"with-{name}")
    page = page_of(visitor)
    found = [row[0] for row in tables(page)["opponents"][1:]]
    (more,) = [link for link in page.links if link.endswith("#opponents") and "opponents=" in link]
    second = page_of(visitor, more.removeprefix(MINE).partition("#")[0])
    found += [row[0] for row in tables(second)["opponents"][1:]]
    assert sorted(found) == sorted([*names, "other", "greedy", "random"])
    assert f"{MINE}#opponents" in second.links
    first = visitor.get("/api/v1/bots/mine/opponents?limit=4").json()
    assert first["next"] == "/api/v1/bots/mine/opponents?limit=4&offset=4"
    rest = visitor.get(first["next"]).json()
    assert [each["bot"] for each in first["opponents"] + rest["opponents"]] == found


def test_games_with_a_disqualified_bot_do_not_count(world: World, visitor: TestClient) -> None:
    """Such games count neither for that bot nor for its opponents."""
    disqualify(world.store, "other", "why")
    told = visitor.get("/api/v1/bots/mine/opponents").json()["opponents"]
    assert "other" not in {each["bot"] for each in told}
    assert visitor.get("/api/v1/bots/other/opponents").json()["opponents"] == []


def test_empty_form_fields_filter_nothing(visitor: TestClient) -> None:
    """Browsers send empty fields too. Filled fields keep their values."""
    everything = tables(page_of(visitor))["games"]
    sent = "?opponent=&version=&players=&place=&min=&max=&fault="
    assert tables(page_of(visitor, sent))["games"] == everything
    page = page_of(visitor, sent.replace("place=", "place=1").replace("opponent=", "opponent=other"))
    games = tables(page)["games"][1:]
    assert 0 < len(games) < len(everything)
    assert all(row[1].startswith("1 mine@") and "other@" in row[1] for row in games)
    assert ("option", {"value": "1", "selected": None}) in page.tags
    assert any(attributes.get("value") == "other" and tag == "input" for tag, attributes in page.tags)
    assert f"{MINE}#games" in page.links


def test_a_search_without_results_says_so(visitor: TestClient) -> None:
    """The page links back to all games."""
    for query in ("min=999", "opponent=nobody-there", "players=5&fault=yes", "version=3&place=5"):
        answer = visitor.get(f"{MINE}?{query}")
        assert "No games match" in answer.text, query
        assert f"{MINE}#games" in Page(answer.text).links, query


def test_cards_are_compared_with_all_bots(visitor: TestClient) -> None:
    """Each kind of card has a row with the bot's share and that of all bots."""
    rows = tables(page_of(visitor))["cards"][1:]
    assert {"Wasabi", "Chopsticks", "Pudding"} < {row[0] for row in rows}
    assert all(row[2].endswith("%") and row[3].endswith("%") for row in rows)
    assert all(int(row[1]) > 0 for row in rows)


def test_a_single_game_is_not_counted(world: World) -> None:
    """The pages of a bot with one game say "last game" instead of "last 1 games"."""
    play_logged(world.store, tuple(add_bots(world.store, [("first", "house"), ("second", "house")])))
    for page in ("/bots/first", "/bots/first/picks"):
        text = browser(world).get(page).text
        assert "last game" in text
        assert "last 1" not in text


def test_faults_link_to_their_decisions(world: World, visitor: TestClient) -> None:
    """Games with faults are listed newest first, with a link to each decision with a fault."""
    page = page_of(visitor)
    rows = tables(page)["faults"][1:]
    games = world.store.histories.records("mine", 10, faulty=True)
    assert [row[0] for row in rows] == [str(game.number) for game in games]
    first = games[0]
    found = [link for link in page.links if link.startswith(f"/games/{first.game}/")]
    own = [step[first.seat] for step in first.record.steps]
    assert len(found) == sum(decision is not None and decision.fault is not None for decision in own)
    assert all(visitor.get(link).status_code == 200 for link in found)
    assert f"{MINE}?fault=yes#games" in page.links


def test_the_queue_is_shown(world: World, stable: Stable, visitor: TestClient) -> None:
    """The page says how many of the bot's matches are waiting, or that none are."""
    assert "This bot has no matches in the queue" in visitor.get(MINE).text
    add_matches(world.store, "q1", stable.house)
    add_matches(world.store, "q2", (stable.versions[2], stable.other))
    text = " ".join(visitor.get(MINE).text.split())
    assert (
        "<b>2</b> matches with this bot are waiting, the first of which is behind <b>2</b> other matches"
        in text
    )


def test_a_bot_without_a_game_has_a_page(world: World, visitor: TestClient) -> None:
    """Every section says that there is nothing yet."""
    add_bots(world.store, [("newcomer", "house")])
    text = visitor.get("/bots/newcomer").text
    for said in (
        "No rated games yet",
        "None yet",
        "No games yet",
        "No decisions yet",
        "No faults in rated games",
    ):
        assert said in text
    assert visitor.get("/api/v1/bots/newcomer/opponents").json()["opponents"] == []
    assert len(visitor.get("/api/v1/bots/newcomer/ratings").json()["ratings"]) == 1
    for path in ("ratings", "opponents"):
        assert visitor.get(f"/api/v1/bots/nobody-there/{path}").status_code == 404


ALL = "&".join(f"with={card.label}" for card in Card)


def first_picks(client: TestClient, bot: str) -> list[tuple[str, int]]:
    """Return a bot's cards in the first turn of each round, from the replays, newest game first."""
    games = client.get(f"/api/v1/games?bot={bot}&limit=100").json()["games"]
    found = []
    for game in games:
        replay = parse(client.get(f"/games/{game['game']}/replay.json").text)
        seat = next(number for number, seat in enumerate(replay.seats) if seat.bot == bot)
        found += [
            (turn.plays[seat][0], turn.round)
            for turn in replay.turns
            if turn.turn == 1 and not turn.standin[seat]
        ]
    return found


def test_the_shares_are_those_of_the_replays(client: TestClient) -> None:
    """Each hand has one pick. Hands can be filtered by the cards they contain."""
    expected = first_picks(client, "greedy")
    text = client.get("/bots/greedy/picks").text
    taken = re.findall(r'class="card k-(\w+) taken"', text)
    assert taken == [card for card, _ in expected[:20]]
    [table] = Page(text).tables
    hands = {row[0]: int(row[1]) for row in table[1:]}
    shares = {row[0]: row[2] for row in table[1:]}
    tempura = sum(card == "tempura" for card, _ in expected)
    assert shares["Tempura"] == f"{round(100 * tempura / hands['Tempura'])}%"
    narrowed = client.get("/bots/greedy/picks?with=tempura&with=wasabi").text
    assert 'value="wasabi" checked' in narrowed
    assert 'href="/bots/greedy/picks">All hands' in narrowed
    shown = re.findall(r'<span class="hand">(.*?)</li>', narrowed, re.DOTALL)
    assert shown
    for hand in shown:
        assert "k-tempura" in hand
        assert "k-wasabi" in hand


def test_unusual_requests(client: TestClient) -> None:
    """Unknown bots are not found, unknown cards are refused, and an unseen hand has no picks."""
    assert client.get("/bots/no-such-bot/picks").status_code == 404
    refused = client.get("/bots/greedy/picks?with=<b>")
    assert refused.status_code == 422
    assert "is not a kind of card" in refused.text
    assert "<b>'" not in refused.text
    assert "No recent hand contained all of these cards." in client.get(f"/bots/greedy/picks?{ALL}").text


def test_without_games_there_is_no_form(client: TestClient) -> None:
    """There are no hands to filter."""
    text = client.get("/bots/newcomer/picks").text
    assert "No games yet" in text
    assert "<form" not in text.partition("<main")[2]
