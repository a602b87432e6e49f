"""Bots in every language of docs/base-images.md play in the ladder's sandbox without faults.

Their images are built as the documentation describes, or from the files that `arena init` writes.
``pytest -s`` prints the figures for docs/base-images.md.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

import docker
import pytest

from arena.cli.authoring import write_starter
from arena.images.build.context import build_bot_image
from arena.languages.registry import StarterLanguage
from arena.protocol.match import MatchRecord, decode, encode
from arena.sandbox.builder import ImageBuilder
from arena.scheduler.check import check_record
from tests.conftest import missing
from tests.docs.documents import DOCS
from tests.play.launcher import programs
from tests.play.launcher.conftest import Hall, faults

pytestmark = [pytest.mark.docker, pytest.mark.soak, pytest.mark.timeout(900)]

GAMES: Final = 100
BOTS: Final = Path(__file__).parent / "languages"


def call(folder: Path, *command: str, **variables: str) -> None:
    """Run a build command in this folder."""
    subprocess.run(command, cwd=folder, env=os.environ | variables, check=True)  # noqa: S603 - our own


def bridged(folder: Path, command: str, *steps: str) -> None:
    """Write the Dockerfile from docs/protocol.md, for a program that reads and writes lines of JSON."""
    entry = ", ".join(f'"{word}"' for word in ("python3", "-m", "arena.sdk.bridge", *command.split()))
    lines = ("FROM kaiten/bot-base-python", *steps, f"ENTRYPOINT [{entry}]")
    (folder / "Dockerfile").write_text("\n".join(lines) + "\n")


def python(folder: Path) -> None:
    """Write the files of `arena init`, with a bot that uses NumPy."""
    write_starter(folder, "mybot", StarterLanguage.PYTHON)
    shutil.copy(BOTS / "bot.py", folder)


def javascript(folder: Path) -> None:
    """Write the files of `arena init`."""
    write_starter(folder, "mybot", StarterLanguage.JAVASCRIPT)


def cpp(folder: Path) -> None:
    """Write and compile the files of `arena init`."""
    write_starter(folder, "mybot", StarterLanguage.CPP)
    call(folder, "make", "bot")


def go(folder: Path) -> None:
    """Compile a program that needs no C library."""
    folder.mkdir()
    call(folder, "go", "build", "-o", "bot", str(BOTS / "bot.go"), CGO_ENABLED="0", GOCACHE=f"{folder}/cache")
    bridged(folder, "/bot/bot", "COPY bot /bot/bot")


def rust(folder: Path) -> None:
    """Compile a program that needs only the C library."""
    folder.mkdir()
    call(folder, "rustc", "-O", "-o", "bot", str(BOTS / "bot.rs"))
    bridged(folder, "/bot/bot", "COPY bot /bot/bot")


def java(folder: Path) -> None:
    """Compile a class, link a JVM for it, and preload the ``pthread_join`` from docs/base-images.md."""
    folder.mkdir()
    call(folder, "javac", "-d", "classes", str(BOTS / "Bot.java"))
    call(folder, "jlink", "--add-modules", "java.base", "--output", "java")
    text = (DOCS / "base-images.md").read_text()
    start = text.index("    #define _GNU_SOURCE")
    (folder / "join.c").write_text(text[start : text.index("\n## ", start)])
    call(folder, "cc", "-shared", "-fPIC", "-o", "join.so", "join.c")
    steps = ("COPY java /java", "COPY join.so /join.so", "COPY classes /bot", "ENV LD_PRELOAD=/join.so")
    bridged(folder, "/java/bin/java -cp /bot Bot", *steps)


LANGUAGES: Final[Mapping[str, tuple[Callable[[Path], None], Mapping[str, str]]]] = {
    "python": (python, {}),
    "javascript": (javascript, {}),
    "cpp": (cpp, {"make": "make"}),
    "go": (go, {"go": "golang-go"}),
    "rust": (rust, {"rustc": "rustc"}),
    "java": (java, {"jlink": "default-jdk-headless", "cc": "gcc"}),
}
"""For each language, the function that builds a bot, and the tools it needs with their Debian packages."""


@pytest.fixture(params=LANGUAGES)
def bot(
    request: pytest.FixtureRequest,
    docker_client: docker.DockerClient,
    image_builder: ImageBuilder,
    tmp_path: Path,
) -> Iterator[str]:
    """Yield the image of a bot in each language."""
    name: str = request.param
    make, tools = LANGUAGES[name]
    for program, package in tools.items():
        if shutil.which(program) is None:
            missing(f"{program} is not installed", f"apt-get install {package}")
    if name == "cpp":
        request.getfixturevalue("cpp_compiler")
    request.getfixturevalue("javascript_image" if name == "javascript" else "base_image")
    folder = tmp_path / f"test-language-{name}"
    make(folder)
    yield build_bot_image(image_builder, folder)
    docker_client.images.remove(f"kaiten/bot-{folder.name}")


def test_a_hundred_games_without_a_fault(bot: str, docker_hall: Hall, request: pytest.FixtureRequest) -> None:
    """The bot plays against itself with the ladder's limits and clock."""
    spec = docker_hall.spec(*[programs.GOOD] * 2)
    spec = replace(spec, seats=(bot, bot), seeds=tuple(f"{number:032x}" for number in range(GAMES)))
    record = decode(docker_hall.launcher.play(encode(spec), (0, 1)), MatchRecord)
    check_record(spec, record)
    assert len(record.games) == GAMES
    assert [faults(record, seat) for seat in (0, 1)] == [[], []]
    assert [(seat.trouble, seat.stderr) for seat in record.seats] == [(None, "")] * 2
    steps = [decision for game in record.games for step in game.steps for decision in step if decision]
    times = [decision.millis for decision in steps if decision.millis is not None]
    print(f"{request.node.name}: {GAMES} games, 0 faults, {median(times):.1f} ms a decision")  # noqa: T201 - figures
