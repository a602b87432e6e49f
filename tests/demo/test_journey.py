"""From "here is my container" to a rated bot, and back: over HTTP, with real containers."""

import io
import json
import re
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import docker
import pytest

from arena.play.botfiles import samples
from tests.demo.running import Ended, Place, await_that
from tests.demo.town import Author, registered, town
from tests.soak import SOAK
from tests.submissions import programs
from tests.submissions.test_journey import small_image

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]


@pytest.fixture
def arena(docker_place: Place, docker_client: docker.DockerClient) -> Iterator[Place]:
    """Give a place whose submitted images are removed from the engine in the end."""
    yield docker_place
    name = f"kaiten/submitted-{docker_place.install}"
    for image in docker_client.images.list(name=name) if docker_place.install else []:
        for tag in image.tags:
            # Another test's container may run the same image: equal bots have equal images.
            docker_client.images.remove(tag, force=True)


@pytest.fixture
def image(docker_client: docker.DockerClient, base_image: str) -> Iterator[str]:
    """Give the name of an image that its author built."""
    name = f"kaiten-journey-{uuid.uuid4().hex[:8]}"
    script = "import sys; open('/bot/bot.py', 'w').write(sys.argv[1])"
    words = ["python3", "-c", script, programs.GOOD]
    recipe = [f"FROM {base_image}", "USER 0", f"RUN {json.dumps(words)}"]
    recipe += ['ENTRYPOINT ["python3", "/bot/bot.py"]']
    docker_client.images.build(
        fileobj=io.BytesIO("\n".join(recipe).encode()), tag=name, rm=True, nocache=True, network_mode="none"
    )
    yield name
    docker_client.images.remove(name, force=True)


def bots(folder: Path) -> dict[str, Path]:
    """Write bots as authors have them: a file, a folder with a Dockerfile, and some that can't play."""
    late = {"slow.py": programs.SLOW, "network.py": programs.NETWORK} if SOAK else {}
    files = late | {
        "onefile.py": programs.GOOD,
        "crashes.py": programs.CRASHES,
        "infolder/bot.py": programs.GOOD,
        "infolder/Dockerfile": (samples() / "greedy" / "Dockerfile").read_text(),
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    (folder / "noentry.tar").write_bytes(small_image(Entrypoint=None))
    return {path.stem: path for path in folder.iterdir()}


REJECTED = {
    "crashes": ("crash", r"in game 1 of 3, round 1, turn 4: .*ended with exit code 1", "I can not go on"),
    "noentry": ("file", r"the image starts nothing", ""),
} | (
    {
        "slow": (
            "slow",
            r"too slow in game 1 of 3, round 1, turn 1: no answer in 11.0 s .* late 3 times",
            "",
        ),
        "network": ("network", r"tried to reach the network", "name resolution"),
    }
    if SOAK
    else {}
)
"""Of each that can't play: the kind of the cause, its words, and what the bot printed.

tests/submissions/test_journey.py has every kind of cause; here is how they reach the author.
"""


def rated(author: Author) -> dict[str, int]:
    """Return who has played a rated game, with the version that plays."""
    rows = author.get("/leaderboard", limit="500")["rows"]
    return {row["bot"]: row["version"] for row in rows if row["games"]}


def rejection(author: Author, bot: str, done: Ended) -> None:
    """Check that a bot was told its own true cause: by the command, and by the API."""
    kind, words, printed = REJECTED[bot]
    assert done.code == 1, (bot, done)
    [told] = author.get("/submissions", bot=bot)["submissions"]
    assert (told["stage"], told["cause"]["kind"]) == ("rejected", kind), told
    assert re.search(words, told["cause"]["text"]), told
    assert printed in told["cause"]["stderr"]
    said = " ".join((done.stdout + done.stderr).split())
    for part in (*told["cause"]["text"].split(), *printed.split(), *told["cause"]["hint"].split()):
        assert part in said, (bot, part, said)
    assert "arena check" in said


def test_from_a_container_to_a_rated_bot_and_back(arena: Place, image: str, tmp_path: Path) -> None:
    """Image, folder and file come to the board; others are told why not; a version is rolled back."""
    folder = tmp_path / "bots"
    folder.mkdir()
    targets = {name: str(path) for name, path in bots(folder).items()} | {"image": image}
    with (
        town(arena) as address,
        registered(address, "ann", tmp_path / "ann") as ann,
        registered(address, "bob", tmp_path / "bob") as bob,
        ThreadPoolExecutor(len(targets)) as pool,
    ):
        runs = {}
        for number, (bot, target) in enumerate(targets.items(), 1):
            # The site receives one file of an author at a time, and an image takes long on a busy machine.
            runs[bot] = pool.submit(ann.run, "submit", target, "--name", bot)
            await_that(partial(_has_sent, ann, number), f"{bot} at the site")
        done = {bot: run.result() for bot, run in runs.items()}

        for bot in ("image", "infolder", "onefile"):
            assert done[bot].code == 0, done[bot]
            said = done[bot].stdout + done[bot].stderr
            order = [said.find(stage) for stage in ("received", "inspected", "qualifying", "active")]
            assert -1 not in order, said
            assert order == sorted(order), said
        for bot in REJECTED:
            rejection(ann, bot, done[bot])
        await_that(lambda: {"image", "infolder", "onefile"} <= rated(ann).keys(), "rated games of all three")
        assert rated(ann).keys().isdisjoint(REJECTED)

        _versions_go_forward_and_back(ann, Path(targets["onefile"]))
        _logs_are_for_their_owner(ann, bob)
    assert list((arena.data / "uploads").iterdir()) == []
    rebuilt = arena.run("admin", "rebuild-ratings")
    assert rebuilt.stdout.endswith(", 0 ratings differed\n"), rebuilt.stderr


def _has_sent(author: Author, number: int) -> bool:
    return len(author.get("/submissions")["submissions"]) == number


def _versions_go_forward_and_back(author: Author, source: Path) -> None:
    """A second version takes over; a roll back lets the first one play again; both keep what they have."""
    source.write_text(f"{programs.GOOD}\n# better\n")
    done = author.run("submit", str(source), "--note", "better")
    assert done.code == 0, done
    await_that(lambda: rated(author).get("onefile") == 2, "a rated game of the second version")
    before = author.get("/bots/onefile/versions")["versions"]
    back = author.run("rollback", "onefile", "1")
    assert back.code == 0, back
    assert author.get("/bots/onefile")["version"] == 1
    assert rated(author).get("onefile") == 1
    versions = author.get("/bots/onefile/versions")["versions"]
    assert [(each["number"], each["playing"], each["note"]) for each in versions] == [
        (2, False, "better"),
        (1, True, ""),
    ]
    assert versions[0]["results"][0]["games"] >= before[0]["results"][0]["games"] > 0


def _logs_are_for_their_owner(owner: Author, other: Author) -> None:
    """The owner reads what a bot printed; to others there is nothing."""
    [game] = owner.get("/games", bot="onefile", limit="1")["games"]
    told = json.loads(owner.run("logs", game["game"], "--json").stdout)
    assert [seat["bot"] for seat in told["seats"]].count("onefile") == 1
    assert {seat["bot"] for seat in told["seats"]} <= {"onefile", "infolder", "image"}
    assert other.browser.get(f"/api/v1/games/{game['game']}/logs").status_code == 404
    refused = other.run("logs", game["game"])
    assert refused.code != 0
    assert "Traceback" not in refused.stderr
