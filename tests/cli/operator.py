"""An operator who runs commands, one after another, on the host of an arena with several bots."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from typer.testing import CliRunner

from arena.cli.main import app
from arena.db.store import Store, open_store
from tests.cli.forked import CommandResult
from tests.db.builders import add_bot, claimed, finished


@dataclass(frozen=True, slots=True)
class Operator:
    """Runs operators' commands, which don't ask for confirmation because their input is not a terminal."""

    url: str  # of the arena's database

    def types(self, *words: str, text: str = "") -> CommandResult:
        """Run ``arena admin`` with these words."""
        settings = {"ARENA_DATABASE_URL": self.url, "ARENA_DATA_DIR": "/nowhere"}
        done = CliRunner().invoke(app, ["admin", *words], input=text, env=settings)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return CommandResult(done.exit_code, done.stdout, done.stderr)

    def does(self, *words: str, text: str = "") -> str:
        """Run a command that must succeed, and return what it prints on stdout."""
        done = self.types(*words, text=text)
        assert done.code == 0, done.err
        return done.out

    def reads(self, *words: str) -> Any:  # noqa: ANN401 - JSON
        """Run a command with ``--json`` and return what it prints."""
        return json.loads(self.does(*words, "--json"))

    def is_refused(self, *words: str) -> str:
        """Run a command that must be refused, and return its one-line message."""
        done = self.types(*words)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("arena: ")
        assert done.err.count("\n") == 1
        return done.err.removeprefix("arena: ").rstrip()

    def log(self) -> list[tuple[str, str, str]]:
        """Return action, object and details of each audit log line. All must be by this host's user."""
        lines = [line.split("\t") for line in self.does("audit").splitlines()]
        assert all(line[2].startswith("terminal:") for line in lines)
        return [(line[3], line[4], line[5]) for line in lines]

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Yield the arena's store."""
        with closing(open_store(self.url)) as store:
            yield store

    def fill(self) -> None:
        """Add Ann's ``mine``, ben's ``other``, a game between the two, and a second version of ``mine``.

        ``greedy`` is a house bot.
        """
        with self.store() as store:
            mine = add_bot(store, "mine", source="sha256:a", author="Ann")
            other = add_bot(store, "other", author="ben")
            add_bot(store, "greedy", author="house")
            assert store.results.record(finished(claimed(store, (mine, other), deals=1), [(1, 2)]))
            add_bot(store, "mine", source="sha256:b", author="Ann")
