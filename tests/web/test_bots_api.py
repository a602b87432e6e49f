"""The API of bots and versions: public to read, and changed by their owners."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from arena.db.bots import KnownBot
from arena.protocol.states import Scope
from tests.accounts.world import World
from tests.builders import START, add_bots
from tests.db.builders import present
from tests.web.people import browser, logged_in, owner, program, token
from tests.web.stable import Stable, bench, disqualify
from tests.web.test_api import pages, when

MINE = "/api/v1/bots/mine"


def bot(world: World) -> KnownBot:
    """Return the bot from the store."""
    return present(world.store.bots.find("mine"))


def test_bots_are_public(world: World, stable: Stable) -> None:
    """Bots are listed in pages by name, with the reason if a bot is benched."""
    add_bots(world.store, [("<b>bold & co</b>", "eve")])
    bench(world.store, "other", "it was gone 5 times")
    visitor = browser(world)
    listed = [each for page in pages(visitor, "/api/v1/bots?limit=2", "bots") for each in page]
    assert [each["name"] for each in listed] == ["<b>bold & co</b>", "greedy", "mine", "other", "random"]
    assert [each["house"] for each in listed] == [False, True, False, False, True]
    assert listed == visitor.get("/api/v1/bots").json()["bots"]
    assert listed[2:4] == [
        {
            "name": "mine",
            "author": stable.ann.name,
            "house": False,
            "state": "active",
            "reason": None,
            "since": when(START + timedelta(days=3)),
            "version": 3,
            "newest": 3,
            "open_to_people": False,
        },
        {
            "name": "other",
            "author": stable.ben.name,
            "house": False,
            "state": "benched",
            "reason": "it was gone 5 times",
            "since": when(START),
            "version": 1,
            "newest": 1,
            "open_to_people": False,
        },
    ]
    assert visitor.get(MINE).json() == listed[2]
    for address in ("/api/v1/bots/nobody", "/api/v1/bots/nobody/versions", "/api/v1/bots/%00%00"):
        assert visitor.get(address).status_code == 404
    assert visitor.get("/api/v1/bots?after=%00").status_code == 422


def test_versions_are_public(world: World, stable: Stable) -> None:
    """Versions are listed with their origin, whether they can play, and their results in every list."""
    assert stable.versions
    world.store.bot_states.play_version("mine", 2, START)
    known = world.store.bots.versions("mine")
    world.store.bots.record_missing_images({each.source for each in known if each.number > 1}, START)
    listed = [each for page in pages(browser(world), f"{MINE}/versions?limit=2", "versions") for each in page]
    assert listed == browser(world).get(f"{MINE}/versions").json()["versions"]
    assert [(each["number"], each["playing"], each["available"]) for each in listed] == [
        (3, False, True),
        (2, True, True),
        (1, False, False),
    ]
    for each, told in zip(known, listed, strict=True):
        assert (told["image"], told["sha256"], told["size"]) == (each.source, each.sha256, each.size)
        assert told["note"] is None
        assert [result["players"] for result in told["results"]] == [0, 2, 3, 4, 5]
        for result in told["results"]:
            entry = each.results[result.pop("players")]
            assert result == {
                "games": entry.games,
                "wins": entry.wins,
                "mean_place": entry.place_sum / entry.games if entry.games else None,
                "faulty": entry.faulty,
                "mean": entry.rating.mean,
                "deviation": entry.rating.deviation,
                "score": entry.rating.score,
            }
    assert [each["results"][0]["games"] for each in listed] == [0, 1, 2]


def test_a_house_bot_has_no_file(world: World, stable: Stable) -> None:
    """A house bot's version has only an image."""
    assert stable.house
    (told,) = browser(world).get("/api/v1/bots/greedy/versions").json()["versions"]
    assert (told["sha256"], told["size"], told["note"]) == (None, None, None)
    assert told["image"].startswith("sha256:")


def test_notes_are_for_the_owner_and_operators(world: World, stable: Stable) -> None:
    """Reading notes requires the scope read. A matching author's name doesn't make an owner."""
    notes = ["note of mine@3 <i>", "note of mine@2 <i>", "note of mine@1 <i>"]
    nothing = [None] * 3

    def seen(client: TestClient) -> list[str | None]:
        return [each["note"] for each in client.get(f"{MINE}/versions").json()["versions"]]

    assert seen(owner(world, stable.ann)) == seen(logged_in(world, "ann")) == notes
    assert seen(logged_in(world, "oper")) == notes
    assert seen(logged_in(world, "ben")) == seen(browser(world)) == nothing
    assert seen(program(world, token(world, stable.ann, {Scope.SUBMIT}))) == nothing
    assert seen(program(world, token(world, stable.ben, {Scope.READ, Scope.SUBMIT}))) == nothing
    add_bots(world.store, [("handmade", "ann")])
    (handmade,) = owner(world, stable.ann).get("/api/v1/bots/handmade/versions").json()["versions"]
    assert handmade["note"] is None


def test_owners_list_their_own_bots(world: World, stable: Stable) -> None:
    """The list contains only the account's bots."""
    add_bots(world.store, [("handmade", "ann")])
    answer = owner(world, stable.ann).get("/api/v1/account/bots").json()
    assert answer == {"bots": [browser(world).get(MINE).json()], "next": None}
    assert logged_in(world, "oper").get("/api/v1/account/bots").json()["bots"] == []
    assert (
        program(world, token(world, stable.ann, {Scope.SUBMIT})).get("/api/v1/account/bots").status_code
        == 403
    )


def test_owners_choose_what_plays(world: World, stable: Stable) -> None:
    """Owners can choose the version, and retire and reactivate the bot. Each response has its new state."""
    client = owner(world, stable.ann)
    wanted: list[tuple[dict[str, object], tuple[str, int]]] = [
        ({"version": 1}, ("active", 1)),
        ({"version": 3, "state": None}, ("active", 3)),
        ({"state": "retired"}, ("retired", 3)),
        ({"state": "retired"}, ("retired", 3)),
        ({"state": "active"}, ("active", 3)),
        ({"state": "retired"}, ("retired", 3)),
        ({"version": 2}, ("active", 2)),
    ]
    for change, expected in wanted:
        world.later(minutes=1)
        before = bot(world)
        answer = client.patch(MINE, json=change)
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert (told["state"], told["version"]) == expected
        assert (bot(world).state, bot(world).version) == expected
        changed = (before.state, before.version) != expected
        assert bot(world).since == (world.now if changed else before.since)
    bench(world.store, "mine", "it was gone 5 times")
    told = logged_in(world, "ann").patch(MINE, json={"state": "active"}).json()
    assert (told["state"], told["reason"]) == ("active", None)


def test_an_invalid_change_is_refused(world: World, stable: Stable, subtests: pytest.Subtests) -> None:
    """The bot remains unchanged, and the problem says what to do."""
    before = bot(world)
    client = owner(world, stable.ann)
    changes: tuple[object, ...] = (
        {},
        {"version": None, "state": None},
        {"version": 1, "state": "active"},
        {"version": 1, "state": "retired"},
        {"version": 4},
        {"version": 0},
        {"version": 10**30},
        {"version": "first"},
        {"state": "disqualified"},
        {"state": "benched"},
        {"version": 1, "name": "yours"},
        [1],
    )
    for change in changes:
        with subtests.test(change=change):
            answer = client.patch(MINE, json=change)
            assert answer.status_code == 422, answer.text
            assert answer.json()["hint"]
            assert bot(world) == before


def gone(world: World) -> None:
    """Mark the images of all versions except the second as removed."""
    world.store.bots.record_missing_images({world.store.bots.versions("mine")[1].source}, START)


def banned(world: World) -> None:
    """Disqualify the bot."""
    disqualify(world.store, "mine", "it cheated")


@pytest.mark.parametrize(
    ("earlier", "name", "change", "status", "words"),
    [
        (None, "other", {"state": "retired"}, 403, "other belongs to ben"),
        (None, "greedy", {"version": 1}, 403, "greedy belongs to house"),
        (None, "nobody", {"version": 1}, 404, "there is no bot called nobody"),
        (gone, "mine", {"version": 1}, 409, "the image of mine@1 was removed"),
        (gone, "mine", {"state": "active"}, 409, "the image of mine@3 was removed"),
        (banned, "mine", {"state": "active"}, 409, "it cheated"),
        (None, "mine", {"version": 9}, 422, "no version 9: its versions are 1 to 3"),
    ],
)
def test_a_refused_change_changes_nothing(  # noqa: PLR0913, PLR0917 - columns of the table
    world: World,
    stable: Stable,
    earlier: Callable[[World], None] | None,
    name: str,
    change: dict[str, object],
    status: int,
    words: str,
) -> None:
    """The problem says why, and what to do."""
    if earlier:
        earlier(world)
    before = world.store.bots.listed()
    answer = owner(world, stable.ann).patch(f"/api/v1/bots/{name}", json=change)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert words in answer.json()["detail"]
    assert answer.json()["hint"]
    assert world.store.bots.listed() == before


def test_games_are_listed_by_bot_and_version(world: World, stable: Stable) -> None:
    """Games are listed newest first. The next page keeps the filters. A version requires a bot."""
    assert stable.versions
    visitor = browser(world)
    everything = list(pages(visitor, "/api/v1/games?limit=2", "games"))
    assert sum(map(len, everything)) == 3
    assert list(pages(visitor, "/api/v1/games?limit=2&bot=mine", "games")) == everything
    (second,) = pages(visitor, "/api/v1/games?bot=mine&version=2", "games")
    assert [each["game"] for each in second] == ["logged-0-0"]
    first = pages(visitor, "/api/v1/games?bot=mine&version=1&limit=1", "games")
    assert [each["game"] for page in first for each in page] == ["early-0-1", "early-0-0"]
    for nothing in ("bot=mine&version=9", "bot=random", "bot=nobody"):
        assert visitor.get(f"/api/v1/games?{nothing}").json() == {"games": [], "next": None}
    refused = visitor.get("/api/v1/games?version=2")
    assert (refused.status_code, "requires the parameter `bot`" in refused.json()["detail"]) == (422, True)
