"""Pages for a store with games, for an empty one, and for invalid requests."""

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from fastapi.testclient import TestClient

from arena.db.store import Store, open_store
from arena.ladder.qualification import BENCHING_FAILURES
from arena.platform.text import clean_name
from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import add_bots, play_matches
from tests.db.builders import add_bot, claimed, finished, present
from tests.web.app import site_of, site_over
from tests.web.html import Page, check
from web.games import listing
from web.http.rendering import fixed, signed
from web.http.security import SECURITY_HEADERS
from web.http.static import STATIC

PAGES = (
    "/",
    "/leaderboard",
    "/leaderboard?players=3",
    "/leaderboard?search=o&house=without",
    "/games",
    "/games/three-0-0",
    "/games/dummy-0-1",
    "/games/faulty-0-0",
    "/bots/greedy",
    "/cards",
    "/cards?players=3&sort=-rate",
    "/cards/tempura",
    "/cards/definitions",
    "/status",
)


@pytest.fixture(scope="module")
def followed() -> set[str]:
    """Return a set for the working links, so that each is requested only once."""
    return set()


def test_an_empty_arena_says_so(world: World) -> None:
    """The leaderboard and the list of games say that they are empty."""
    client = TestClient(site_over(world))
    for path in ("/leaderboard", "/leaderboard?players=3"):
        assert "No bots yet" in client.get(path).text
    assert "No games yet" in client.get("/games").text
    assert client.get("/api/v1/leaderboard").json() == {"players": None, "rows": [], "next": None}


def check_headers(answer: httpx2.Response) -> None:
    """Check a response's security headers."""
    for name, value in SECURITY_HEADERS.items():
        assert answer.headers[name] == value
    assert "unsafe" not in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path", ["/games/three-0-0/replay.json", f"{STATIC}/site.css", "/nothing", "/leaderboard?players=9"]
)
def test_every_response_has_the_security_headers(client: TestClient, path: str) -> None:
    """Data, static files and errors have the headers, like all pages."""
    check_headers(client.get(path))


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_sound(client: TestClient, followed: set[str], path: str) -> None:
    """The page is well-formed, complies with the site's policy, and all its links work.

    It has a language, a title, one main heading, a skip link, column headers and unique IDs. It has no inline
    script, style or handler, and loads nothing from other sites. Names are escaped, without bidirectional
    characters. The response has the security headers.
    """
    answer = client.get(path)
    check_headers(answer)
    page = Page(answer.text)
    check(page, "live")
    assert ("html", {"lang": "en"}) in page.tags
    assert "· Kaiten</title>" in answer.text
    assert page.links.index("#main") < page.links.index("/games")
    assert len(answer.content) < 100_000
    assert all("scope" in attributes for tag, attributes in page.tags if tag == "th")
    for mark in ("<script>alert", "<b>bold", "\N{RIGHT-TO-LEFT OVERRIDE}"):
        assert mark not in answer.text
    if path in {"/", "/leaderboard"}:
        assert "&lt;b&gt;bold&lt;/b&gt;" in answer.text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text
    assert all(link.startswith(("/", "#")) for link in page.links)
    for link in {link.split("#", maxsplit=1)[0] for link in page.links} - {""} - followed:
        assert client.get(link).status_code == 200, link
        followed.add(link)


def test_search_engines_find_pages_that_can_be_cached(client: TestClient) -> None:
    """robots.txt names the sitemap, which lists only pages. They may be cached. There is an icon."""
    (sitemap,) = re.findall(r"^Sitemap: (\S+)$", client.get("/robots.txt").text, re.MULTILINE)
    listed = [urlsplit(address).path for address in re.findall("<loc>(.*?)</loc>", client.get(sitemap).text)]
    assert {"/", "/data", "/docs/api", "/bots/greedy"} <= set(listed)
    uncached = set()
    for path in listed:
        if "%" in path:
            continue  # an invalid name of a bot, which no user can choose
        answer = client.get(path, follow_redirects=False)
        assert answer.status_code == 200, path
        assert [tag for tag, _ in Page(answer.text).tags].count("h1") == 1, path
        assert answer.headers["ETag"], path
        if answer.headers["Cache-Control"] != "no-cache":
            uncached.add(path)
    assert uncached == {"/play"}  # it lists the visitor's own games
    assert client.get("/favicon.ico").headers["Content-Type"] == "image/svg+xml"


def test_the_game_page_shows_the_stored_game(client: TestClient, store: Store) -> None:
    """Each seat has place, points, ratings before and after, and the runtime."""
    game = present(store.games.find("faulty-0-0"))
    text = client.get("/games/faulty-0-0").text
    result, overall, by_count = Page(text).tables[:3]
    seats = sorted(game.seats, key=lambda seat: seat.place)
    assert any(seat.faults for seat in seats)
    for seat, row, all_games, these in zip(seats, result[1:], overall[1:], by_count[1:], strict=True):
        name = f"{clean_name(seat.bot)}@{seat.version}"
        assert row[0] == str(seat.place)
        assert row[1].startswith(name)
        assert ("taken over" in row[1]) == seat.taken_over
        assert row[2:] == [str(seat.seat), fixed(seat.points, 0), str(seat.puddings), str(seat.faults)]
        for shown, change in ((all_games, seat.overall), (these, seat.by_count)):
            assert change is not None
            assert shown == [
                name,
                f"{fixed(change.mean_before)} ± {fixed(2 * change.deviation_before)}",
                f"{fixed(change.mean_after)} ± {fixed(2 * change.deviation_after)}",
                signed(change.mean_after - change.mean_before),
            ]
        for fact in (seat.image, seat.runtime, *seat.limits):
            assert fact in text
    assert "4 players, pass both ways" in text


def test_a_bots_folder_is_shown_without_its_path(world: World) -> None:
    """Pages, data and errors show only the name of a folder, which identifies a bot in a plain process."""
    folder = "/home/olga/secret plans/nigiri"
    table = (add_bot(world.store, "mine", source=folder), add_bot(world.store, "other"))
    trouble = f"there is no bot.py in {folder}; a bot's folder must contain one"
    for number in range(BENCHING_FAILURES):
        played = finished(claimed(world.store, table, id_=f"s{number}", deals=1), [(1, 2)], faults=(3, 0))
        failed = tuple(
            replace(report, trouble=trouble) if report.image == folder else report
            for report in played.reports
        )
        assert world.store.results.record(replace(played, reports=failed))
    visitor = TestClient(site_over(world))
    game = world.store.games.newest(limit=1)[0].game
    pages = ("/bots/mine", f"/games/{game}", "/api/v1/bots/mine", "/api/v1/bots/mine/versions")
    for path in (*pages, f"/api/v1/games/{game}"):
        text = visitor.get(path).text
        assert "nigiri" in text
        assert "olga" not in text
        assert "secret plans" not in text
    words = "there is no bot.py in nigiri; a bot's folder must contain one"
    assert words.replace("'", "&#39;") in visitor.get(f"/games/{game}").text
    assert visitor.get("/api/v1/bots/mine/versions").json()["versions"][0]["image"] == "nigiri"
    seat = next(
        seat for seat in visitor.get(f"/api/v1/games/{game}").json()["seats"] if seat["bot"] == "mine"
    )
    assert (seat["image"], seat["trouble"]) == ("nigiri", words)
    assert words in visitor.get("/api/v1/bots/mine").json()["reason"]  # the reason why it was benched


def test_the_replay_is_the_stored_one_and_valid(client: TestClient, store: Store) -> None:
    """The replay's bytes are the same, and it complies with the rules."""
    for number in store.games.newest(limit=100):
        answer = client.get(f"/games/{number.game}/replay.json")
        page = present(store.games.find(number.game))
        assert answer.headers["content-type"] == "application/json"
        assert answer.text == page.replay
        assert verify(parse(answer.text)) is None


def test_every_turn_of_a_replay_is_on_the_page(client: TestClient) -> None:
    """The numbers of cards, stand-in marks and fault marks match."""
    replay = json.loads(client.get("/games/faulty-0-0/replay.json").content)
    text = client.get("/games/faulty-0-0").text
    page = Page(text)
    for turn in replay["turns"]:
        assert f"r{turn['round']}t{turn['turn']}" in page.ids
    assert text.count('<span class="card ') == sum(
        len(play) for turn in replay["turns"] for play in turn["plays"]
    )
    assert text.count(">stand-in</span>") == sum(sum(turn["standin"]) for turn in replay["turns"])
    faults = [fault for turn in replay["turns"] for fault in turn["fault"] if fault]
    assert faults
    assert sum(text.count(f'<span class="tag warn">{fault}</span>') for fault in set(faults)) == len(faults)
    assert replay["seed"] in text


def test_games_come_in_pages(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every game is listed once, newest first, even if new games arrive."""
    monkeypatch.setattr(listing, "GAMES_PER_PAGE", 4)
    versions = add_bots(world.store, [("a", "house"), ("b", "house")])
    for number in range(3):
        play_matches(world.store, [versions], Rules(players=2), name=f"s{number}")
    client = TestClient(site_over(world))
    first = Page(client.get("/games").text)
    seen = [int(row[0]) for row in first.tables[0][1:]]
    play_matches(world.store, [versions], Rules(players=2), name="later")
    older = next(link for link in first.links if link.startswith("/games?before="))
    second = Page(client.get(older).text)
    seen += [int(row[0]) for row in second.tables[0][1:]]
    assert seen == list(range(6, 0, -1))
    assert "/games" in second.links
    assert not any(link.startswith("/games?before") for link in second.links)
    assert "No older games" in client.get("/games?before=1").text


@pytest.mark.parametrize(
    ("path", "status", "names"),
    [
        ("/leaderboard?players=9", 422, "players"),
        ("/leaderboard?players=1", 422, "players"),
        ("/leaderboard?players=all", 422, "players"),
        ("/leaderboard?house=maybe", 422, "house"),
        (f"/leaderboard?search={'x' * 65}", 422, "search"),
        ("/leaderboard?page=0", 422, "page"),
        ("/leaderboard?page=x", 422, "page"),
        (f"/leaderboard?page={2**40}", 422, "page"),
        ("/bots/nobody-there", 404, "no bot with this name"),
        ("/bots/%00", 404, "nothing"),
        (f"/bots/{'x' * 300}", 404, "nothing"),
        ("/bots/greedy?version=0", 422, "version"),
        (f"/bots/greedy?before={10**30}", 422, "before"),
        (f"/bots/greedy?versions={10**12}", 422, "versions"),
        ("/bots/greedy?opponent=%00", 422, "opponent"),
        ("/bots/greedy?place=6", 422, "place"),
        ("/bots/greedy?min=many", 422, "min"),
        ("/bots/greedy?fault=perhaps", 422, "fault"),
        ("/bots/greedy?curve=1", 422, "curve"),
        ("/bots/greedy?opponents=-1", 422, "opponents"),
        ("/bots/nobody/badge.svg", 404, "no bot with this name"),
        ("/bots/%3Cb%3E/badge.svg", 404, "nothing"),
        (f"/bots/{'x' * 99}/badge.svg", 404, "nothing"),
        ("/authors/nobody", 404, "has no bots"),
        (f"/authors/{'a' * 65}", 404, "nothing"),
        ("/authors/%00", 404, "nothing"),
        ("/feeds/bots/nobody", 404, "no bot with this name"),
        ("/feeds/authors/nobody", 404, "has no bots"),
        ("/feeds/nothing", 404, "nothing"),
        ("/cards?sort=luck", 422, "sort"),
        ("/cards?sort=--seen", 422, "sort"),
        ("/cards?players=6", 422, "players"),
        ("/cards/tuna", 404, "no such card"),
        ("/cards/Tempura", 404, "nothing"),
        ("/cards/maki%00", 404, "nothing"),
        ("/games?before=abc", 422, "before"),
        ("/games?before=0", 422, "before"),
        (f"/games?before={10**30}", 422, "before"),
        ("/games/nothing-there", 404, "no game with this id"),
        ("/games/%00", 404, "nothing"),
        (f"/games/{'x' * 500}", 404, "nothing"),
        ("/nothing", 404, "nothing"),
        ("/static/nothing.css", 404, "nothing"),
    ],
)
def test_a_bad_request_gets_an_error_page(client: TestClient, path: str, status: int, names: str) -> None:
    """The page has the site's style, and says what is wrong."""
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert names in answer.text
    assert f'<link rel="stylesheet" href="{STATIC}/site.css">' in answer.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/leaderboard?players=9", 422),
        ("/api/nothing", 404),
        ("/games/nothing/replay.json", 404),
        ("/leaderboard.csv?limit=501", 422),
        ("/cards.csv?players=1", 422),
    ],
)
def test_a_program_gets_errors_as_problem_documents(client: TestClient, path: str, status: int) -> None:
    """The documents have a type, a title, the status, a detail and a hint."""
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert set(problem) == {"type", "title", "status", "detail", "hint"}
    assert problem["status"] == status
    assert all(problem.values())


def test_an_internal_error_reveals_no_details(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error page has the security headers, but not the exception's text."""

    def fail(_players: int, _since: int) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(store.ratings, "changes", fail)
    answer = TestClient(site_of(store), raise_server_exceptions=False).get("/leaderboard")
    assert answer.status_code == 500
    assert "An internal error occurred" in answer.text
    assert "secret detail" not in answer.text
    for name, value in SECURITY_HEADERS.items():
        assert answer.headers[name] == value


def test_an_unreachable_database_is_not_an_internal_error(tmp_path: Path) -> None:
    """The response is 503. The process is healthy, but not ready."""
    database = tmp_path / "arena.sqlite3"
    store = open_store(f"sqlite:///{database}")
    client = TestClient(site_of(store))
    assert client.get("/readyz").text == "ok\n"
    store.close()
    database.unlink()
    database.mkdir()
    for path in ("/", "/readyz"):
        answer = client.get(path)
        assert answer.status_code == 503
        assert "is not responding" in answer.text
        assert str(tmp_path) not in answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert client.get("/healthz").text == "ok\n"
    store.close()
