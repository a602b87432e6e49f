"""An author who runs commands on their own machine, with their own configuration, against a running site."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli.command import arena, environment
from tests.cli.forked import CommandResult, Started, started
from tests.client.live import Live


@dataclass(frozen=True, slots=True)
class Author:
    """Someone who writes bots."""

    home: Path  # working folder of the commands, which also has the configuration
    live: Live  # the site

    @property
    def settings(self) -> dict[str, str]:
        """The author's environment variables."""
        return {"XDG_CONFIG_HOME": str(self.home / "config")}

    @property
    def kept(self) -> Path:
        """The file of stored logins."""
        return self.home / "config" / "kaiten" / "sites.json"

    def types(self, *words: str, text: str = "", **settings: str) -> CommandResult:
        """Run a command to its end."""
        done = arena(*words, folder=self.home, text=text, **self.settings, **settings)
        return CommandResult(done.returncode, done.stdout, done.stderr)

    def log_in(self, name: str = "ann") -> str:
        """Log in with a new token, and return it."""
        token = self.live.token(name)
        said = self.types("login", self.live.url, text=f"{token}\n")
        assert said.code == 0, said.err
        return token

    def redirect(self, url: str) -> None:
        """Replace the site's address in the file of stored logins."""
        self.kept.write_text(self.kept.read_text().replace(self.live.url, url))

    def source(self, name: str = "mine.py") -> str:
        """Write a bot's file, and return the file's name."""
        (self.home / name).write_text("print('I am a bot')\n")
        return name

    @contextmanager
    def typing(self, *words: str) -> Iterator[Started]:
        """Start a command, and kill it at the end if it is still running."""
        with started(words, self.home, environment() | self.settings) as command:
            yield command


def refused(said: CommandResult, code: int) -> str:
    """Check that a command was refused with one line, and return that line."""
    assert (said.code, said.out) == (code, ""), said.err
    (line,) = said.err.splitlines()
    assert line.startswith("arena: ")
    return line


def drained(terminal: int) -> str:
    """Return everything written to a terminal until its other end is closed."""
    seen = b""
    try:
        while piece := os.read(terminal, 1000):
            seen += piece
    except OSError:
        pass  # on Linux, the other end is closed
    os.close(terminal)
    return seen.decode()
