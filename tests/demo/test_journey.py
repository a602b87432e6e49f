"""Test of the way from a container to a rated bot: over HTTP and in a browser, with real containers."""

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import docker
import httpx2
import pytest
from playwright.sync_api import Page, expect

from arena.db.store import open_store
from arena.play.botfiles import samples
from arena.protocol.sandbox_controls import CONTROL_NAMES
from tests.accounts.world import PASSWORD
from tests.browser.visits import Windows, chromium, follow
from tests.demo.conftest import With
from tests.demo.running import Place, client_of, started
from tests.patience import WAIT_SECONDS, wait_until
from tests.soak import SOAK
from tests.submissions import programs
from tests.submissions.test_journey import small_image
from tests.web.site import served

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1800)]

SETTINGS = {
    # These tests are about submissions. Other tests check the host's controls.
    "ARENA_ACCEPT_MISSING": ",".join(CONTROL_NAMES),
    "ARENA_BOTS_PER_AUTHOR": "20",
}


@dataclass(frozen=True, slots=True)
class Author:
    """Someone with an account, a token and their own computer."""

    browser: httpx2.Client  # logged in
    environment: dict[str, str]  # for commands on that computer, which has no access to the arena itself

    def run(self, *arguments: str, said: str = "") -> "subprocess.CompletedProcess[str]":
        """Run a command to its end, with ``said`` on stdin. Can be called from any thread."""
        return subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "arena", *arguments],
            env=self.environment,
            input=said,
            capture_output=True,
            text=True,
            timeout=6 * WAIT_SECONDS,
            check=False,
        )

    def get(self, path: str, **query: str) -> Any:  # noqa: ANN401 - JSON
        """Return the API's response to a path."""
        answer = self.browser.get(f"/api/v1{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextmanager
def town(place: Place) -> Iterator[str]:
    """Yield the address of a site whose arena is running."""
    with started(place, "coordinator", **SETTINGS) as arena:
        wait_until((place.data / "arena.sqlite3").exists, "the database")
        with served(place.data, cwd=Path.cwd(), **SETTINGS) as site:
            wait_until(partial(_knows_its_host, site.url), "the host's report")
            yield site.url
            site.process.terminate()
            _, said = site.process.communicate(timeout=WAIT_SECONDS)
            assert "Traceback" not in said, said
        arena.terminate()
        _, said = arena.communicate(timeout=WAIT_SECONDS)
    assert arena.returncode == 0, said
    assert "Traceback" not in said, said


def _knows_its_host(address: str) -> bool:
    """Return whether the canary has finished. Until then, the site accepts no bots."""
    status: dict[str, object] = httpx2.get(f"{address}/api/v1/status", timeout=WAIT_SECONDS).json()
    return bool(status["hosts"])


@contextmanager
def registered(address: str, name: str, home: Path) -> Iterator[Author]:
    """Register as a browser does, create a token there, and log in with it on the command line."""
    with client_of(address, Origin=address) as browser:
        answer = browser.post("/register", data={"name": name, "password": PASSWORD})
        assert answer.status_code == 303, answer.text
        made = browser.post(
            "/account/tokens",
            data={"name": "laptop", "scopes": ["read", "submit"], "days": "1", "password": PASSWORD},
        )
        secret = re.search(r"kaiten_[A-Za-z0-9_-]+", made.text)
        assert secret, made.text
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ARENA_", "XDG_"))}
        author = Author(browser, {**kept, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")})
        done = author.run("login", address, said=f"{secret.group()}\n")
        assert done.returncode == 0, done.stderr
        yield author


@pytest.fixture
def image(docker_client: docker.DockerClient, base_image: str) -> Iterator[str]:
    """Yield the name of an image that its author built."""
    name = f"kaiten-journey-{uuid.uuid4().hex[:8]}"
    with programs.built(docker_client, base_image, tag=name):
        yield name


def bots(folder: Path) -> dict[str, Path]:
    """Write bots other than an image: a file, a folder with a Dockerfile, and one that can't play."""
    others = {
        "onefile.py": programs.GOOD,
        "infolder/bot.py": programs.GOOD,
        "infolder/Dockerfile": (samples() / "greedy" / "Dockerfile").read_text(),
    }
    for name, content in others.items() if SOAK else ():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    (folder / "noentry.tar").write_bytes(small_image(Entrypoint=None))
    return {path.stem: path for path in folder.iterdir()}


GOOD = {"image", "infolder", "onefile"} if SOAK else {"image"}


def rated(author: Author) -> dict[str, int]:
    """Return the active versions of the bots that have played a rated game."""
    rows = author.get("/leaderboard", limit="500")["rows"]
    return {row["bot"]: row["version"] for row in rows if row["games"]}


def rejection(author: Author, bot: str, done: "subprocess.CompletedProcess[str]") -> None:
    """Check that the command and the API report that the image has no start command.

    tests/submissions/test_journey.py tests every kind of cause. This test checks that one reaches the author.
    """
    assert done.returncode == 1, done
    [told] = author.get("/submissions", bot=bot)["submissions"]
    assert (told["stage"], told["cause"]["kind"]) == ("rejected", "file"), told
    assert "the image has no start command" in told["cause"]["text"]
    said = " ".join((done.stdout + done.stderr).split())
    for part in (*told["cause"]["text"].split(), *told["cause"]["hint"].split(), "arena check"):
        assert part in said, (part, said)


# Over 20 s: a whole arena, a saved image, and three games of each submitted bot in containers.
def test_from_a_container_to_a_rated_bot(
    arena: Place, place_with: With, image: str, tmp_path: Path, chromium_path: str
) -> None:
    """An image reaches the leaderboard, and everyone can watch its game. A rejected bot gets a reason.

    At the same time, an author submits a bot with only a browser. In `make soak`, a folder and a file reach
    the leaderboard too.
    """
    folder = tmp_path / "bots"
    folder.mkdir()
    targets = {name: str(path) for name, path in bots(folder).items()} | {"image": image}
    with (
        town(place_with("expected", "greedy", "random", "spoiler")) as address,
        registered(address, "ann", tmp_path / "ann") as ann,
        registered(address, "bob", tmp_path / "bob") as bob,
        ThreadPoolExecutor(len(targets)) as pool,
    ):
        # Rated games would only delay the submissions.
        assert arena.run("admin", "ladder", "--pause").returncode == 0
        runs = {}
        for number, (bot, target) in enumerate(targets.items(), 1):
            # The site receives one file per author at a time, and an image takes long on a busy host.
            runs[bot] = pool.submit(ann.run, "submit", target, "--name", bot)
            wait_until(partial(_has_sent, ann, number), f"{bot} at the site")
        added = _added(arena, tmp_path)
        with chromium(chromium_path) as browser:
            windows = Windows(browser)
            visit = windows.open(address, "desktop", "light")
            visit.open("/")
            _write_and_submit(visit.page)
            assert arena.run("admin", "ladder", "--resume").returncode == 0
            _follow_to_the_leaderboard(visit.page)
            windows.close()
        row = ann.get("/bots/first-try")
        assert (row["author"], row["version"]) == ("newcomer", 1)
        done = {bot: run.result() for bot, run in runs.items()}

        for bot in GOOD:
            assert done[bot].returncode == 0, done[bot]
            said = done[bot].stderr
            order = [said.find(stage) for stage in ("received", "inspected", "qualifying", "active")]
            assert -1 not in order, said
            assert order == sorted(order), said
        rejection(ann, "noentry", done["noentry"])
        wait_until(lambda: rated(ann).keys() >= GOOD | {"added"}, "rated games of all bots")
        assert "noentry" not in rated(ann)
        _game_is_shown_to_all(address)
        _logs_are_for_their_owner(ann, bob)
    assert list((arena.data / "uploads").iterdir()) == []
    arena.check_ratings()
    pruned = arena.run("admin", "prune-images")
    assert pruned.stdout.startswith("images removed: 0, 0.0 MiB freed, "), pruned.stderr
    _played_without_faults(arena, added)


def _write_and_submit(page: Page) -> None:
    follow(page, page.get_by_role("link", name="Write a bot").last)
    page.get_by_role("link", name="Register").last.click()
    page.get_by_label("Name", exact=True).fill("newcomer")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Register").click()
    expect(page).to_have_url(re.compile(r"/start$"))
    page.get_by_role("textbox", name="Source").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("# my first bot")
    page.get_by_label("Bot name").fill("first-try")
    page.get_by_role("button", name="Submit").click()
    expect(page).to_have_url(re.compile(r"/submissions/[0-9a-f]{16}$"))


def _follow_to_the_leaderboard(page: Page) -> None:
    """Follow the self-updating page of the submission to the game, and then to the leaderboard."""
    first = page.get_by_role("link", name="Watch its first rated game")
    expect(first).to_be_visible(timeout=1000 * WAIT_SECONDS)
    first.click()
    expect(page).to_have_url(re.compile(r"/games/"))
    expect(page.get_by_role("link", name="first-try").first).to_be_visible()
    page.get_by_role("link", name="Leaderboard").first.click()
    expect(page.get_by_role("row").filter(has_text="first-try")).to_be_visible()


def _added(arena: Place, folder: Path) -> str:
    """Add a bot from its source, as an operator does while the arena is running. Return the image's id."""
    file = folder / "added.py"
    file.write_text(programs.GOOD)
    words = ("admin", "add-bot", "added", str(file), "--author", "ben")
    first, again = arena.run(*words, **SETTINGS), arena.run(*words, **SETTINGS)
    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert first.stdout.startswith("added@1 sha256:")
    assert (again.stdout, "no new" in again.stderr) == (first.stdout, True)
    return first.stdout.split()[1]


def _played_without_faults(arena: Place, source: str) -> None:
    """Check that the added bot played in containers of its image, without faults."""
    [row] = [row for row in arena.board() if row["bot"] == "added"]
    assert (row["author"], row["fault_share"]) == ("ben", 0)
    with closing(open_store(f"sqlite:///{arena.data / 'arena.sqlite3'}")) as store:
        pages = [store.games.find(game.game) for game in store.games.newest()]
    seats = [seat for page in pages if page is not None for seat in page.seats if seat.bot == "added"]
    assert {(seat.image, seat.runtime.startswith("docker/")) for seat in seats} == {(source, True)}


def _has_sent(author: Author, number: int) -> bool:
    return len(author.get("/submissions")["submissions"]) == number


def _game_is_shown_to_all(address: str) -> None:
    """Check that a visitor without an account finds the game, played in containers, and its replay."""
    with httpx2.Client(base_url=address, timeout=WAIT_SECONDS) as stranger:
        [game] = stranger.get("/api/v1/games", params={"bot": "image", "limit": "1"}).json()["games"]
        page = stranger.get(f"/games/{game['game']}").text
        assert "docker/" in page
        assert "no network" in page
        replay = stranger.get(f"/games/{game['game']}/replay.json").json()
    assert "image" in {seat["bot"] for seat in replay["seats"]}


def _logs_are_for_their_owner(owner: Author, other: Author) -> None:
    """Check that the owner can read what a bot printed, and that others can't."""
    [game] = owner.get("/games", bot="image", limit="1")["games"]
    told = json.loads(owner.run("logs", game["game"], "--json").stdout)
    assert [seat["bot"] for seat in told["seats"]].count("image") == 1
    assert {seat["bot"] for seat in told["seats"]} <= GOOD
    assert other.browser.get(f"/api/v1/games/{game['game']}/logs").status_code == 404
    refused = other.run("logs", game["game"])
    assert refused.returncode != 0
    assert "Traceback" not in refused.stderr
