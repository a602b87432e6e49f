"""Watching running matches, one round late and without undisclosed data, and Kaiten TV."""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from fastapi.testclient import TestClient

from arena.db.credentials import KnownAccount
from arena.db.live_games import WatchedGame
from arena.db.matches import Claim
from arena.db.store import Store
from arena.play.replay.disclosed import LiveSeat, disclose, encode_disclosed
from arena.protocol.states import Role, Scope
from arena.rules import Rules
from tests.accounts.world import World
from tests.db.builders import START, add_bot, bot_of, claim_one, claimed, finished, new_match
from tests.db.test_challenge_rows import challenge
from tests.db.test_submissions import PLENTY, game, new, qualify
from tests.play.replay.twins import deck_of, play_rounds, twin_of
from tests.soak import many
from tests.watched import show
from tests.web.html import SITE_SCRIPTS, Page, check
from tests.web.people import browser, logged_in, program, token
from web.http.static import STATIC

VIEWS = ("all", "seat:0", "infer:1")
RULES = (Rules(players=3, soy_sauce=True), Rules(players=2, dummy=True))


def watched(world: World) -> Claim:
    """Start a match of two games with three players."""
    return claimed(world.store, [add_bot(world.store, name) for name in ("eel", "tuna", "squid")])


@dataclass(frozen=True)
class Twin:
    """One of two arenas that differ only in what isn't disclosed."""

    world: World
    claim: Claim
    shown: WatchedGame


@pytest.fixture(params=list(itertools.product((1, 2), RULES))[:: many(3, 1)], ids=str)
def twins(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Twin, Twin]]:
    """Yield two arenas with the same disclosed rounds, but different seeds and later deals."""
    rounds, rules = request.param
    deck = deck_of(rules, 11)
    decks = (deck, twin_of(rules, deck, rounds, Random(11)))  # noqa: S311 - reproducible
    made = []
    for number, each in enumerate(decks):
        folder = tmp_path / str(number)
        folder.mkdir()
        world = World.at(folder)
        versions = [add_bot(world.store, f"bot-{seat}") for seat in range(rules.players)]
        seeds = (f"a{number}" * 16, f"b{number}" * 16)
        world.store.queue.add(replace(new_match("s-0", versions), rules=rules, seeds=seeds))
        state, steps = play_rounds(rules, each, rounds, Random(11))  # noqa: S311 - reproducible
        seats = [LiveSeat(bot=f"bot-{seat}", version=1) for seat in range(rules.players)]
        game = disclose(game="s-0-0", state=state, seats=seats, places=(), steps=steps)
        shown = WatchedGame(game=0, rounds=rounds, text=encode_disclosed(game))
        taken = claim_one(world.store)
        assert world.store.live.show("s-0", 1, [shown])
        made.append(Twin(world, taken, shown))
    yield made[0], made[1]
    for twin in made:
        twin.world.close()


def served(twin: Twin) -> dict[str, tuple[int, bytes, dict[str, str]]]:
    """Return all responses about a match: frames, views and data, and the pages that list it."""
    rules = twin.claim.spec.rules
    visitor = browser(twin.world)
    paths = ["/live/s-0", "/api/v1/live/s-0", "/api/v1/live/s-0?game=1", "/", "/status", "/api/v1/status"]
    paths += ["/tv", "/tv/live/s-0/1", "/tv/live/s-0/2"]
    paths += [f"/live/s-0/1/frames.json?view={view}" for view in VIEWS]
    paths += [
        f"/live/s-0/1/{round_number}/{turn}?step={step}&view={view}"
        for round_number in (1, 2, 3)
        for turn in (1, rules.turns)
        for step in ("pick", "reveal", "pass", "score", "end")[:: many(3, 1)]
        for view in VIEWS
    ]
    found = {}
    for path in paths:
        answer = visitor.get(path)
        told = {name: answer.headers.get(name, "") for name in ("location", "content-length")}
        found[path] = (answer.status_code, answer.content, told)
    return found


def test_no_response_reveals_undisclosed_data(twins: tuple[Twin, Twin]) -> None:
    """All bytes of pages, frames and data are independent of the seed and of later deals."""
    one, other = map(served, twins)
    assert one == other
    statuses = {path: status for path, (status, _, _) in one.items()}
    rounds, turns = twins[0].shown.rounds, twins[0].claim.spec.rules.turns
    assert statuses[f"/live/s-0/1/{rounds}/{turns}?step=score&view=all"] == 200
    assert {status for path, status in statuses.items() if path.startswith(f"/live/s-0/1/{rounds + 1}/")} == {
        404
    }
    text = b"".join(content for _, content, _ in one.values())
    for seed in (*twins[0].claim.spec.seeds, *twins[1].claim.spec.seeds):
        assert seed.encode() not in text
    assert b"seed" not in one["/live/s-0/1/frames.json?view=all"][1]


def test_a_match_is_watched_from_its_first_round_to_its_replays(world: World) -> None:
    """Finished rounds of the latest game are shown, then the finished games.

    Once the match is recorded, its frames redirect to the same turns of the replays.
    """
    mine, visitor = watched(world), browser(world)
    soon = visitor.get("/live/s-0")
    assert soon.status_code == 200
    assert "Round 1 is being played" in soon.text
    assert visitor.get("/live/s-0/1/1/1").status_code == 404

    show(world.store, mine, 1)
    assert visitor.get("/live/s-0").headers["location"] == "/live/s-0/1/1/1#autoplay"
    page = visitor.get("/live/s-0/1/1/9?step=score&view=infer:2")
    assert "<b>Round 2 is being played.</b>" in page.text
    assert len(json.loads(visitor.get("/live/s-0/1/frames.json").text)["frames"]) == 27
    show(world.store, mine, 3)
    show(world.store, mine, 1, game=1)
    page = visitor.get("/live/s-0/1/3/9?step=end")
    assert '<a href="/live/s-0/2/1/1#autoplay">Watch game 2</a>' in page.text
    assert visitor.get("/live/s-0").headers["location"] == "/live/s-0/2/1/1#autoplay"

    assert world.store.results.record(finished(mine, [(1, 2, 3)] * 2))
    for frame in ("2/7?step=reveal&view=infer:1", "1/1"):
        answer = visitor.get(f"/live/s-0/2/{frame}")
        assert (answer.status_code, answer.headers["location"]) == (303, f"/games/s-0-1/{frame}")
        assert visitor.get(answer.headers["location"]).status_code == 200
    assert (
        visitor.get("/live/s-0/1/frames.json?view=seat:0").headers["location"]
        == "/games/s-0-0/frames.json?view=seat:0"
    )
    assert visitor.get("/live/s-0/3/1/1").status_code == 404
    over = visitor.get("/live/s-0")
    assert {f"/games/s-0-{number}/1/1" for number in (0, 1)} <= set(Page(over.text).links)


def test_every_finished_frame_is_a_page(world: World) -> None:
    """The page is well-formed, has the views of a replay, and all its links work."""
    mine, visitor = watched(world), browser(world)
    show(world.store, mine, 2)
    for path in ("/live/s-0/1/1/1", "/live/s-0/1/2/9?step=score&view=seat:1", "/live/s-0/1/2/3?view=infer:0"):
        answer = visitor.get(path)
        page = Page(answer.text)
        assert answer.status_code == 200
        assert len(answer.content) < 45_000
        check(page, "viewer-live")
        addresses = sorted({link.split("#", maxsplit=1)[0] for link in page.links if link.startswith("/")})
        for link in addresses[:: many(5, 1)]:
            assert visitor.get(link).status_code in {200, 303}, link
    for path in (
        "/live/s-0/1/3/1",
        "/live/s-0/1/2/9?step=end",
        "/live/s-0/2/1/1",
        "/live/s-0/1/1/1?view=seat:3",
    ):
        assert visitor.get(path).status_code == 404, path


def test_unchanged_pages_are_not_sent_again(world: World) -> None:
    """Pages and data have ETags, which change with every round."""
    mine, visitor = watched(world), browser(world)
    show(world.store, mine, 1)
    tags = {}
    for path in ("/live/s-0/1/1/1", "/api/v1/live/s-0", "/live/s-0/1/frames.json"):
        tags[path] = visitor.get(path).headers["ETag"]
        assert visitor.get(path, headers={"If-None-Match": tags[path]}).status_code == 304
    show(world.store, mine, 2)
    for path, tag in tags.items():
        answer = visitor.get(path, headers={"If-None-Match": tag})
        assert (answer.status_code, answer.headers["ETag"] == tag) == (200, False)


def test_data_for_programs(world: World) -> None:
    """The API has the finished rounds of the latest or another game and, at the end, links to the replays."""
    mine, visitor = watched(world), browser(world)
    address = "/api/v1/live/s-0"
    assert visitor.get(address).json() == {
        "match": "s-0",
        "kind": "rated",
        "state": "running",
        "games": 2,
        "watchable": [],
        "game": None,
        "playing": None,
        "disclosed": None,
        "replays": [],
    }
    show(world.store, mine, 3)
    show(world.store, mine, 1, game=1)
    newest, first = visitor.get(address).json(), visitor.get(f"{address}?game=1").json()
    assert (newest["watchable"], newest["game"], newest["playing"]) == ([1, 2], 2, 2)
    assert (first["game"], first["playing"]) == (1, None)
    assert len(newest["disclosed"]["rounds"]) == 1
    assert newest["disclosed"]["game"] == "s-0-1"
    assert sorted(first["disclosed"]["places"]) != []
    assert world.store.results.record(finished(mine, [(1, 2, 3)] * 2))
    over = visitor.get(address).json()
    assert (over["state"], over["watchable"], over["disclosed"]) == ("done", [], None)
    assert [visitor.get(replay).json()["game"] for replay in over["replays"]] == ["s-0-0", "s-0-1"]
    assert visitor.get("/api/v1/live/nothing").status_code == 404


def test_a_void_attempt_is_not_shown(world: World) -> None:
    """The attempt's rounds disappear. A quarantined match can't be watched."""
    mine, visitor = watched(world), browser(world)
    for attempt in (1, 2, 3):
        show(world.store, mine, 2)
        assert visitor.get("/live/s-0/1/2/1").status_code == 200
        world.store.leases.record_void("s-0", attempt, "engine gone", START)
        assert visitor.get("/live/s-0/1/2/1").status_code == 404
        assert visitor.get("/live/s-0").status_code == (200 if attempt < 3 else 404)
        if attempt < 3:
            assert "This match is waiting" in visitor.get("/live/s-0").text
            mine = claim_one(world.store)
    assert visitor.get("/api/v1/live/s-0").status_code == 404


def test_bots_names_are_escaped(world: World) -> None:
    """Markup is escaped, and bidirectional characters are removed."""
    bots = [add_bot(world.store, name) for name in ("<b>bold</b>", "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe")]
    show(world.store, claimed(world.store, bots), 1)
    text = browser(world).get("/live/s-0/1/1/9?step=score").text
    assert "<b>bold" not in text
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text


@dataclass(frozen=True)
class Private:
    """Unrated matches of a user, and accounts that try to watch them."""

    world: World
    owner: KnownAccount
    other: KnownAccount
    oper: KnownAccount
    claims: dict[str, Claim]


@pytest.fixture
def private(world: World) -> Private:
    """Add a running challenge and a running qualification game."""
    user, other, oper = world.add("user"), world.add("other"), world.add("oper", Role.OPERATOR)
    store = world.store
    mine, opponent = bot_of(store, "mine", user), add_bot(store, "opponent")
    store.challenges.add(challenge("c4", user, (mine, opponent)), max_a_day=9)
    assert store.results.record(finished(claim_one(store), [(1, 2)]))
    claims = {"/challenges/c4": claim_one(store)}  # its second match
    store.submissions.add(new("5a", "third", user.name, user.id), PLENTY)
    qualify(store, "5a")
    store.submissions.add_game(game("q", "5a", (None, opponent)), played=0)
    claims["/submissions/5a"] = claim_one(store)
    for each in claims.values():
        show(store, each, 1)
    return Private(world, user, other, oper, claims)


def test_unrated_matches_are_visible_only_to_their_owner_and_operators(private: Private) -> None:
    """Others get a 404, whatever they request. A token needs the scope read."""
    world = private.world
    scopes = set(Scope) - {Scope.OPERATE}
    sites = {
        browser(world): (404, 404),
        logged_in(world, "user"): (200, 200),
        logged_in(world, "other"): (404, 404),
        logged_in(world, "oper"): (200, 200),
        program(world, token(world, private.owner, {Scope.READ})): (404, 200),
        program(world, token(world, private.owner, {Scope.SUBMIT})): (404, 404),
        program(world, token(world, private.other, scopes)): (404, 404),
        program(world, token(world, private.oper, set(Scope))): (404, 200),
    }
    for visitor, (page, data) in sites.items():
        for taken in private.claims.values():
            match = taken.spec.match
            newest = visitor.get(f"/live/{match}")
            frame = visitor.get(f"/live/{match}/1/1/1")
            frames = visitor.get(f"/live/{match}/1/frames.json")
            told = visitor.get(f"/api/v1/live/{match}")
            assert [newest.status_code, frame.status_code, frames.status_code] == [
                303 if page == 200 else 404,
                page,
                page,
            ]
            assert told.status_code == data
            for answer in (newest, frame, frames, told):
                assert answer.is_success or "opponent" not in answer.text
            if page == 200:
                assert frame.headers["Cache-Control"] == "no-store"
                assert "og:title" not in frame.text


def test_pages_link_to_unrated_matches(private: Private) -> None:
    """The links are on the pages of the challenge and of the submission."""
    visitor = logged_in(private.world, "user")
    for home, taken in private.claims.items():
        assert f"/live/{taken.spec.match}" in Page(visitor.get(home).text).links


def test_frames_of_unrated_matches_lead_to_their_replays(private: Private) -> None:
    """A turn's address redirects to that turn in the private viewer."""
    visitor = logged_in(private.world, "user")
    for home, taken in private.claims.items():
        match = taken.spec.match
        assert private.world.store.results.record(finished(taken, [(1, 2)]))
        answer = visitor.get(f"/live/{match}/1/2/3?step=pass&view=seat:1")
        assert answer.headers["location"] == f"{home}/games/{match}-0/2/3?step=pass&view=seat:1"
        assert visitor.get(answer.headers["location"]).status_code == 200
        told = visitor.get(f"/api/v1/live/{match}").json()
        assert visitor.get(told["replays"][0]).json()["game"] == f"{match}-0"
        assert browser(private.world).get(f"/live/{match}/1/2/3").status_code == 404


def test_a_match_of_a_challenge_is_not_published_before_the_others(private: Private) -> None:
    """No page, replay or log shows a game until all matches with the same deals are over."""
    visitor = logged_in(private.world, "user")
    watched, page = "/live/c4-0", "/challenges/c4"
    hidden = (
        "/live/c4-0/1/1/1",
        "/live/c4-0/1/frames.json",
        f"{page}/games/c4-0-0",
        f"/api/v1{page}/games/c4-0-0/replay",
        "/api/v1/games/c4-0-0/logs",
    )
    assert "still have to be played" in visitor.get(watched).text
    assert visitor.get(f"/api/v1{watched}").json()["replays"] == []
    assert visitor.get(f"/api/v1{page}").json()["games"] == []
    assert {visitor.get(path).status_code for path in hidden} == {404}
    assert private.world.store.results.record(finished(private.claims[page], [(1, 2)]))
    assert "still have to be played" not in visitor.get(watched).text
    assert len(visitor.get(f"/api/v1{page}").json()["games"]) == 2
    assert [visitor.get(path, follow_redirects=True).status_code for path in hidden] == [200] * 5


def test_the_next_table_is_another_running_match_or_the_recorded_games(world: World) -> None:
    """Only a match with a visible round can be watched."""
    mine, visitor = watched(world), browser(world)
    assert visitor.get("/live").headers["location"] == "/games"
    show(world.store, mine, 1)
    assert visitor.get("/live").headers["location"] == "/live/s-0"
    assert visitor.get("/live?after=s-0").headers["location"] == "/games"
    assert visitor.get("/live?after=%20").status_code == 422
    versions = [add_bot(world.store, f"more-{number}") for number in range(3)]
    for number in range(2):
        world.store.queue.add(new_match(f"t-{number}", versions))
        show(world.store, claim_one(world.store), 1)
    seen = ["s-0"]
    for _ in range(3):
        seen.append(visitor.get(f"/live?after={seen[-1]}").headers["location"].removeprefix("/live/"))
    assert seen == ["s-0", "t-0", "t-1", "s-0"]


def next_show(client: TestClient, after: str = "") -> str:
    """Return the address to which Kaiten TV redirects."""
    answer = client.get("/tv", params={"after": after} if after else {}, follow_redirects=False)
    assert answer.status_code == 303
    return answer.headers["location"]


def test_kaiten_tv_shows_every_game_and_starts_over(client: TestClient, store: Store) -> None:
    """Kaiten TV shows each game once, and then the first again.

    After an unknown game, it starts at an arbitrary game.
    """
    first = shown = next_show(client)
    shows = []
    while shown not in shows:
        shows.append(shown)
        shown = next_show(client, shown.rpartition("/")[2])
    assert shown == first
    anywhere = {next_show(client, f"unheard-of-{number}") for number in range(20)}
    assert len(anywhere) > 1
    assert anywhere <= set(shows)
    newest = {f"/tv/games/{game.game}" for game in store.games.newest(limit=20)}
    assert newest <= set(shows)


def test_a_show_leads_to_the_next(client: TestClient) -> None:
    """A show starts with the first frame. A script, or a link without scripts, leads to the next show."""
    text = client.get("/tv/games/faulty-0-0").text
    page = Page(text)
    assert "Round 1, turn 1" in text
    assert "/tv?after=faulty-0-0" in page.links
    scripts = {attributes["src"] for tag, attributes in page.tags if tag == "script"}
    assert scripts == {f"{STATIC}/theme.js", f"{STATIC}/tv.js"} != SITE_SCRIPTS
    assert re.search(r'data-frames="/games/faulty-0-0/frames\.json"', text)


def test_an_unknown_show_is_not_found(client: TestClient) -> None:
    """Unknown games and unknown matches get a 404."""
    assert client.get("/tv/games/nothing-there").status_code == 404
    assert client.get("/tv/live/nothing-there/1").status_code == 404
    assert client.get("/tv", params={"after": "a b"}).status_code == 422


def test_running_matches_come_first(world: World) -> None:
    """A running match is shown from its latest finished round, before the games of recorded matches."""
    claim = claimed(world.store, [add_bot(world.store, name) for name in ("eel", "tuna", "squid")])
    visitor = browser(world)
    assert "Nothing to show yet" in visitor.get("/tv").text
    show(world.store, claim, 2)
    assert visitor.get("/tv").headers["location"] == "/tv/live/s-0/1"
    text = visitor.get("/tv/live/s-0/1").text
    assert "Round 2, turn 1" in text
    assert "<b>Round 3 is being played.</b>" in text
    assert "/tv?after=s-0" in text
    assert "Nothing to show yet" in visitor.get("/tv?after=s-0").text
    assert world.store.results.record(finished(claim, [(1, 2, 3)] * 2))
    assert visitor.get("/tv/live/s-0/1").headers["location"] == "/tv?after=s-0"
    assert visitor.get("/tv?after=s-0").headers["location"].startswith("/tv/games/s-0-")
