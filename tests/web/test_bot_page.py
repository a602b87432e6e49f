"""A bot's page: its public content, and its owner's actions."""

import re
from itertools import takewhile

import pytest
from fastapi.testclient import TestClient

from arena.protocol.states import BotState
from arena.rules import Rules
from arena.services.owners import MAX_OPPONENTS
from tests.accounts.world import World
from tests.builders import START, add_bots, host_report, play_matches
from tests.db.builders import present
from tests.web.html import Page
from tests.web.people import browser, logged_in
from tests.web.stable import Stable, add_version, bench, disqualify
from web.bots import model
from web.http.rendering import fixed

pytestmark = pytest.mark.usefixtures("stable")

MINE = "/bots/mine"


def test_a_bot_is_found_in_any_case(world: World) -> None:
    """A bot's page redirects to the bot's own spelling. Filters and challenges accept any spelling."""
    visitor = browser(world)
    moved = visitor.get("/bots/MINE?players=3", follow_redirects=False)
    assert (moved.status_code, moved.headers["location"]) == (307, f"{MINE}?players=3")
    for path, name in (
        ("/games?bot=", "mine"),
        ("/api/v1/games?bot=", "mine"),
        (f"{MINE}?opponent=", "greedy"),
    ):
        exact, typed = (
            re.findall(r"\blogged-\d+-\d+", visitor.get(path + spelling).text)
            for spelling in (name, name.upper())
        )
        assert exact
        assert typed == exact
    assert visitor.get("/bots/MINE2").status_code == 404


def forms(page: Page) -> list[str]:
    """Return the targets of the page's forms that change data, without the header's form."""
    return [
        attributes["action"] or ""
        for tag, attributes in page.tags
        if tag == "form" and attributes.get("method") == "post"
    ]


def opponents_of(page: Page) -> list[str | None]:
    """Return the opponents offered by the challenge form."""
    begin = page.tags.index(("datalist", {"id": "whom"})) + 1
    options = takewhile(lambda each: each[0] == "option", page.tags[begin:])
    return [attributes["value"] for _, attributes in options]


def fields_of_opponents(page: Page) -> list[str | None]:
    """Return the values of the form's fields for opponents."""
    return [attributes["value"] for _, attributes in page.tags if attributes.get("list") == "whom"]


def tables(page: Page) -> dict[str, list[list[str]]]:
    """Return the tables of the page of a bot with rated games, by caption."""
    names = ("rating", "curve", "versions", "opponents", "games", "cards", "faults")
    return dict(zip(names, page.tables, strict=False))


def test_a_bots_page_is_public(world: World) -> None:
    """Visitors see the active version's ratings, all versions with their images and hashes, and the games."""
    world.store.bot_states.play_version("mine", 2, START)
    page = Page(browser(world).get(MINE).text)
    told = tables(page)
    rating, versions, games = told["rating"], told["versions"], told["games"]
    (shown,) = [version for version in world.store.bots.versions("mine") if version.playing]
    assert [row[0] for row in rating[1:]] == [
        "All games provisional", "2 players", "3 players", "4 players", "5 players",
    ]  # fmt: skip
    for row, entry in zip(rating[1:], shown.results.values(), strict=True):
        spread = fixed(2 * entry.rating.deviation)
        assert row[1:4] == [
            fixed(entry.rating.mean - 3 * entry.rating.deviation),
            f"{fixed(entry.rating.mean)} ± {spread}",
            str(entry.games),
        ]
    assert [row[0].split()[0] for row in versions[1:]] == ["3", "2", "1"]
    assert [" active" in row[0] for row in versions[1:]] == [False, True, False]
    assert [row[3].split()[0] for row in versions[1:]] == ["0", "1", "2"]
    assert len(games[1:]) == 3
    assert all("mine@" in row[1] for row in games[1:])
    text = browser(world).get(MINE).text
    for version in world.store.bots.versions("mine"):
        assert version.source in text
        assert version.sha256
        assert version.sha256 in text
    assert "/api/v1/bots/mine" in page.links


def test_a_page_begins_with_the_rank(world: World) -> None:
    """The rank is the leaderboard's; a bot off the leaderboard has none."""
    visitor = browser(world)
    board = visitor.get("/api/v1/leaderboard").json()["rows"]
    (mine,) = [row for row in board if row["bot"] == "mine"]
    text = visitor.get(MINE).text
    assert f"<b>Rank {mine['rank']}</b> of {len(board)}" in text
    assert f"Score {fixed(mine['score'])}." in text
    assert (f"likely {mine['rank_best']} to" in text) == (mine["rank_best"] != mine["rank_worst"])
    world.store.bot_states.retire("mine", START)
    assert "<b>Rank" not in visitor.get(MINE).text


def test_games_can_be_filtered_by_version(world: World) -> None:
    """Links filter by version and back; an unknown version has no games."""
    page = Page(browser(world).get(MINE).text)
    assert f"{MINE}?version=1#games" in page.links
    one = Page(browser(world).get(f"{MINE}?version=1").text)
    games = tables(one)["games"][1:]
    assert len(games) == 2
    assert all("mine@1" in row[1] for row in games)
    assert f"{MINE}#games" in one.links
    assert "No games match" in browser(world).get(f"{MINE}?version=9").text


def test_versions_and_games_come_in_pages(
    world: World, stable: Stable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every entry appears once across all pages, and paging one list doesn't change the other."""
    monkeypatch.setattr(model, "VERSIONS_PER_PAGE", 3)
    monkeypatch.setattr(model, "GAMES_PER_PAGE", 4)
    for number in (4, 5):
        add_version(world.store, stable.ann, "mine", number)
    for number in range(2):
        play_matches(world.store, [(stable.versions[0], stable.other)], Rules(players=2), name=f"s{number}")
    visitor = browser(world)
    first = Page(visitor.get(MINE).text)
    older = next(link for link in first.links if link.startswith(f"{MINE}?versions="))
    second = Page(visitor.get(older).text)
    numbers = [int(row[0].split()[0]) for page in (first, second) for row in tables(page)["versions"][1:]]
    assert numbers == [5, 4, 3, 2, 1]
    assert f"{MINE}#versions" in second.links
    both = next(link for link in second.links if "before=" in link)
    assert "versions=" in both
    third = Page(visitor.get(both).text)
    games = [int(row[0]) for page in (second, third) for row in tables(page)["games"][1:]]
    assert games == list(range(7, 0, -1))
    assert tables(third)["versions"] == tables(second)["versions"]


def test_notes_are_for_the_owner_and_operators(world: World) -> None:
    """Others don't see notes, and notes are escaped."""
    for name, sees in ((None, False), ("ben", False), ("ann", True), ("oper", True)):
        visitor = browser(world) if name is None else logged_in(world, name)
        answer = visitor.get(MINE)
        assert ("note of mine@2" in answer.text) == sees, name
        assert "<i>" not in answer.text
        assert answer.headers["cache-control"] == ("no-cache" if name is None else "no-store")


def test_only_its_owner_finds_forms(world: World) -> None:
    """Others see no forms. ``test_authorisation.py`` checks that they can't send them either."""
    for visitor in (browser(world), logged_in(world, "ben"), logged_in(world, "oper")):
        assert forms(Page(visitor.get(MINE).text)) == []


def test_the_owner_chooses_the_version_that_plays(world: World) -> None:
    """The owner switches versions back and forth with one click each, and sees a notice."""
    visitor = logged_in(world, "ann")
    page = Page(visitor.get(MINE).text)
    numbers = [attributes["value"] for tag, attributes in page.tags if attributes.get("name") == "number"]
    assert numbers == ["2", "1"]
    for number in ("1", "3"):
        answer = visitor.post(f"{MINE}/version", data={"number": number})
        assert (answer.status_code, answer.headers["location"]) == (303, f"{MINE}#main")
        assert present(world.store.bots.find("mine")).version == int(number)
        assert f"Version {number} will play from now on" in visitor.get(MINE).text
        assert "will play from now on" not in visitor.get(MINE).text


def test_a_version_that_can_not_play_says_why(world: World) -> None:
    """A version without an image, or an unknown one, is refused, and the active one doesn't change."""
    kept = {version.source for version in world.store.bots.versions("mine") if version.number != 1}
    world.store.bots.record_missing_images(kept | {"sha256:" + "0" * 64}, START)
    visitor = logged_in(world, "ann")
    assert "image removed" in visitor.get(MINE).text
    for number, status, why in (("1", 409, "was removed"), ("7", 422, "has no version 7")):
        answer = visitor.post(f"{MINE}/version", data={"number": number})
        assert answer.status_code == status
        assert why in answer.text
        assert 'role="alert"' in answer.text
    assert visitor.post(f"{MINE}/version", data={"number": "x"}).status_code == 422
    assert present(world.store.bots.find("mine")).version == 3


def test_the_owner_retires_a_bot_and_lets_it_play_again(world: World) -> None:
    """The bot leaves the leaderboard and comes back, as its page shows."""
    visitor = logged_in(world, "ann")
    answer = visitor.post(f"{MINE}/state", data={"state": "retired"})
    assert answer.headers["location"] == f"{MINE}#main"
    assert "The bot has been retired" in visitor.get(MINE).text
    assert "It is off the ladder" in browser(world).get(MINE).text
    assert "mine" not in [standing.bot for standing in world.store.ratings.standings()]
    visitor.post(f"{MINE}/state", data={"state": "active"})
    assert "The bot is active again" in visitor.get(MINE).text
    assert "off the ladder" not in browser(world).get(MINE).text
    assert visitor.post(f"{MINE}/state", data={"state": "benched"}).status_code == 422


def test_a_benched_bot_says_why_and_how_it_comes_back(world: World) -> None:
    """The bot's page and the leaderboard show that it is benched. Its owner can reactivate it."""
    bench(world.store, "mine", "it <b>failed</b>\N{RIGHT-TO-LEFT OVERRIDE}")
    for text in (browser(world).get(MINE).text, logged_in(world, "ann").get(MINE).text):
        assert "<b>Benched</b>" in text
        assert "it &lt;b&gt;failed&lt;/b&gt;\\u202e" in text
    rows = {
        row[1].partition("@")[0]: row[1]
        for row in Page(browser(world).get("/leaderboard").text).tables[0][1:]
    }
    assert [name for name, cell in rows.items() if "benched" in cell] == ["mine"]
    answer = logged_in(world, "ann").post(f"{MINE}/state", data={"state": "active"})
    assert answer.status_code == 303
    assert present(world.store.bots.find("mine")).state is BotState.ACTIVE


def test_a_disqualified_bot_can_do_nothing(world: World) -> None:
    """The bot's page gives the reason, its owner has no forms, and requests are refused."""
    disqualify(world.store, "mine", "it plays for another")
    visitor = logged_in(world, "ann")
    answer = visitor.get(MINE)
    assert "<b>Disqualified</b>" in answer.text
    assert "it plays for another" in answer.text
    assert forms(Page(answer.text)) == []
    for path, fields in (
        ("/version", {"number": "1"}),
        ("/state", {"state": "active"}),
        ("/state", {"state": "retired"}),
    ):
        answer = visitor.post(MINE + path, data=fields)
        assert answer.status_code == 409
        assert 'role="alert"' in answer.text


def test_a_challenge_goes_from_the_form_to_its_page(world: World, stable: Stable) -> None:
    """Opponents are given by name, own versions with a number; empty fields are ignored."""
    visitor = logged_in(world, "ann")
    page = Page(visitor.get(MINE).text)
    offered = opponents_of(page)
    assert offered[:2] == ["mine@2", "mine@1"]
    assert {"greedy", "random", "other"} < set(offered)
    assert len(fields_of_opponents(page)) == MAX_OPPONENTS
    answer = visitor.post(
        f"{MINE}/challenges", data={"opponent": [" Greedy ", "", "MINE@1", ""], "deals": "2"}
    )
    assert answer.status_code == 303, answer.text
    (made,) = world.store.challenges.newest(stable.ann.id)
    assert answer.headers["location"] == f"/challenges/{made.id}"
    assert (made.seats, made.deals) == ((("mine", 3), ("greedy", 1), ("mine", 1)), 2)


def test_the_form_offers_few_of_many_opponents(world: World) -> None:
    """The form offers the leaders, and bots whose names contain the typed text, even without scripts."""
    add_bots(world.store, [(f"crowd-{number:03}", "someone") for number in range(140, 200)])
    visitor = logged_in(world, "ann")
    offered = opponents_of(Page(visitor.get(MINE).text))
    assert {"mine@1", "greedy"} < set(offered)
    assert len(offered) < 60
    assert "crowd-199" not in offered
    answer = visitor.post(f"{MINE}/challenges", data={"opponent": ["wd-19@2", "@", "<"], "deals": "1"})
    assert opponents_of(Page(answer.text))[:10] == [f"crowd-19{digit}" for digit in range(10)]


def test_a_challenge_that_is_refused_keeps_what_was_typed(world: World) -> None:
    """The form shows the reason and the typed values. The API's tests check all reasons."""
    visitor = logged_in(world, "ann")
    refused: tuple[tuple[list[str], str], ...] = (
        (["greedy", "greedy"], "list each version only once"),
        ([], "0 opponents given: choose 1 to 4"),
        (["a\x00b<i>"], "a\\x00b&lt;i&gt;"),
    )
    for opponents, why in refused:
        answer = visitor.post(f"{MINE}/challenges", data={"opponent": opponents, "deals": "3"})
        assert answer.status_code == 422
        assert 'role="alert"' in answer.text
        assert why in answer.text
        page = Page(answer.text)
        typed = fields_of_opponents(page)
        assert typed[: len(opponents)] == [name.replace("\x00", "\\x00") for name in opponents]
        assert ("option", {"value": "3", "selected": None}) in page.tags


def test_challenges_have_a_quota_and_need_a_sandbox(world: World) -> None:
    """The form gives the quota, or the lack of a control, as the reason, without details for operators."""
    visitor = logged_in(world, "ann")
    wanted = {"opponent": "greedy", "deals": "1"}
    for _ in range(3):
        assert visitor.post(f"{MINE}/challenges", data=wanted).status_code == 303
    answer = visitor.post(f"{MINE}/challenges", data=wanted)
    assert (answer.status_code, "the limit is 3. Try again in 24 hours" in answer.text) == (429, True)
    assert answer.headers["retry-after"] == str(24 * 3600)
    world.later(days=2)
    world.store.activity.record_host(host_report("swap"), set())
    answer = logged_in(world, "ann").post(f"{MINE}/challenges", data=wanted)
    assert (answer.status_code, "running submitted bots" in answer.text) == (503, True)
    assert "ARENA_ACCEPT_MISSING" not in answer.text


def test_bots_are_linked_wherever_they_are_named(client: TestClient) -> None:
    """Bots are linked on the leaderboard and in games; invalid names have no page."""
    for path in ("/", "/games", "/games/three-0-0"):
        page = Page(client.get(path).text)
        assert "/bots/greedy" in page.links, path
        assert {link for link in page.links if link.startswith("/bots/")} <= {
            "/bots/greedy", "/bots/random", "/bots/newcomer",
        }  # fmt: skip
