"""An arena and its site as two processes, and authors who use them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from arena.protocol.sandbox_controls import CONTROL_NAMES
from tests.accounts.world import PASSWORD
from tests.demo.running import Place, client_of, started
from tests.patience import WAIT_SECONDS, wait_until
from tests.web.site import served

SETTINGS = {
    # These tests are about submissions. Other tests check the host's controls.
    "ARENA_ACCEPT_MISSING": ",".join(CONTROL_NAMES),
    "ARENA_BOTS_PER_AUTHOR": "20",
}


@dataclass(frozen=True, slots=True)
class Author:
    """Someone with an account, a token and their own computer."""

    browser: httpx2.Client  # logged in
    environment: dict[str, str]  # of commands on that computer, which knows only a site, not an arena

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
            assert site.process.stderr is not None
            assert "Traceback" not in site.process.stderr.read()
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
