"""Tests that ``arena check`` gives the site's verdicts on the author's host, and leaves nothing behind."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import docker
import pytest

from arena.app.folders import data_dir_lock
from arena.languages.language import MAX_SOURCE_BYTES
from arena.play.botfiles import samples
from arena.protocol.submissions import HINTS, Stage
from arena.sandbox.runtime import INSTALL_LABEL
from tests.cli import forked
from tests.cli.command import environment
from tests.patience import wait_until
from tests.soak import SOAK
from tests.submissions import programs
from tests.submissions.test_journey import REJECTED

PATIENCE = 400.0
USUAL = {name: value for name, value in environment().items() if not name.startswith("ARENA_")}


@dataclass
class Home:
    """An author's host, with an arena in use next to the checks."""

    client: docker.DockerClient
    folder: Path
    sockets: Path

    @property
    def checks(self) -> Path:
        """The folder that contains the folders of checks."""
        return self.folder / "tmp" / f"kaiten-check-{os.geteuid()}"

    def write(self, name: str, content: str | bytes) -> str:
        """Write a file, and return the path to give to commands."""
        file = self.folder / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(file)

    def started(self, *args: str) -> AbstractContextManager[forked.Started]:
        """Start a check, and kill it at the end if it is still running."""
        return forked.started(["check", *args], self.folder, self.environment)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of checks: except for folders, the other arena's, which must make no difference."""
        others = {
            "ARENA_DATA_DIR": str(self.folder / "data"),
            "ARENA_DATABASE_URL": "postgresql+psycopg://nobody@127.0.0.1:1/nothing",
            "ARENA_IMAGES_URL": "memory://elsewhere",
            "ARENA_SANDBOX": "process",
            "ARENA_SUBMISSIONS_A_DAY": "0",
            "ARENA_BOTS_PER_AUTHOR": "0",
        }
        own = {"ARENA_RUN_DIR": str(self.sockets), "TMPDIR": str(self.folder / "tmp")}
        return USUAL | others | own

    def check(self, *args: str) -> "subprocess.CompletedProcess[str]":
        """Run a check to its end."""
        return forked.run(["check", *args], self.folder, self.environment, seconds=PATIENCE)

    def installs(self) -> list[str]:
        """Return the ids of the checks whose folders exist."""
        return [file.read_text().strip() for file in self.checks.glob("*/data/install")]

    def containers(self, install: str) -> list[str]:
        """Return the names of a check's containers."""
        found = self.client.api.containers(all=True, filters={"label": f"{INSTALL_LABEL}={install}"})
        return [container["Names"][0] for container in found]

    def left(self, install: str) -> list[object]:
        """Return what a check has left behind."""
        return [
            *self.containers(install),
            *self.client.images.list(name=f"kaiten/submitted-{install}"),
            *(path for path in self.checks.iterdir() if path.is_dir()),
            *self.sockets.iterdir(),
            *Path("/sys/fs/cgroup").glob(f"*/kaiten/{install}"),
            *Path("/sys/fs/cgroup").glob(f"kaiten/{install}"),
        ]

    def plays(self) -> str:
        """Wait until a check's bots are running, and return the check's id."""
        found: list[str] = []

        def playing() -> bool:
            found[:] = [install for install in self.installs() if self.containers(install)]
            return bool(found)

        wait_until(playing, "the bots of a check")
        (install,) = found
        return install


@pytest.fixture
def home(
    tmp_path: Path, run_dir: Path, docker_client: docker.DockerClient, base_image: str
) -> Iterator[Home]:
    """Yield a host on which another arena's data directory is in use."""
    assert base_image
    (tmp_path / "tmp").mkdir()
    with data_dir_lock(tmp_path / "data"):
        yield Home(docker_client, tmp_path, run_dir)
    assert [file.name for file in (tmp_path / "data").iterdir()] == ["lock"]


@pytest.mark.docker
@pytest.mark.usefixtures("docker_command")
@pytest.mark.parametrize("kind", ["python", pytest.param("image", marks=pytest.mark.soak)])
def test_a_good_bot_qualifies(home: Home, kind: str) -> None:
    """The check reports each stage and then figures. It leaves nothing, and the other arena is unchanged.

    In the short run, tests/client builds and sends folders, and tests/demo submits an image.
    """
    done = home.check(home.write("mine.py", programs.GOOD) if kind == "python" else str(samples() / "random"))
    assert done.returncode == 0, done.stderr
    verdict, titles, *games, size = done.stdout.splitlines()
    assert verdict == "the bot qualifies"
    assert titles.split()[:4] == ["game", "players", "seat", "place"]
    # A game that was delayed by a busy host is repeated with the same number.
    shown = dict.fromkeys(tuple(line.split()[:3]) for line in games)
    assert list(shown) == [("1", "2", "0"), ("2", "3", "1"), ("3", "5", "4")]
    assert re.fullmatch(r"image size: \d+\.\d MiB \(limit 512 MiB\)", size)
    told = re.sub(r"arena: +\d+\.\d s  ", "", done.stderr)
    assert "but without testing the sandbox (see `arena doctor`)" in told
    stages = [
        told.index(f"\n{words}") for words in ("received", "inspected", "qualifying", "game 1", "passed")
    ]
    assert stages == sorted(stages)
    assert re.search(r"game 3 of 3: 5 players, seat 4, placed \d\w\w, slowest decision [\d.]+ ms\n", told)
    assert [path.name for path in home.checks.iterdir()] == ["lock"]
    assert list(home.sockets.iterdir()) == []


@pytest.mark.docker
def test_the_verdicts_are_those_of_the_site(home: Home) -> None:
    """JSON and text have the stage, kind, words, hint and facts of a site's rejection."""
    named = {
        bot: home.write(f"{bot}.tar" if stage is Stage.RECEIVED else f"{bot}.py", content)
        for bot, (content, stage, *_) in REJECTED.items()
        if bot in {"nothing", "crashes"} or (SOAK and bot in {"network", "slow"})
    }
    args = {bot: (file,) if bot == "crashes" else (file, "--json") for bot, file in named.items()}
    done = {bot: home.check(*words) for bot, words in args.items()}

    codes = {bot: each.returncode for bot, each in done.items()}
    assert codes == dict.fromkeys(args, 1), "\n".join(
        done[bot].stderr[-600:] for bot in codes if codes[bot] != 1
    )
    text = done.pop("crashes").stdout
    kind, words = REJECTED["crashes"][2:]
    assert re.match(f"rejected: .*{words}\n", text)
    for row in (
        f"cause      {kind}",
        "exit code  1",
        f"hint       {HINTS[kind]}",
        "seat 0), round 1, turn 4",
    ):
        assert row in text
    assert "    RuntimeError: I can not go on\n" in text
    told = {bot: json.loads(each.stdout) for bot, each in done.items()}
    for bot, submission in told.items():
        _, stage, kind, words = REJECTED[bot]
        cause = submission["cause"]
        assert (cause["stage"], cause["kind"], cause["hint"]) == (stage, kind, HINTS[kind])
        assert re.search(words, cause["text"]), cause
    assert told["nothing"]["cause"]["exit_code"] is None
    if SOAK:
        assert told["network"]["cause"]["exit_code"] == 1
        assert "name resolution" in told["network"]["cause"]["stderr"]
        assert told["slow"]["cause"]["exit_code"] is None
        *_, game = told["slow"]["games"]  # the list has earlier games if this host was too busy
        assert (game["figures"]["late"], game["figures"]["place"]) == (3, 2)
    assert told["nothing"]["games"] == []
    assert [path.name for path in home.checks.iterdir()] == ["lock"]


@pytest.mark.docker
def test_the_next_check_removes_what_a_killed_one_left(home: Home) -> None:
    """The next check removes the containers, image and files of one that was killed during a game.

    A check that starts while another one is still playing disturbs nothing.
    """
    large = home.write("large.py", b"#" * (MAX_SOURCE_BYTES + 1))
    with home.started(home.write("dawdles.py", programs.DAWDLES)) as process:
        killed = home.plays()
        # Frozen, since on a busy host its game might be over before the other check starts.
        process.interrupt(signal.SIGSTOP)
        running = set(home.containers(killed))
        assert running
        other = home.check(large)
        assert (other.returncode, other.stdout) == (1, "")
        assert "the limit for a source file is 1 MiB" in other.stderr
        assert running <= set(home.containers(killed))
        process.kill()
    assert home.containers(killed)
    assert f"removed the remains of a killed check ({home.checks}/" in home.check(large).stderr
    assert home.left(killed) == []


@pytest.mark.soak
@pytest.mark.docker
def test_sigterm_leaves_nothing(home: Home) -> None:
    """A check that gets SIGTERM during a game removes everything itself."""
    with home.started(home.write("dawdles.py", programs.DAWDLES)) as process:
        install = home.plays()
        process.interrupt(signal.SIGTERM)
        code, _, err = process.wait()
    assert (code, err.splitlines()[-1]) == (130, "arena: stopped")
    assert home.left(install) == []


def test_without_an_engine_it_says_so(tmp_path: Path) -> None:
    """Without an engine, the exit code is 2, and nothing is created."""
    (tmp_path / "mine.py").write_text(programs.GOOD)
    (tmp_path / "tmp").mkdir()
    elsewhere = {"DOCKER_HOST": f"unix://{tmp_path}/nothing.sock", "TMPDIR": str(tmp_path / "tmp")}
    done = forked.run(["check", "mine.py"], tmp_path, USUAL | elsewhere, seconds=PATIENCE)
    assert (done.returncode, done.stdout) == (2, "")
    assert "can't check bots on this machine: no Docker engine responds" in done.stderr
    assert list((tmp_path / "tmp").iterdir()) == []
