"""Test that a restarted arena continues a submission at its stage after a kill, and repeats nothing."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import docker
import pytest
from docker.errors import APIError

from arena.db.store import Store, open_store
from arena.db.submissions import KnownSubmission
from arena.ladder.qualification import GAMES
from arena.platform.settings import Settings
from arena.protocol.states import MatchState
from arena.protocol.submissions import Stage
from arena.sandbox.runtime import INSTALL_LABEL
from tests.builders import host_report
from tests.db.builders import present
from tests.patience import wait_until
from tests.soak import SOAK
from tests.submissions import programs
from tests.submissions.opened import counted_games, send

pytestmark = pytest.mark.docker


@contextmanager
def running(settings: Settings) -> Iterator[None]:
    """Run an arena, and kill it at the end with SIGKILL."""
    command = [
        sys.executable,
        "-m",
        "tests.submissions.opened",
        str(settings.data_dir),
        str(settings.run_dir),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - our own
        try:
            yield
            assert process.poll() is None
        finally:
            process.kill()


def found(store: Store, id_: str) -> KnownSubmission:
    """Return a submission, which must exist."""
    return present(store.submissions.find(id_))


# Takes over 20 s: after each kill the arena restarts, and its canary checks the sandbox in containers.
def test_a_submission_survives_every_kill(
    settings: Settings, docker_client: docker.DockerClient, base_image: str
) -> None:
    """Kills come during a qualification game and, in `make soak`, the inspection. No file is left."""
    assert base_image
    settings.data_dir.mkdir()
    with closing(open_store(settings.url)) as store:
        store.activity.record_host(host_report(), frozenset())
        id_ = send(store, settings, "mine", programs.GOOD.encode())
        incoming = settings.data_dir / "incoming"

        def games() -> list[MatchState]:
            return [game.state for game in store.submissions.games(id_)]

        if SOAK:
            with running(settings):
                wait_until(lambda: incoming.is_dir() and any(incoming.iterdir()))
        with running(settings):
            wait_until(lambda: MatchState.DONE in games() and MatchState.RUNNING in games())
        with running(settings):
            wait_until(lambda: found(store, id_).stage.over)
        over = found(store, id_)
        assert (over.stage, over.version, over.cause) == (Stage.ACTIVE, 1, None)
        assert set(games()) == {MatchState.DONE}
        assert len(counted_games(store, id_)) == GAMES
        assert [each.id for each in store.submissions.newest()] == [id_]
        assert list((settings.data_dir / "uploads").iterdir()) == []
        assert store.ladder.rebuild().differing == 0
    wait_until(lambda: _removed_all(docker_client, (settings.data_dir / "install").read_text().strip()))


def _removed_all(client: docker.DockerClient, install: str) -> bool:
    """Remove what the last kill left, as the next start would. Return whether nothing was left."""
    left = client.containers.list(
        all=True, ignore_removed=True, filters={"label": f"{INSTALL_LABEL}={install}"}
    )
    for container in left:
        with suppress(APIError):  # the engine may be removing it already
            container.remove(force=True)
    return not left
