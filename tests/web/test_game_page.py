"""The page of a game: what everybody sees of it, and what only those see whose bots played it."""

import re
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from arena.db.store import Store
from arena.protocol.match import OUT_OF_MEMORY
from arena.protocol.states import Scope
from tests.accounts.world import World
from tests.builders import fill
from tests.web.app import site_of
from tests.web.html import Page
from tests.web.people import browser, logged_in, program, token
from tests.web.stable import disqualify, fill_stable

GAME = "/games/logged-0-0"
PRIVATE = ("secret of mine", "keeping", "sent &lt;nothing", "exit code", "stderr", "private", "bots.css")
"""What is in private parts alone."""


def test_a_game_with_a_disqualified_bot_is_shown_as_not_rated(empty_store: Store) -> None:
    """It keeps its result and its replay; in place of ratings it says why there are none."""
    fill(empty_store)
    client = TestClient(site_of(empty_store))
    rated = Page(client.get("/games/faulty-0-0").text)
    disqualify(empty_store, "<b>bold</b>", "it plays for another")
    answer = client.get("/games/faulty-0-0")
    assert answer.status_code == 200
    assert "<b>Not rated:</b> <bdi>&lt;b&gt;bold&lt;/b&gt;</bdi> was disqualified." in answer.text
    page = Page(answer.text)
    assert page.tables == [rated.tables[0], *rated.tables[3:]]
    assert "Not rated" not in client.get("/games/dummy-0-0").text


@pytest.mark.parametrize(
    ("name", "seats"), [(None, ()), ("cyd", ()), ("ben", (0,)), ("ann", (1,)), ("oper", (0, 1, 2))]
)
def test_logs_are_for_owners_of_seats_and_operators(
    world: World, name: str | None, seats: tuple[int, ...]
) -> None:
    """Each sees those of their own seats and no other; anyone who has none sees that there is a game."""
    world.filled(fill_stable)
    world.add("cyd")
    visitor = browser(world) if name is None else logged_in(world, name)
    answer = visitor.get(GAME)
    assert answer.headers["cache-control"] == ("no-cache" if name is None else "no-store")
    for seat in range(3):
        for text in (f"seat {seat}: secret of mine", f"seat {seat}: keeping", f"exit code {seat}"):
            assert (text in answer.text) == (seat in seats), text
    assert (OUT_OF_MEMORY in answer.text) == (1 in seats)
    assert [text for text in PRIVATE if text in answer.text] == (list(PRIVATE) if seats else [])


def test_nobody_elses_page_depends_on_what_is_private(tmp_path: Path) -> None:
    """Where bots print and note, the page for everybody is the same to the byte as where they are silent."""
    pages = {}
    for silent in (True, False):
        folder = tmp_path / str(silent)
        folder.mkdir()
        with closing(World.at(folder)) as world:
            fill_stable(world, silent=silent)
            pages[silent] = browser(world).get(GAME).content
    assert pages[True] == pages[False]


def test_a_token_opens_nothing_private_in_a_page(world: World) -> None:
    """Programs have the API, which asks for a scope."""
    stable = world.filled(fill_stable)
    secret = token(world, stable.ann, {Scope.SUBMIT})
    answer = program(world, secret).get(GAME)
    assert answer.status_code == 200
    assert not any(text in answer.text for text in PRIVATE)


def test_what_a_bot_says_is_text(world: World) -> None:
    """Whatever it printed or noted: no markup, nothing that acts on a terminal or turns the line around."""
    world.filled(fill_stable)
    text = logged_in(world, "ann").get(GAME).text
    assert "<script>" not in text
    assert "</pre><script>" not in text
    assert "\x1b" not in text
    assert "\\x1b[31m" in text
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text
    assert "keeping &lt;wasabi&gt;\\u202e for squid" in text


def test_notes_stand_below_their_turn(world: World) -> None:
    """Every turn in which the bot was asked has a line of its own, marked as private."""
    world.filled(fill_stable)
    page = Page(logged_in(world, "ann").get(GAME).text)
    log = world.store.logs.find("logged-0-0")
    assert log is not None
    asked = sum(step[1] is not None for step in log.record.steps)
    rows = [row for table in page.tables for row in table if row and "keeping" in row[0]]
    assert len(rows) == asked
    assert all(row[0].startswith("private mine@2:") for row in rows)
    troubles = [row for row in rows if "seat 1 sent <nothing>" in row[0]]
    assert len(troubles) == sum(bool(step[1] and step[1].fault) for step in log.record.steps) > 0


def test_names_at_the_heads_of_the_replay_lead_to_the_bots(world: World) -> None:
    """Of each round's table, and of the end's; the dummy has no page."""
    fill(world.store)
    client = browser(world)
    for game, names in (("dummy-0-0", ["random", "greedy"]), ("three-0-0", ["random", "greedy"])):
        heads = re.findall(
            r'<th scope="col">\s*<a class="botlink" href="/bots/([\w-]+)"', client.get(f"/games/{game}").text
        )
        assert heads == names * 4, game
        assert {client.get(f"/bots/{name}").status_code for name in heads} == {200}


def test_a_match_without_logs_is_shown_as_silent(world: World) -> None:
    """Its owner reads that nothing was printed."""
    fill_stable(world, silent=True)
    text = logged_in(world, "ann").get(GAME).text
    assert "Nothing." in text
    assert "still running at the end" in text


def test_a_long_note_can_be_scrolled_with_the_keyboard(world: World) -> None:
    """It is a stop of its own, and the short ones are none."""
    world.filled(fill_stable)
    page = Page(logged_in(world, "ann").get(GAME).text)
    stops = [attributes for tag, attributes in page.tags if tag == "p" and "tabindex" in attributes]
    assert stops == [{"role": "group", "aria-label": "Private note of mine", "tabindex": "0"}]
