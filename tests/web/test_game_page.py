"""The page of a game: its public content, and what only the owners of its bots see."""

import random
import re
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from arena.protocol.match import OUT_OF_MEMORY, RuntimeName
from arena.protocol.states import Scope
from tests.accounts.world import World
from tests.builders import START, finish
from tests.db.builders import new_match
from tests.web.html import Page
from tests.web.people import browser, logged_in, program, token
from tests.web.stable import disqualify, fill_games, fill_stable

GAME = "/games/logged-0-0"
PRIVATE = ("secret of mine", "keeping", "sent &lt;nothing", "Exit code", "stderr", "private", "bots.css")
"""Text that is only in private parts of the page."""


def test_a_game_with_a_disqualified_bot_is_shown_as_not_rated(world: World) -> None:
    """The game keeps its result and its replay. The reason replaces the ratings."""
    world.filled(fill_games)
    visitor = browser(world)
    rated = Page(visitor.get("/games/faulty-0-0").text)
    disqualify(world.store, "<b>bold</b>", "it plays for another")
    answer = visitor.get("/games/faulty-0-0")
    assert answer.status_code == 200
    assert "<b>Not rated:</b> <bdi>&lt;b&gt;bold&lt;/b&gt;</bdi> was disqualified." in answer.text
    page = Page(answer.text)
    assert page.tables == [rated.tables[0], *rated.tables[3:]]
    assert "Not rated" not in visitor.get("/games/dummy-0-0").text


WHO_SEES: tuple[tuple[str | None, tuple[int, ...]], ...] = (
    (None, ()),
    ("cyd", ()),
    ("ben", (0,)),
    ("ann", (1,)),
    ("oper", (0, 1, 2)),
)
"""Users, and the seats whose logs they see."""


def test_logs_are_for_owners_of_seats_and_operators(world: World, subtests: pytest.Subtests) -> None:
    """Owners see only the logs of their own seats. Others don't see that there are logs."""
    world.filled(fill_stable)
    world.add("cyd")
    for name, seats in WHO_SEES:
        with subtests.test(name or "nobody"):
            visitor = browser(world) if name is None else logged_in(world, name)
            answer = visitor.get(GAME)
            assert answer.headers["cache-control"] == ("no-cache" if name is None else "no-store")
            for seat in range(3):
                for text in (
                    f"seat {seat}: secret of mine",
                    f"seat {seat}: keeping",
                    f"<dt>Exit code</dt><dd>{seat}",
                ):
                    assert (text in answer.text) == (seat in seats), text
            assert (OUT_OF_MEMORY in answer.text) == (1 in seats)
            assert [text for text in PRIVATE if text in answer.text] == (list(PRIVATE) if seats else [])


def test_the_public_page_does_not_depend_on_private_logs(tmp_path: Path) -> None:
    """With and without output and notes, the page for others has the same bytes."""
    pages = {}
    for silent in (True, False):
        folder = tmp_path / str(silent)
        folder.mkdir()
        with closing(World.at(folder)) as world:
            fill_stable(world, silent=silent)
            pages[silent] = browser(world).get(GAME).content
    assert pages[True] == pages[False]


def test_a_token_shows_nothing_private_on_a_page(world: World) -> None:
    """Programs use the API, which checks the token's scope."""
    stable = world.filled(fill_stable)
    secret = token(world, stable.ann, {Scope.SUBMIT})
    answer = program(world, secret).get(GAME)
    assert answer.status_code == 200
    assert not any(text in answer.text for text in PRIVATE)


def test_output_and_notes_are_escaped(world: World) -> None:
    """The page shows no markup, control characters or bidirectional characters from bots."""
    world.filled(fill_stable)
    text = logged_in(world, "ann").get(GAME).text
    assert "<script>" not in text
    assert "</pre><script>" not in text
    assert "\x1b" not in text
    assert "\\x1b[31m" in text
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text
    assert "keeping &lt;wasabi&gt;\\u202e for squid" in text


def test_notes_are_below_their_turns(world: World) -> None:
    """Every turn with a request to the bot has a separate row, marked as private."""
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


def test_a_long_host_delay_is_shown(world: World) -> None:
    """The turn's row has it even if the bot left no note."""
    stable = fill_stable(world)
    versions = (stable.other, stable.versions[1], stable.house[0])
    world.store.queue.add(replace(new_match("delayed-0", versions), created=START))
    claim = world.store.leases.claim("here", "worker", START, RuntimeName.DOCKER)
    assert claim is not None
    match = finish(claim, random.Random(1), ended=START + timedelta(hours=1))  # noqa: S311 - reproducible
    game, *others = match.games
    steps = [list(step) for step in game.record.steps]
    for turn, waited in ((2, 99.0), (3, 250.0)):
        decision = steps[turn][1]
        assert decision is not None
        steps[turn][1] = replace(decision, waited_millis=waited)
    record = replace(game.record, steps=tuple(map(tuple, steps)))
    assert world.store.results.record(replace(match, games=(replace(game, record=record), *others)))
    page = Page(logged_in(world, "ann").get("/games/delayed-0-0").text)
    rows = [row[0] for table in page.tables for row in table if row and "host delay" in row[0]]
    assert rows == ["private mine@2: host delay: 250 ms"]


def test_names_in_the_headers_of_the_replay_link_to_the_bots(client: TestClient) -> None:
    """The tables of all rounds and of the end have the links. The dummy has no page."""
    for game, names in (("dummy-0-0", ["random", "greedy"]), ("three-0-0", ["random", "greedy"])):
        heads = re.findall(
            r'<th scope="col">\s*<a class="botlink" href="/bots/([\w-]+)"', client.get(f"/games/{game}").text
        )
        assert heads == names * 4, game
        assert {client.get(f"/bots/{name}").status_code for name in heads} == {200}


def test_a_match_without_logs_is_shown_as_silent(world: World) -> None:
    """The bot's owner sees that nothing was printed."""
    fill_stable(world, silent=True)
    text = logged_in(world, "ann").get(GAME).text
    assert "No output." in text
    assert "still running when the match ended" in text


def test_a_long_note_can_be_scrolled_with_the_keyboard(world: World) -> None:
    """Only long notes are focusable."""
    world.filled(fill_stable)
    page = Page(logged_in(world, "ann").get(GAME).text)
    stops = [attributes for tag, attributes in page.tags if tag == "p" and "tabindex" in attributes]
    assert stops == [{"role": "group", "aria-label": "Private note by mine", "tabindex": "0"}]
