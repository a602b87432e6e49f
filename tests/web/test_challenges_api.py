"""The API of challenges: requested by owners, played, and visible to the challenger."""

import json
from collections.abc import Callable

import pytest

from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from tests.accounts.world import World
from tests.builders import START, host_report
from tests.web.people import logged_in, owner
from tests.web.stable import Stable, add_version, disqualify, play_all
from tests.web.test_api import pages, when

MINE = "/api/v1/bots/mine/challenges"


def test_a_challenge_is_requested_and_played(world: World, stable: Stable) -> None:
    """The response lists the entrants and, later, their results. Replays are valid. No rating changes."""
    client = owner(world, stable.ann)
    before = (world.store.games.newest(), world.store.ratings.standings())
    wanted = {"opponents": ["greedy", "mine@1"], "version": 2, "deals": 2}
    answer = client.post(MINE, json=wanted)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    nothing = {"games": 0, "wins": 0, "mean_place": None, "points": None}
    assert answer.headers["Location"] == f"/api/v1/challenges/{made['id']}"
    assert made == {
        "id": made["id"],
        "bot": "mine",
        "version": 2,
        "created": when(world.now),
        "deals": 2,
        "state": "waiting",
        "entrants": [
            {"bot": "mine", "version": 2} | nothing,
            {"bot": "greedy", "version": 1} | nothing,
            {"bot": "mine", "version": 1} | nothing,
        ],
        "games": [],
    }
    assert client.get(answer.headers["Location"]).json() == made
    play_all(world.store)
    done = client.get(answer.headers["Location"]).json()
    assert (done["state"], len(done["games"])) == ("done", 6)
    assert [each["games"] for each in done["entrants"]] == [6, 6, 6]
    for each in done["games"]:
        replay = parse(client.get(f"{answer.headers['Location']}/games/{each['game']}/replay").text)
        assert verify(replay) is None
        assert replay.game == each["game"]
        seats = [(seat["bot"], seat["version"], seat["points"], seat["place"]) for seat in each["seats"]]
        assert seats == [
            (seat.bot, seat.version, points, place)
            for seat, points, place in zip(replay.seats, replay.totals, replay.places, strict=True)
        ]
    assert (world.store.games.newest(), world.store.ratings.standings()) == before


def test_defaults_of_a_challenge(world: World, stable: Stable) -> None:
    """The active version plays, and the number of deals is one."""
    world.store.bot_states.play_version("mine", 2, START)
    made = owner(world, stable.ann).post(MINE, json={"opponents": ["other"], "version": None}).json()
    assert (made["version"], made["deals"]) == (2, 1)
    assert [(each["bot"], each["version"]) for each in made["entrants"]] == [("mine", 2), ("other", 1)]


def test_owners_list_their_own_challenges(world: World, stable: Stable) -> None:
    """Challenges are listed in pages, newest first. Other users and operators see only their own."""
    client = owner(world, stable.ann)
    ids = [client.post(MINE, json={"opponents": ["greedy"]}).json()["id"] for _ in range(3)]
    play_all(world.store)
    whole, first, second = (
        *pages(client, "/api/v1/challenges", "challenges"),
        *pages(client, "/api/v1/challenges?limit=2", "challenges"),
    )
    assert [each["id"] for each in whole] == ids[::-1]
    assert (first, second) == (whole[:2], whole[2:])
    assert whole[0] == client.get(f"/api/v1/challenges/{ids[-1]}").json()
    for name in ("ben", "oper"):
        assert logged_in(world, name).get("/api/v1/challenges").json() == {"challenges": [], "next": None}


def test_a_game_has_to_be_one_of_the_challenge(world: World, stable: Stable) -> None:
    """A game of another challenge isn't found. Other users, even those challenged, can't find it."""
    client = owner(world, stable.ann)
    one, two = (client.post(MINE, json={"opponents": ["other"]}).headers["Location"] for _ in range(2))
    play_all(world.store)
    (game, *_) = client.get(one).json()["games"]
    assert client.get(f"{one}/games/{game['game']}/replay").status_code == 200
    assert client.get(f"{two}/games/{game['game']}/replay").status_code == 404
    assert client.get("/api/v1/challenges/abad1dea").json() == owner(world, stable.ben).get(one).json()


INVALID: tuple[tuple[object, str], ...] = (
    ({}, "opponents: field required"),
    ({"opponents": []}, "opponents"),
    ({"opponents": ["greedy"] * 5}, "opponents"),
    ({"opponents": ["greedy", "greedy"]}, "list each version only once"),
    ({"opponents": ["mine"]}, "list each version only once"),
    ({"opponents": ["nobody"]}, "there is no bot called nobody"),
    ({"opponents": ["greedy@7"]}, "greedy@7 can't play"),
    ({"opponents": ["greedy@first"]}, "give a version number after @, such as greedy@1"),
    ({"opponents": ["\N{SNOWMAN}@"]}, "there is no bot called \N{SNOWMAN}"),
    ({"opponents": ["gr\0edy"]}, "pattern"),
    ({"opponents": ["gr\ud800edy"]}, "unicode"),
    ({"opponents": ["greedy", 7]}, "opponents.1: input should be a valid string"),
    (["greedy"], "body: input should be a valid dictionary"),
    ({"opponents": ["retired"]}, "retired is retired"),
    ({"opponents": ["greedy"], "version": 9}, "mine@9 can't play"),
    ({"opponents": ["greedy"], "version": 0}, "version"),
    ({"opponents": ["greedy"], "deals": 0}, "deals"),
    ({"opponents": ["greedy"], "deals": 7}, "deals"),
    ({"opponents": ["greedy"], "rated": True}, "rated"),
)
"""Challenges that are refused, and words of the reason."""


def test_an_invalid_challenge_is_refused(world: World, stable: Stable, subtests: pytest.Subtests) -> None:
    """The response is 422, and nothing is stored."""
    add_version(world.store, stable.ben, "retired", 1)
    world.store.bot_states.retire("retired", START)
    client = owner(world, stable.ann)
    for wanted, words in INVALID:
        with subtests.test(wanted=wanted):
            # The test client's JSON encoder rejects lone surrogates.
            answer = client.post(
                MINE, content=json.dumps(wanted), headers={"Content-Type": "application/json"}
            )
            assert answer.status_code == 422, answer.text
            assert words in answer.json()["detail"]
            assert answer.json()["hint"]
            assert world.store.challenges.newest(stable.ann.id) == ()


@pytest.mark.parametrize(
    ("earlier", "bot", "status", "words"),
    [
        (None, "other", 403, "other belongs to ben"),
        (None, "nobody", 404, "there is no bot called nobody"),
        (lambda world: disqualify(world.store, "mine", "it cheated"), "mine", 409, "it cheated"),
        (
            lambda world: world.store.activity.record_host(host_report("swap"), ()),
            "mine",
            503,
            "running submitted bots",
        ),
    ],
)
def test_a_forbidden_challenge_is_refused(  # noqa: PLR0913, PLR0917 - columns of the table
    world: World,
    stable: Stable,
    earlier: Callable[[World], None] | None,
    bot: str,
    status: int,
    words: str,
) -> None:
    """The response doesn't say which control the host lacks, since only operators may know."""
    if earlier:
        earlier(world)
    answer = owner(world, stable.ann).post(f"/api/v1/bots/{bot}/challenges", json={"opponents": ["greedy"]})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert words in answer.json()["detail"]
    assert "swap" not in answer.text
    assert world.store.challenges.newest(stable.ann.id) == ()
