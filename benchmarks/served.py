"""CPU time to send the leaderboard, compared with the same server's simplest answer.

Only the serving process counts, without other load and without the client.
"""

import http.client
import multiprocessing
import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

_WARM_UP: Final = 200
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def address_of(site: "subprocess.Popen[str]") -> str | None:
    """Return the address of a started site once it serves, or None if it has exited.

    From then on its log is read and discarded, so that it never waits for a reader.
    """
    for line in site.stderr or ():
        if found := re.search(r"http://[\w.:]+", line):
            threading.Thread(target=_throw_away, args=(site,), daemon=True).start()
            return found[0]
    return None


def _throw_away(site: "subprocess.Popen[str]") -> None:
    for _ in site.stderr or ():
        pass


def cpu_of_an_answer(process: int, url: str, path: str, answers: int) -> float:
    """Return the seconds of processor time that a process needs per answer."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    before = 0.0
    for number in range(_WARM_UP + answers):
        if number == _WARM_UP:
            before = _cpu(process)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        if answer.status != http.client.OK:
            raise RuntimeError(f"{url}{path} answers {answer.status}")
    connection.close()
    return (_cpu(process) - before) / answers


@contextmanager
def plainest() -> Iterator[tuple[int, str]]:
    """Serve a site with one plain answer; yield its process id and address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = multiprocessing.get_context("fork").Process(target=_serve, args=(listener,))
        process.start()
        try:
            yield process.pid or 0, f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            process.terminate()
            process.join()


def _serve(listener: socket.socket) -> None:
    app = FastAPI()

    @app.get("/")
    async def plain() -> PlainTextResponse:  # a plain function would run in a thread
        return PlainTextResponse("ok\n")

    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False))
    server.run(sockets=[listener])


def cpu_of_tree(first: int) -> float:
    """Return the CPU seconds so far of a process, its living descendants, and those they waited for."""
    total = 0.0
    for process in _tree(first):
        # Gone if its parent has waited for it meanwhile, and counted there.
        with suppress(FileNotFoundError, ProcessLookupError):
            total += sum(_times(process)) / _TICKS
    return total


def _tree(process: int) -> Iterator[int]:
    yield process
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):
            for child in thread.read_text().split():
                yield from _tree(int(child))


def _cpu(process: int) -> float:
    """Return the processor time of a process so far, in seconds."""
    return sum(_times(process)[:2]) / _TICKS


def _times(process: int) -> tuple[int, ...]:
    """Return user and system time of a process, then of the children it waited for, in ticks."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return tuple(int(field) for field in fields[11:15])
