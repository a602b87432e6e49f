"""An arena that plays untrusted bots on any host. Run as a program, it plays until it is killed."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import docker

from arena.app.arena import Arena, open_arena
from arena.db.store import Store
from arena.images.build.context import build_bot_image
from arena.ladder.qualification import Played, standing
from arena.languages.registry import UploadKind
from arena.platform.settings import Settings
from arena.play.botfiles import samples
from arena.protocol.match import RuntimeName
from arena.protocol.sandbox_controls import CONTROL_NAMES
from arena.sandbox.builder import ImageBuilder
from arena.sandbox.factory import open_builder
from arena.submissions.receiver import Upload, open_receiver
from tests.builders import host_report

HOUSE = ("random", "greedy", "spoiler", "expected")


def settings_in(data: Path, sockets: Path) -> Settings:
    """Return the settings of a new arena."""
    return Settings(data_dir=data, run_dir=sockets, accept_missing=frozenset(CONTROL_NAMES), disk_floor_gib=0)


@contextmanager
def opened(settings: Settings, builder: ImageBuilder) -> Iterator[Arena]:
    """Yield an arena with some house bots. Its host is recorded as passing every control."""
    with open_arena(settings) as arena:
        arena.store.activity.record_host(host_report(), frozenset())
        arena.ladder.gate.decide(host_report(), ())
        arena.ladder.enter_house_bots((name, build_bot_image(builder, samples() / name)) for name in HOUSE)
        yield arena


def send(
    store: Store, settings: Settings, bot: str, content: bytes, kind: UploadKind = UploadKind.PYTHON
) -> str:
    """Submit a file, and return the submission's ID."""
    upload = Upload(bot=bot, author=f"author-of-{bot}", account=None, kind=kind, note=f"this is {bot}")
    with open_receiver(settings, store).begin(upload) as incoming:
        for start in range(0, len(content), 2**20):
            incoming.write(content[start : start + 2**20])
        return incoming.finish().id


def counted_games(store: Store, submission: str) -> tuple[Played, ...]:
    """Return a submission's finished games, without those that are repeated because the host was busy."""
    games = store.submissions.games(submission)
    return standing([game.played for game in games if game.played is not None]).games


def submitted_images(client: docker.DockerClient, install: str) -> list[str]:
    """Return the names of an installation's submitted images in the engine.

    Equal bots have equal images, so an image may also have other installations' names.
    """
    repository = f"kaiten/submitted-{install}"
    found: Any = client.api.images(name=repository)
    names = {tag for image in found for tag in image["RepoTags"] or ()}
    return sorted(name for name in names if name.partition(":")[0] == repository)


def refill_of(arena: Arena) -> Callable[[], bool]:
    """Return a function that adds a rated match once all submissions are over.

    Earlier matches would only take processor time from the submissions.
    """

    def refill() -> bool:
        if all(each.stage.over for each in arena.store.submissions.newest()):
            arena.ladder.add_match()
        return True

    return refill


def main() -> None:
    """Run the arena and play until killed."""
    settings = settings_in(Path(sys.argv[1]), Path(sys.argv[2]))
    with (
        closing(open_builder(RuntimeName.DOCKER)) as builder,
        opened(settings, builder) as arena,
        arena.coordinator() as coordinator,
    ):
        coordinator.run(refill_of(arena))


if __name__ == "__main__":
    main()
