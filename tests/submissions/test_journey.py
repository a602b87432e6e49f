"""Tests of submissions in real containers: valid bots reach the ladder, others are rejected with a cause."""

import gzip
import io
import re
import tarfile
import threading
import time
from collections.abc import Iterator

import docker
import pytest

from arena.app.arena import Arena
from arena.db.submissions import KnownSubmission
from arena.languages.registry import UploadKind
from arena.platform.settings import Settings
from arena.protocol.submissions import HINTS, CauseKind, Stage
from arena.sandbox.builder import ImageBuilder
from arena.scheduler.settling import AttemptFailed, MatchEvent
from tests.images.archives import Draft, docker_25
from tests.soak import SOAK
from tests.submissions import programs
from tests.submissions.opened import HOUSE, counted_games, opened, refill_of, send

pytestmark = pytest.mark.docker

PATIENCE = 400.0


@pytest.fixture
def arena(settings: Settings, image_builder: ImageBuilder, base_image: str) -> Iterator[Arena]:
    """Yield an arena with house bots that accepts submissions."""
    assert base_image
    with opened(settings, image_builder) as arena:
        yield arena


def play_until_over(arena: Arena, ids: list[str], rated: set[str]) -> dict[str, KnownSubmission]:
    """Run the arena until these submissions are over and the bots in ``rated`` have played a rated game."""
    events: list[MatchEvent] = []

    def found() -> dict[str, KnownSubmission]:
        return {each.bot: each for each in arena.store.submissions.newest() if each.id in ids}

    def done() -> bool:
        played = {line.bot for line in arena.store.ratings.standings() if line.entry.games}
        return all(each.stage.over for each in found().values()) and rated <= played

    with arena.coordinator(events.append) as coordinator:
        deadline = time.monotonic() + PATIENCE

        def watch() -> None:
            while not done() and time.monotonic() < deadline:
                time.sleep(0.5)
            coordinator.stop()

        watcher = threading.Thread(target=watch)
        watcher.start()
        coordinator.run(refill_of(arena))
        watcher.join()
    assert not [event for event in events if isinstance(event, AttemptFailed) and not event.lost]
    assert done(), found()
    return found()


def archive(client: docker.DockerClient, base: str) -> bytes:
    """Return the gzip-compressed `docker save` archive of a bot built on its author's machine."""
    packed = io.BytesIO()
    with (
        programs.built(client, base) as image,
        gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file,
    ):
        for piece in image.save(named=False):
            file.write(piece)
    return packed.getvalue()


def small_image(**config: object) -> bytes:
    """Return the archive of a nearly empty image."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in docker_25(Draft(config=dict(config))).items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def kind_of(content: bytes) -> UploadKind:
    """Return the kind of a file: Python source or image archive."""
    return UploadKind.PYTHON if content.lstrip().startswith(b"from arena") else UploadKind.IMAGE


REJECTED = {
    "nothing": (
        small_image(Entrypoint=None),
        Stage.RECEIVED,
        CauseKind.FILE,
        "the image has no start command",
    ),
    "missing": (small_image(), Stage.QUALIFYING, CauseKind.START, "can't start python: no such program"),
    "crashes": (
        programs.CRASHES.encode(),
        Stage.QUALIFYING,
        CauseKind.CRASH,
        r"in game 1 of 3, round 1, turn 4: .*code 1; RuntimeError: I can not go on \(.+, line \d+: .*\)",
    ),
    "network": (
        programs.NETWORK.encode(),
        Stage.QUALIFYING,
        CauseKind.NETWORK,
        "code 1; it tried to use the network, .*: .*name resolution",
    ),
}
"""Content of each rejected bot, with the stage, kind and text of the expected cause."""

if SOAK:
    # The engine reads a whole image for each bot, and the last bot takes half a minute. test_qualification.py
    # tests their causes, tests/sandbox/hostile too little memory, and tests/play late answers.
    REJECTED |= {
        "hungry": (
            programs.HUNGRY.encode(),
            Stage.QUALIFYING,
            CauseKind.MEMORY,
            r"round 1, turn 3: .*ran out of memory \(its limit is 256 MiB\)",
        ),
        "cheats": (
            programs.CHEATS.encode(),
            Stage.QUALIFYING,
            CauseKind.ILLEGAL,
            "illegal move in game 1 of 3, round 1, turn 2: seat 0: soy_sauce is not in the hand",
        ),
        "slow": (
            programs.SLOW.encode(),
            Stage.QUALIFYING,
            CauseKind.SLOW,
            "too slow in game 1 of 3, round 1, turn 1: no answer within 11.0 s .* late 3 times",
        ),
    }


# Takes over 20 s in `make soak`: the good bots play three games each in containers, and one bot times out.
def test_valid_bots_play_and_others_are_rejected_with_the_cause(
    arena: Arena, settings: Settings, docker_client: docker.DockerClient, base_image: str
) -> None:
    """Every bot that can't play is rejected with its own cause. In `make soak`, two good bots are rated too.

    In the short run, tests/cli/test_check.py, test_killed.py and tests/demo/test_journey.py have good bots.
    """
    good = (
        {
            "source": (programs.GOOD.encode(), UploadKind.PYTHON),
            "image": (archive(docker_client, base_image), UploadKind.IMAGE),
        }
        if SOAK
        else {}
    )
    ids = [
        *(send(arena.store, settings, bot, content, kind) for bot, (content, kind) in good.items()),
        *(
            send(arena.store, settings, bot, content, kind_of(content))
            for bot, (content, *_) in REJECTED.items()
        ),
    ]

    over = play_until_over(arena, ids, {*good})

    causes = {bot: each.cause for bot, each in over.items() if each.cause is not None}
    assert causes.keys() == REJECTED.keys()
    for bot, (_, stage, kind, words) in REJECTED.items():
        cause = causes[bot]
        assert (cause.stage, cause.kind, cause.hint) == (stage, kind, HINTS[kind]), cause
        assert re.search(words, cause.text), cause
    assert "I can not go on" in causes["crashes"].stderr
    codes = {"missing": 127, "crashes": 1, "hungry": 137, "slow": None}
    assert all(causes[bot].exit_code == code for bot, code in codes.items() if bot in causes)
    assert {bot for bot, cause in causes.items() if cause.out_of_memory} == causes.keys() & {"hungry"}
    asked = causes["crashes"].request
    assert asked is not None
    where = (asked.game, asked.players, asked.seat, asked.round, asked.turn)
    assert (*where, len(asked.hand)) == (1, 2, 0, 1, 4, 7)
    assert causes["nothing"].request is causes["network"].request is None
    for bot in good:
        assert (over[bot].stage, over[bot].version, over[bot].note) == (Stage.ACTIVE, 1, f"this is {bot}")
        counted = counted_games(arena.store, over[bot].id)
        assert [(game.rules.players, game.seat) for game in counted] == [(2, 0), (3, 1), (5, 4)]
        games = arena.store.submissions.games(over[bot].id)
        assert arena.store.submissions.replay(over[bot].id, games[0].game or "") is not None
    # Rejected submissions aren't on the leaderboard, no file is left, and a rebuild changes no rating.
    assert {line.bot for line in arena.store.ratings.standings()} == {*HOUSE, *good}
    assert list((settings.data_dir / "uploads").iterdir()) == []
    assert arena.store.ladder.rebuild().differing == 0
