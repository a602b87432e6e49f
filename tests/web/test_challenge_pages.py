"""Challenges on the site: the list, a challenge in progress, and its games."""

import re

import pytest

from arena.protocol.challenges import ChallengeSummary
from arena.services.owners import challenge_summary
from tests.accounts.world import World
from tests.builders import START
from tests.db.builders import present
from tests.web.html import Page
from tests.web.people import browser, logged_in
from tests.web.stable import Stable, disqualify, play_all, play_next
from web import challenges
from web.http.rendering import fixed
from web.http.static import STATIC


@pytest.fixture
def path(world: World, stable: Stable) -> str:
    """Create a challenge of two deals by ann, and return its page's path. Nothing has been played yet."""
    assert stable.ann
    answer = logged_in(world, "ann").post(
        "/bots/mine/challenges", data={"opponent": ["greedy", "mine@1"], "deals": "2"}
    )
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def known(world: World, path: str) -> ChallengeSummary:
    """Return a challenge's results."""
    return challenge_summary(present(world.store.challenges.find(path.rpartition("/")[2])))


def test_a_challenge_is_followed_from_waiting_to_played(world: World, path: str) -> None:
    """Games and results appear only after the last match is over."""
    visitor = logged_in(world, "ann")
    text = visitor.get(path).text
    assert ">waiting</span>" in text
    assert f"{STATIC}/live.js" in text
    assert "data-last" not in text
    for _ in range(2):
        play_next(world.store)
        text = visitor.get(path).text
        assert ">in progress</span>" in text
        assert "All 6 games will appear here when the last match is over" in text
        assert known(world, path).games == ()
    play_next(world.store)
    answer = visitor.get(path)
    assert ">played</span>" in answer.text
    assert "<b>6</b> games." in answer.text
    assert "data-live data-last" in answer.text
    assert "live.js" not in answer.text
    assert answer.headers["cache-control"] == "no-store"
    entrants, games = Page(answer.text).tables
    told = known(world, path)
    assert entrants[1][0] == "mine@3 challenger"
    for row, entrant in zip(entrants[1:], told.entrants, strict=True):
        assert row[0].startswith(f"{entrant.bot}@{entrant.version}")
        assert row[1:] == [
            str(entrant.games),
            str(entrant.wins),
            fixed(entrant.mean_place),
            fixed(entrant.points, 1),
        ]
    assert [row[0] for row in games[1:]] == [str(number) for number in range(1, 7)]


def test_a_failed_challenge_says_so(world: World, path: str) -> None:
    """After a disqualification, no more matches are played. The page doesn't say whose fault it was."""
    play_next(world.store)
    disqualify(world.store, "mine", "it plays for another")
    text = logged_in(world, "ann").get(path).text
    assert ">failed</span>" in text
    assert "Games played: <b>2</b> of 6." in text
    assert "data-live data-last" in text


def test_a_game_of_a_challenge_has_its_replay_and_no_ratings(world: World, path: str) -> None:
    """The page has the output of the challenger's bots. Only operators see that of the opponent."""
    play_all(world.store)
    ann, operator = logged_in(world, "ann"), logged_in(world, "oper")
    for line in known(world, path).games:
        address = f"{path}/games/{line.game}"
        assert address in Page(ann.get(path).text).links
        text = ann.get(address).text
        page = Page(text)
        result = page.tables[0]
        assert len(page.tables) == 5
        assert "Ratings" not in text
        assert [row[0] for row in result[1:]] == sorted(str(seat.place) for seat in line.seats)
        assert {"r1t1", "r3t9"} <= set(page.ids)
        own = {seat for seat, each in enumerate(line.seats) if each.bot == "mine"}
        assert {int(seat) for seat in re.findall(r"seat (\d): secret of mine", text)} == own
        assert {int(seat) for seat in re.findall(r"seat (\d): keeping", text)} == own
        for_operators = operator.get(address).text
        assert len(re.findall(r"seat \d: secret of mine", for_operators)) == 3


def test_a_game_is_found_only_in_its_own_challenge(world: World, path: str) -> None:
    """The game is in no other challenge, and not among the rated games. Rated games are in no challenge."""
    visitor = logged_in(world, "ann")
    other = visitor.post("/bots/mine/challenges", data={"opponent": "greedy"}).headers["location"]
    play_all(world.store)
    (game, *_) = known(world, other).games
    assert visitor.get(f"{other}/games/{game.game}").status_code == 200
    for wrong in (game.game, "logged-0-0", "nothing"):
        assert visitor.get(f"{path}/games/{wrong}").status_code == 404
    assert visitor.get(f"/games/{game.game}").status_code == 404


def test_the_list_has_own_challenges_newest_first(
    world: World, stable: Stable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each challenge is listed once across all pages. Even operators don't see other users' challenges."""
    monkeypatch.setattr(challenges, "PER_PAGE", 2)
    assert "No challenges yet" in logged_in(world, "ann").get("/challenges").text
    for number in range(3):
        world.now = START.replace(year=2027, month=1 + number)
        answer = logged_in(world, "ann").post("/bots/mine/challenges", data={"opponent": "greedy"})
        assert answer.status_code == 303
        play_all(world.store)  # the number of open challenges is limited
    visitor = logged_in(world, "ann")
    first = Page(visitor.get("/challenges").text)
    older = next(link for link in first.links if link.startswith("/challenges?before="))
    second = Page(visitor.get(older).text)
    listed = [
        link
        for page in (first, second)
        for link in page.links
        if re.fullmatch(r"/challenges/[0-9a-f]+", link)
    ]
    assert listed == [f"/challenges/{each.id}" for each in world.store.challenges.newest(stable.ann.id)]
    assert [row[1:4] for row in first.tables[0][1:]] == [["played", "mine@3", "greedy@1"]] * 2
    assert "/challenges" in second.links
    assert "No challenges yet" in logged_in(world, "oper").get("/challenges").text
    assert "No older challenges" in visitor.get("/challenges?before=1").text
    assert browser(world).get("/challenges").headers["location"] == "/login?next=/challenges"
