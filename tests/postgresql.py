"""A PostgreSQL cluster for tests, in a temporary folder with a socket instead of a port."""

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql

from tests.patience import WAIT_SECONDS, wait_until

_SETTINGS = (
    "-c listen_addresses= -c fsync=off -c synchronous_commit=off -c full_page_writes=off"
    " -c autovacuum=off"  # so that query plans don't depend on when autovacuum runs
)


_WAIT = ("-w", "-t", str(WAIT_SECONDS))


def find_programs() -> Path | None:
    """Return the folder of initdb and pg_ctl: that of Debian's latest version, or one on PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    on_path = shutil.which("initdb")
    found = debian[-1] if debian else Path(on_path).resolve() if on_path else None
    return found and found.parent


class Cluster:
    """A cluster with one server. Root starts it as the user postgres, since it refuses to run as root."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._folder = Path(tempfile.mkdtemp(prefix="kaiten-pg-"))  # short, since socket paths are limited
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(self._folder, self._user)

    def start(self) -> None:
        """Create the cluster, and wait until it accepts connections."""
        data = str(self._folder / "data")
        self._call(
            "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )
        self.resume()

    def resume(self) -> None:
        """Start the server with existing data, and wait until it accepts connections."""
        options = f"{_SETTINGS} -c unix_socket_directories={self._folder}"
        log, data = str(self._folder / "log"), str(self._folder / "data")
        self._call("pg_ctl", "start", *_WAIT, "-D", data, "-l", log, "-o", options)

    def crash(self) -> None:
        """Stop the server as a crash would: connections are cut, and nothing is cleaned up."""
        self._call("pg_ctl", "stop", *_WAIT, "-m", "immediate", "-D", str(self._folder / "data"))

    def address(self, database: str, scheme: str = "postgresql") -> str:
        """Return the URL of one of the cluster's databases."""
        return f"{scheme}://postgres@/{database}?host={quote(str(self._folder), safe='')}"

    @contextmanager
    def administered(self) -> "Iterator[psycopg.Connection[Any]]":
        """Yield a connection that can create and drop databases."""
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            yield connection

    @contextmanager
    def database(self, template: str) -> Iterator[str]:
        """Copy a database that has no sessions, yield the copy's name, and drop the copy after use."""
        name = self.copy(template)
        yield name
        self.drop(name)

    def copy(self, template: str) -> str:
        """Copy a database that has no sessions, and return the copy's name."""
        name = f"kaiten_{uuid.uuid4().hex}"
        words = "CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY"
        self._execute(sql.SQL(words).format(sql.Identifier(name), sql.Identifier(template)))
        return name

    def drop(self, name: str) -> None:
        """Drop a database, even if it has sessions."""
        self._execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def _execute(self, statement: sql.Composed) -> None:
        """Execute a statement that requires a database without sessions.

        The server waits 5 s for sessions to end that were closed or terminated.
        """

        def is_done() -> bool:
            with suppress(psycopg.errors.ObjectInUse):
                connection.execute(statement)
                return True
            return False

        with self.administered() as connection:
            wait_until(is_done, "the end of a database's sessions")

    def remove(self) -> None:
        """Stop the server if it is running, and delete the cluster."""
        if (self._folder / "data" / "postmaster.pid").exists():
            self.crash()
        shutil.rmtree(self._folder)

    def _call(self, program: str, *arguments: str) -> None:
        # Output goes to a file, since the server inherits it, and would keep a pipe open.
        with (self._folder / "output").open("a+") as output:
            done = subprocess.run(  # noqa: S603 - our own argument lists
                [self._programs / program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                user=self._user,
                cwd=self._folder,
                check=False,
            )
            output.seek(0)
            if done.returncode:
                raise RuntimeError(f"{program} ended with {done.returncode}:\n{output.read()}")
