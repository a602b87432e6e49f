"""The API of bots' logs, for their owners."""

from itertools import chain, repeat

from fastapi.testclient import TestClient

from arena.db.credentials import KnownAccount
from arena.protocol.states import Scope
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import add_bots, play_matches
from tests.db.builders import present
from tests.db.test_submissions import PLENTY, game, new, qualify
from tests.web.people import logged_in, owner, program, token
from tests.web.stable import LONG_NOTE, NOTE, STDERR, Stable, play_next

LOGGED = "/api/v1/games/logged-0-0/logs"
SUBMISSION = "5ca1ab1e"


def reader(world: World, account: KnownAccount) -> TestClient:
    """Return a program with a token that can read."""
    return program(world, token(world, account, {Scope.READ}))


def test_owners_see_their_own_seat(world: World, stable: Stable) -> None:
    """Owners see output, notes and faults by round and turn, and nothing of other seats."""
    answer = reader(world, stable.ann).get(LOGGED)
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    log = present(world.store.logs.find("logged-0-0"))
    told = answer.json()
    (seat,) = told.pop("seats")
    assert told == {"game": "logged-0-0", "match": "logged-0"}
    made = seat.pop("decisions")
    assert seat == {
        "seat": 1,
        "bot": "mine",
        "version": 2,
        "exit_code": 1,
        "out_of_memory": True,
        "trouble": None,
        "stderr": f"seat 1: {STDERR}",
    }
    assert [(each["round"], each["turn"]) for each in made] == [
        (round_, turn) for round_ in (1, 2, 3) for turn in range(1, Rules(players=3).turns)
    ]
    notes = chain([LONG_NOTE], repeat(NOTE))
    for decision, note, step in zip(made, notes, log.record.steps, strict=False):
        asked = present(step[1])
        assert (decision["fault"], decision["trouble"]) == (asked.fault, asked.trouble)
        assert (decision["note"], decision["millis"]) == (f"seat 1: {note}", asked.millis)
    assert "seat 0: " not in answer.text
    assert "seat 2: " not in answer.text


def test_decisions_without_notes_and_faults_are_left_out(world: World, stable: Stable) -> None:
    """A game without notes and faults has no decisions."""
    (seat,) = reader(world, stable.ben).get("/api/v1/games/early-0-0/logs").json()["seats"]
    assert (seat["bot"], seat["decisions"], seat["stderr"], seat["exit_code"]) == ("other", [], "", None)


def test_operators_see_every_seat(world: World, stable: Stable) -> None:
    """Operators need a session or a token with the scope operate. Their other tokens get a 404."""
    assert stable.house
    session = logged_in(world, "oper")
    told = session.get(LOGGED).json()["seats"]
    assert [(seat["bot"], seat["seat"]) for seat in told] == [("other", 0), ("mine", 1), ("greedy", 2)]
    operator = world.account("oper")
    whole = program(world, token(world, operator, {Scope.READ, Scope.OPERATE}))
    assert whole.get(LOGGED).json()["seats"] == told
    assert reader(world, operator).get(LOGGED).status_code == 404


def test_others_get_the_response_of_an_unknown_game(world: World, stable: Stable) -> None:
    """A matching author name doesn't give access either."""
    (handmade,) = add_bots(world.store, [("handmade", "ann")])
    play_matches(world.store, [(handmade, stable.other)], Rules(players=2), name="strange")
    stranger = reader(world, stable.ann)
    there, nowhere = (stranger.get(f"/api/v1/games/{id_}/logs") for id_ in ("strange-0-0", "never-0-0"))
    assert there.status_code == nowhere.status_code == 404
    assert there.json() == nowhere.json()
    assert reader(world, stable.ben).get("/api/v1/games/strange-0-0/logs").status_code == 200


def test_games_of_a_submission_have_logs(world: World, stable: Stable) -> None:
    """Only the submission's author sees the logs. The bot has no version yet."""
    world.store.submissions.add(new(SUBMISSION, "fresh", "ann", stable.ann.id), PLENTY)
    qualify(world.store, SUBMISSION)
    world.store.submissions.add_game(game("q", SUBMISSION, (stable.house[0], None)), played=0)
    play_next(world.store)
    (seat,) = reader(world, stable.ann).get("/api/v1/games/q-0-0/logs").json()["seats"]
    assert (seat["seat"], seat["bot"], seat["version"]) == (1, "fresh", None)
    assert seat["stderr"] == f"seat 1: {STDERR}"
    assert reader(world, stable.ben).get("/api/v1/games/q-0-0/logs").status_code == 404


def test_games_of_a_challenge_have_logs(world: World, stable: Stable) -> None:
    """The challenger and the challenged owners see their own seats when all matches are over."""
    client = owner(world, stable.ann)
    wanted = {"opponents": ["mine@1", "other"]}
    made = client.post("/api/v1/bots/mine/challenges", json=wanted)
    assert made.status_code == 201, made.text
    address = f"/api/v1/games/{made.json()['id']}-0-0/logs"
    for _ in range(3):
        assert client.get(address).status_code == 404
        play_next(world.store)
    seats = client.get(address).json()["seats"]
    assert [(seat["seat"], seat["bot"], seat["version"]) for seat in seats] == [
        (0, "mine", 3),
        (1, "mine", 1),
    ]
    (seat,) = reader(world, stable.ben).get(address).json()["seats"]
    assert (seat["seat"], seat["bot"]) == (2, "other")
