"""An arena like an operator's: a data directory, and a process that may end at any moment."""

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import docker

from arena.app.folders import install_id
from arena.app.playing import house_bots
from arena.db.audit import NewAuditEntry
from arena.db.bots import NewVersion
from arena.db.ladder import Rebuilt
from arena.db.matches import NewMatch
from arena.db.store import open_store
from arena.db.submissions import KnownSubmission
from arena.ladder.matchmaking import draw_seatings, rotations
from arena.ladder.settings import LadderChange
from arena.languages.registry import UploadKind
from arena.platform.settings import Settings
from arena.play.botfiles import samples
from arena.protocol.match import Clock, Limits, RuntimeName
from arena.rules import Rules
from arena.sandbox.runtime import INSTALL_LABEL
from arena.submissions.receiver import Upload, open_receiver
from tests.faults.books import Ledger
from tests.faults.processes import (
    LONGEST_POLL_SECONDS,
    Popen,
    begin,
    kill_tree,
    left_of_arenas,
    wait_until,
    waited_for_a_processor,
)

QUICK: Final = ("random", "greedy", "spoiler")
"""Sample bots that need hardly any processor time."""

PATIENT: Final = Clock(start_millis=60_000, move_millis=20_000, bank_millis=60_000)
"""A clock so slow that a busy host makes no bot late. Any blamed bot is then the arena's mistake."""

_CLAIM_SECONDS: Final = 180.0
_END_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class Again:
    """The time until a match was claimed again."""

    seconds: float
    waited: float = 0.0  # the part of `seconds` in which the starting process waited for a processor


class Installation:
    """An arena in its own folder. Its ladder is paused, so it plays only the matches queued here.

    ``samples`` are the ids of the sample bots' versions, and ``sources`` their sources by name. The database
    is SQLite in the data directory unless ``url`` names another. ``python`` is the command that runs Python,
    ``variables`` are added to the environment, such as ``DOCKER_HOST``.
    """

    def __init__(
        self,
        sandbox: RuntimeName,
        *,
        url: str | None = None,
        variables: Mapping[str, str] | None = None,
        python: Sequence[str] = (sys.executable,),
        data_dir: Path | None = None,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kf-"))
        self.folder.chmod(0o711)
        self.data_dir = data_dir or self.folder / "data"
        self.data_dir.mkdir(exist_ok=True, mode=0o700)
        self.sandbox = sandbox
        self.url = url or f"sqlite:///{self.data_dir / 'arena.sqlite3'}"
        self.name = install_id(self.data_dir)
        self.log = self.folder / "log"
        self.process: Popen | None = None
        self.begun = 0.0
        self._written = 0
        self._python = python
        self._variables = dict(variables or {})
        self._tables = 0
        self.sources = dict(self._sample_sources())
        with closing(open_store(self.url)) as store:
            entry = NewAuditEntry(at=datetime.now(UTC), who="terminal:root", what="ladder")
            store.ladder.change(LadderChange(paused=True), entry)
            self.samples = [
                store.bots.add_version(
                    NewVersion(bot=bot, author="house", house=True, source=source, created=datetime.now(UTC))
                )
                for bot, source in self.sources.items()
            ]
        self.ledger = Ledger(self.url)

    def _sample_sources(self) -> list[tuple[str, str]]:
        if self.sandbox is RuntimeName.PROCESS:
            return [(bot, str((samples() / bot).resolve())) for bot in QUICK]
        before = os.environ.get("DOCKER_HOST")
        os.environ.update(self._variables)
        try:
            return [(bot, source) for bot, source in house_bots(RuntimeName.DOCKER, print) if bot in QUICK]
        finally:
            os.environ.pop("DOCKER_HOST", None)
            if before is not None:
                os.environ["DOCKER_HOST"] = before

    def add(self, bot: str, source: str) -> int:
        """Add an author's bot, which :meth:`queue` doesn't choose; return its version's id."""
        new = NewVersion(bot=bot, author="faults", house=False, source=source, created=datetime.now(UTC))
        with closing(open_store(self.url)) as store:
            return store.bots.add_version(new)

    def queue(
        self,
        dice: random.Random,
        tables: int = 1,
        *,
        players: int = 2,
        deals: int = 4,
        clock: Clock = PATIENT,
    ) -> None:
        """Queue matches of random sample bots: for each table one match per player."""
        for _ in range(tables):
            self.queue_table(dice, dice.sample(self.samples, players), deals, clock)

    def queue_table(self, dice: random.Random, bots: Sequence[int], deals: int, clock: Clock) -> None:
        """Queue one match per bot between these versions."""
        self._tables += 1
        with closing(open_store(self.url)) as store:
            for index, order in enumerate(rotations(bots)):
                new = NewMatch(
                    id=f"f{self.name}{self._tables}-{index}",
                    rules=Rules(players=len(bots)),
                    bots=order,
                    seeds=tuple(dice.randbytes(16).hex() for _ in range(deals)),
                    seatings=draw_seatings(len(bots), deals, dice),
                    clock=clock,
                    limits=Limits(),
                    runtime=self.sandbox,
                    created=datetime.now(UTC),
                )
                store.queue.add(new)

    def submit(self, bots: Mapping[str, bytes]) -> None:
        """Submit Python sources, each by a different author."""
        settings = Settings(data_dir=self.data_dir, database_url=self.url, disk_floor_gib=0)
        with closing(open_store(self.url)) as store:
            receiver = open_receiver(settings, store, own=True)
            for bot, source in bots.items():
                upload = Upload(bot=bot, author=f"author-of-{bot}", account=None, kind=UploadKind.PYTHON)
                with receiver.begin(upload) as incoming:
                    incoming.write(source)
                    incoming.finish()

    def submissions(self) -> tuple[KnownSubmission, ...]:
        """Return all submissions."""
        with closing(open_store(self.url)) as store:
            return store.submissions.newest()

    def start(self, failpoint: str | None = None) -> None:
        """Start the coordinator without waiting for it."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        environment |= self._variables
        environment |= {
            "ARENA_DATA_DIR": str(self.data_dir),
            "ARENA_RUN_DIR": str(self.folder / "run"),
            "ARENA_SANDBOX": str(self.sandbox),
            "ARENA_DATABASE_URL": self.url,
            "ARENA_LOG_FORMAT": "json",
        }
        if failpoint is not None:
            environment["ARENA_FAILPOINT"] = failpoint
        self._written = self.log.stat().st_size if self.log.exists() else 0
        self.begun = time.monotonic()
        words = [*self._python, "-m", "arena", "coordinator"]
        self.process = begin(words, self.log, environment)

    def start_and_claim(self, failpoint: str | None = None) -> Again:
        """Start the coordinator, wait until it has claimed a match, and return how long that took."""
        before = self.ledger.claims()
        self.start(failpoint)
        return self.wait_for_claim(before, self.begun)

    def wait_for_claim(self, before: int, since: float, among: frozenset[str] = frozenset()) -> Again:
        """Wait for another claim, and return the time from ``since``, by the monotonic clock.

        ``before`` is the number of claims so far, of the matches ``among`` or of all. Raises RuntimeError if
        the coordinator exits first, or TimeoutError if no match is claimed in time.
        """

        def claimed() -> bool:
            return self.ledger.claims(among) > before

        looked = since

        def over() -> bool:
            nonlocal looked
            now = time.monotonic()
            if claimed() or self.ended:
                return True
            looked = now
            return False

        wait_until(over, _CLAIM_SECONDS, "no match was claimed")
        # Later only if this process had to wait for a processor; the claim may have been much earlier.
        seconds = min(time.monotonic(), looked + LONGEST_POLL_SECONDS) - since
        if not claimed():
            raise self._failed()
        return Again(seconds, waited_for_a_processor(self.pid) if since == self.begun else 0.0)

    @property
    def ended(self) -> bool:
        """Whether the process has ended, or was never started."""
        return self.process is None or self.process.poll() is not None

    @property
    def is_ready(self) -> bool:
        """Whether the process has logged that it plays rated games."""
        return b"playing rated games" in self.log.read_bytes()[self._written :]

    @property
    def exit_code(self) -> int | None:
        """Exit code of the last process; None while it is running."""
        return self.process.poll() if self.process is not None else None

    @property
    def pid(self) -> int:
        """Id of the process."""
        assert self.process is not None
        return self.process.pid

    def kill(self, *, tree: bool = False) -> None:
        """Kill the process, with ``tree`` all its descendants too."""
        assert self.process is not None
        if tree:
            kill_tree(self.process.pid)
        else:
            self.process.kill()
        self.process.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process."""
        assert self.process is not None
        self.process.send_signal(number)

    def drain(self) -> int:
        """Send SIGTERM, wait, and return the exit code."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(_END_SECONDS)

    def play_out(self, seconds: float = _END_SECONDS) -> None:
        """Play all open matches, starting the process if necessary, then stop it.

        Raises RuntimeError if the process exits early or with an error, TimeoutError if matches remain open.
        """
        if self.ended:
            self.start()
        wait_until(
            lambda: self.ended or (self.is_ready and not self.ledger.open()),
            seconds,
            "matches are still open",
        )
        code = self.drain()
        if code or self.ledger.open():
            raise self._failed()

    def _failed(self) -> RuntimeError:
        assert self.process is not None
        return RuntimeError(
            f"the coordinator ended with {self.process.poll()}:\n{self.log.read_text()[-4_000:]}"
        )

    def rebuild(self) -> tuple[Rebuilt, int]:
        """Rebuild ratings and card statistics; return what was corrected in each."""
        with closing(open_store(self.url)) as store:
            return store.ladder.rebuild(), store.cards.rebuild().differing

    def leftovers(self) -> list[str]:
        """Return the processes, folders and containers that are left after the arena has ended."""
        left = [f"process {process.pid}: {process.command}" for process in left_of_arenas()]
        left += [str(path) for path in (self.folder / "run" / self.name).rglob("*")]
        left += [str(path) for path in Path(tempfile.gettempdir()).glob(f"kaiten.{self.name}.*")]
        if self.sandbox is RuntimeName.DOCKER:
            with closing(
                docker.DockerClient(base_url=self._variables.get("DOCKER_HOST"), timeout=30)
            ) as client:
                found = client.api.containers(all=True, filters={"label": f"{INSTALL_LABEL}={self.name}"})
                left += [f"container {container['Names']}" for container in found]
        return left

    def events(self, *wanted: str) -> list[dict[str, Any]]:
        """Return the log's entries of these events, by default all."""
        found = []
        for line in self.log.read_text().splitlines():
            if line.startswith("{"):
                entry = json.loads(line)
                if not wanted or entry["event"] in wanted:
                    found.append(entry)
        return found

    def remove(self) -> None:
        """Kill the arena, and delete its folder."""
        if self.process is not None and not self.ended:
            self.kill(tree=True)
        self.ledger.close()
        shutil.rmtree(self.folder, ignore_errors=True)
