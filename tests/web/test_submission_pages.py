"""Submissions on the site: the form, the list, a submission in every stage, its steps, and its games."""

import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from markupsafe import escape

from arena.db.credentials import KnownAccount
from arena.db.submissions import KnownSubmission
from arena.languages.registry import UploadKind
from arena.platform.files import shared_folder
from arena.protocol.match import OUT_OF_MEMORY
from arena.protocol.states import Role
from arena.protocol.submissions import HINTS, Cause, CauseKind, Stage
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import add_bots, host_report, play_matches
from tests.db.builders import START, claim_one, present
from tests.db.test_submissions import PLENTY, new
from tests.web.app import components_over
from tests.web.html import Page, read
from tests.web.people import HTTPS, browser, logged_in
from tests.web.submitted import CRASH, finish_game, play, queue, send
from web.app import create_app
from web.docs.pages import Downloads
from web.submissions.pages import PER_PAGE, StepState, samples, steps

ROOT = Path(__file__).parents[2]


@pytest.fixture
def visitor(world: World, ann: KnownAccount) -> TestClient:
    """Return ann's browser."""
    return logged_in(world, ann.name)


def test_the_form_shows_the_limits(world: World, ann: KnownAccount, visitor: TestClient) -> None:
    """The limits are those that the arena enforces. The form suggests the user's own bots."""
    send(world.store, ann, "a1", received=world.now)
    play(world.store, "a1")
    world.store.submissions.activate("a1", world.now)
    text = read(visitor, "/submit?bot=mine")
    inputs = {at["id"]: at for tag, at in Page(text).tags if tag == "input"}
    assert inputs["bot"]["value"] == "mine"
    options = [at["value"] for tag, at in Page(text).tags if tag == "option"]
    assert options == ["mine", "auto", "light", "dark"]  # every page ends with the options of the theme
    for words in (
        "1 MiB at most",
        "768 MiB as an archive",
        "<b>2</b> left (limit: 3 per 24 hours)",
        "<b>1</b> of 2",
    ):
        assert words in text
    assert "running submitted bots" not in text
    assert "/docs/submitting#limits" in Page(text).links
    assert '"suffixes": [".js", ".mjs"]' in text


def test_the_form_works_without_scripts(visitor: TestClient) -> None:
    """The page shows other ways to submit, with the site's own address."""
    text = read(visitor, "/submit?bot=mine")
    assert "<noscript>" in text
    assert f"arena login {HTTPS}" in text
    assert f'"{HTTPS}/api/v1/bots/mine/submissions?kind=python"' in text


def test_an_invalid_name_is_not_filled_in(visitor: TestClient) -> None:
    """The field remains empty."""
    for bot in ("", "m", '"><script>', "a/b", "x" * 99):
        text = visitor.get("/submit", params={"bot": bot}).text
        inputs = {at["id"]: at for tag, at in Page(text).tags if tag == "input"}
        assert inputs["bot"]["value"] == "", bot


def test_a_closed_arena_says_so_before_anything_is_sent(world: World, visitor: TestClient) -> None:
    """The page doesn't give the reason, which only operators may see."""
    world.store.activity.record_host(host_report("swap"), ())
    text = read(visitor, "/submit")
    assert "isn't running submitted bots at the moment" in text
    assert "swap" not in text


def test_own_submissions_are_listed(world: World, ann: KnownAccount, visitor: TestClient) -> None:
    """Submissions are listed in pages, newest first, without those of others."""
    assert "No submissions yet" in read(visitor, "/submissions")
    ids = [f"{number:x}" for number in range(PER_PAGE + 2)]
    for id_ in ids:
        send(world.store, ann, id_)
        world.store.submissions.reject(id_, CRASH, START)  # an author may have only a few in progress
    send(world.store, world.add("ben"), "bbb", "other")
    pages = [read(visitor, "/submissions")]
    pages.append(read(visitor, next(link for link in Page(pages[0]).links if "before=" in link)))
    links = [link for page in pages for link in Page(page).links if link.startswith("/submissions/")]
    assert links == [f"/submissions/{id_}" for id_ in reversed(ids)]
    assert "No older submissions" in read(visitor, "/submissions?before=1")


def test_only_operators_are_told_whose_a_submission_is(world: World, ann: KnownAccount) -> None:
    """The author isn't named on the author's own page."""
    send(world.store, ann, "a1")
    world.add("oper", Role.OPERATOR)
    assert "by <bdi>ann</bdi>" in read(logged_in(world, "oper"), "/submissions/a1")
    assert "by <bdi>ann</bdi>" not in read(logged_in(world, "ann"), "/submissions/a1")
    assert logged_in(world, "oper").get("/submissions/a2").status_code == 404


def test_each_stage_is_shown(world: World, ann: KnownAccount, visitor: TestClient) -> None:
    """Each stage says what is happening. A lack of resources requires nothing from the author."""
    store = world.store
    send(store, ann, "a0", "first")
    send(store, ann, "a1")
    path = "/submissions/a1"
    assert "1 other submission comes first" in read(visitor, path)
    store.submissions.wait("a0", "no engine")
    assert "comes first" not in read(visitor, path)
    store.submissions.wait("a1", "no room on the <disk>")
    assert "Waiting: no room on the &lt;disk&gt;. The arena retries automatically" in read(visitor, path)
    store.submissions.wait("a1", None)
    store.submissions.mark_inspected("a1", "sha256:a1", START)
    assert "Docker is loading it" in read(visitor, path)
    store.submissions.mark_qualifying("a1", START)
    text = read(visitor, path)
    assert text.count("pending") == 1 + 3
    assert 'aria-current="step"' in text
    assert "data-over" not in text
    queue(store, "a1")
    assert '<span class="tag">waiting</span>' in read(visitor, path)
    finish_game(store)
    (table,) = Page(read(visitor, path)).tables
    assert table[1][0] == "Game 1"
    assert table[1][1].endswith("of 3")
    assert table[1][5].endswith(" ms")
    assert table[2][:2] == ["Game 2", "pending"]


def test_a_rejected_submission_shows_the_cause_and_what_to_try(
    world: World, ann: KnownAccount, visitor: TestClient
) -> None:
    """The page has the cause, the hint, the command to check the bot, and the exit code.

    It also has the last request with its hand, the end of stderr, and the version that keeps playing.
    """
    store = world.store
    send(store, ann, "a0")
    play(store, "a0", 3)
    store.submissions.activate("a0", START)
    send(store, ann, "a1")
    play(store, "a1", 1)
    store.submissions.reject("a1", CRASH, START)
    text = read(visitor, "/submissions/a1")
    assert "The bot disconnected in game 2 of 3, round 1, turn 4: it exited with code 3." in text
    assert "<code>docker run</code> shows it at home" in text
    assert "<code>arena check mine.py</code>" in text
    assert "<dt>Exit code</dt><dd>3</dd>" in text
    assert "Game 2 of 3, 3 players, seat 1: round 1, turn 4" in text
    assert [name in text for name in (">Maki 2<", ">Squid<", ">Wasabi<")] == [True] * 3
    assert "ready\\x1b[2J" in text
    assert "\\u202e&lt;/pre&gt;&lt;script&gt;" in text
    assert '<a href="/bots/mine"><bdi>mine</bdi></a><span class="version">@1</span> keeps playing' in text
    assert "/submit?bot=mine" in Page(text).links
    assert ("data-over" in text, "data-last" in text, "pending" in text) == (True, True, False)


def test_a_rejected_check_is_called_a_check(world: World, ann: KnownAccount, visitor: TestClient) -> None:
    """The page doesn't call a check a submission."""
    store = world.store
    store.submissions.add(replace(new("c1", "mine", ann.name, ann.id), check_only=True), PLENTY)
    send(store, ann, "a1")
    for id_, what in (("c1", "check failed"), ("a1", "submission was rejected")):
        play(store, id_, 1)
        store.submissions.reject(id_, CRASH, START)
        assert f"The {what}." in read(visitor, f"/submissions/{id_}")


def test_memory_and_the_arenas_own_faults_are_named(
    world: World, ann: KnownAccount, visitor: TestClient
) -> None:
    """The page says if the bot ran out of memory. If the arena lost the file, there is nothing to check."""
    for id_, kind in (("a1", CauseKind.MEMORY), ("a2", CauseKind.LOST)):
        send(world.store, ann, id_, kind=UploadKind.IMAGE)
        lost = kind is CauseKind.LOST
        cause = Cause(
            stage=Stage.RECEIVED if lost else Stage.QUALIFYING,
            kind=kind,
            text="it is gone",
            hint=HINTS[kind],
            out_of_memory=not lost,
        )
        world.store.submissions.reject(id_, cause, START)
    greedy, gone = read(visitor, "/submissions/a1"), read(visitor, "/submissions/a2")
    assert OUT_OF_MEMORY.capitalize() in greedy
    assert "arena check mine.tar.gz" in greedy
    assert "arena check" not in gone
    assert "This was the arena's fault" in gone
    assert "plays on" not in greedy + gone


def test_an_active_submission_links_to_its_first_rated_game(
    world: World, ann: KnownAccount, visitor: TestClient
) -> None:
    """The page updates itself until the link appears. Once another version plays, the link is gone."""
    store = world.store
    send(store, ann, "a1")
    play(store, "a1", 3)
    store.submissions.activate("a1", START)
    text = read(visitor, "/submissions/a1")
    assert "Its first rated game comes next" in text
    assert ("data-over" in text, "data-last" in text) == (True, False)
    version = present(store.bots.version_id("mine", 1))
    play_matches(store, [(version, *add_bots(store, [("fresh", "house")]))], Rules(players=2), name="rated")
    text = read(visitor, "/submissions/a1")
    assert {"/games/rated-0-0", "/bots/mine", "/"} <= set(Page(text).links)
    assert "data-last" in text
    send(store, ann, "a2")
    play(store, "a2")
    store.submissions.activate("a2", START)
    assert "is on <a" not in read(visitor, "/submissions/a1")


def test_a_quarantined_game_does_not_count(world: World, ann: KnownAccount, visitor: TestClient) -> None:
    """The game is shown without a number, and another one replaces it."""
    send(world.store, ann, "a1")
    play(world.store, "a1", 0)
    queue(world.store, "a1")
    for _ in range(3):
        taken = claim_one(world.store)
        world.store.leases.record_void(taken.spec.match, taken.spec.attempt, "no engine", START)
    (table,) = Page(read(visitor, "/submissions/a1")).tables
    assert [row[0] for row in table[1:]] == ["Quarantined", "Game 1", "Game 2", "Game 3"]


def test_a_game_has_a_page_with_the_bots_log(world: World, ann: KnownAccount, visitor: TestClient) -> None:
    """The page has places, the bot's notes and its output, but no ratings and no logs of other bots."""
    send(world.store, ann, "a1")
    play(world.store, "a1")
    text = read(visitor, "/submissions/a1/games/a1-q0-0-0")
    result = Page(text).tables[0]
    assert sorted(row[0] for row in result[1:]) == ["1", "2", "3"]
    assert "mine@1 yours" in [row[1] for row in result]
    assert text.count("wasabi first") == 1
    assert "ready\\x1b[2J" in text
    assert "Rating" not in text
    assert {"#r1t1", "/api/v1/submissions/a1/games/a1-q0-0-0/replay", "/bots/greedy"} <= set(Page(text).links)
    assert "/bots/mine" not in Page(text).links
    send(world.store, ann, "a2")
    assert visitor.get("/submissions/a2/games/a1-q0-0-0").status_code == 404
    assert visitor.get("/submissions/a1/games/nothing").status_code == 404


def test_a_bot_can_be_written_on_the_site(world: World) -> None:
    """The page has the arena's examples. Submitting requires a login, and invalid names are ignored."""
    stranger = browser(world).get("/start").text
    for sample in ("greedy/bot.py", "greedy-js/bot.js"):
        assert escape((ROOT / "bots" / sample).read_text()) in stranger
    assert 'href="/login?next=/start"' in stranger
    wanted = browser(world).get("/start?bot=mybot&kind=javascript&other=1").text
    assert 'href="/login?next=/start%3Fbot%3Dmybot%26kind%3Djavascript"' in wanted
    for way in ("curl -O {}/docs/greedy.py", "arena login {}\narena submit ./mybot", "{}/api/v1/bots/mybot/"):
        assert way.format(HTTPS) in stranger
    assert '<button type="submit"' not in stranger
    author = logged_in(world, world.add("ann").name)
    assert '<button type="submit" name="submit" disabled>' in author.get("/start").text
    assert 'value="mybot"' in author.get("/start?bot=mybot").text
    assert '<option value="javascript" selected>' in author.get("/start?bot=mybot&kind=javascript").text
    assert " selected>" not in author.get("/start?bot=mybot&kind=image").text
    assert 'value=""' in author.get("/start?bot=%22%3E").text


@pytest.mark.parametrize("path", ["/start", "/submit"])
def test_downloads_are_shown_if_there_are_any(world: World, ann: KnownAccount, path: str) -> None:
    """The package is in a command, and the source is a link."""
    without = logged_in(world, ann.name).get(path).text
    assert ("pip install" in without, "source</a>" in without) == (False, False)
    source, package = "https://code.test/kaiten.git", "https://code.test/kaiten.whl"
    world.site = create_app(
        replace(components_over(world), downloads=Downloads(source=source, package=package))
    )
    text = logged_in(world, ann.name).get(path).text
    assert f">python3 -m venv .venv\n. .venv/bin/activate\npip install {package}\narena " in text
    assert source in Page(text).links


def test_a_missing_sample_leaves_the_editor_empty(tmp_path: Path) -> None:
    """The sample of the other language is still shown."""
    folder = tmp_path / "greedy-js"
    shutil.copytree(shared_folder() / "bots" / "greedy-js", folder)
    python, javascript = samples(tmp_path)
    assert (python.kind, python.source) == ("python", "")
    assert "kaiten" in javascript.source


SENT = KnownSubmission(
    number=1,
    id="5ca1ab1e",
    bot="mine",
    author="ann",
    account=1,
    kind=UploadKind.PYTHON,
    note="",
    size=1,
    sha256="ab" * 32,
    stage=Stage.RECEIVED,
    source=None,
    version=None,
    received=START,
    inspected=None,
    qualifying=None,
    ended=None,
    waiting=None,
    cause=None,
    check_only=False,
)
LATER = [START + timedelta(seconds=seconds) for seconds in (3, 4, 64)]


@pytest.mark.parametrize(
    ("stage", "reached", "states"),
    [
        (Stage.RECEIVED, 0, "now ahead ahead ahead"),
        (Stage.INSPECTED, 1, "done now ahead ahead"),
        (Stage.QUALIFYING, 2, "done done now ahead"),
        (Stage.ACTIVE, 3, "done done done done"),
        (Stage.REJECTED, 3, "done done done failed"),
    ],
)
def test_each_step_has_a_state_and_a_time(stage: Stage, reached: int, states: str) -> None:
    """Completed steps have their time and duration. The last step is the outcome."""
    inspected, qualifying, ended = [at if number < reached else None for number, at in enumerate(LATER)]
    sent = replace(SENT, stage=stage, inspected=inspected, qualifying=qualifying, ended=ended)
    made = steps(sent)
    assert " ".join(step.state for step in made) == states
    assert [step.at for step in made if step.at is not None] == [START, *LATER[:reached]]
    assert [step.took and step.took.seconds for step in made][: reached + 1] == [None, 3, 1, 60][
        : reached + 1
    ]
    assert made[-1].stage is (Stage.REJECTED if stage is Stage.REJECTED else Stage.ACTIVE)
    assert steps(replace(sent, check_only=True))[-1].stage is (
        Stage.REJECTED if stage is Stage.REJECTED else Stage.PASSED
    )


def test_an_early_rejection_skips_the_other_steps() -> None:
    """The duration of the last step is measured from the previous completed step."""
    made = steps(replace(SENT, stage=Stage.REJECTED, ended=LATER[0]))
    assert [step.state for step in made] == [
        StepState.DONE,
        StepState.NEVER,
        StepState.NEVER,
        StepState.FAILED,
    ]
    assert made[-1].took == timedelta(seconds=3)
