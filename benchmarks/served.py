"""CPU time to send the leaderboard, compared with the simplest response of the same server.

Only the time of the serving process counts, not that of the client or of other load.
"""

import http.client
import multiprocessing
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

_WARM_UP: Final = 200
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def cpu_of_an_answer(process: int, url: str, path: str, answers: int) -> float:
    """Return the seconds of processor time that a process needs per response."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    before = 0.0
    for number in range(_WARM_UP + answers):
        if number == _WARM_UP:
            before = cpu_of(process)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        if answer.status != http.client.OK:
            raise RuntimeError(f"{url}{path} returned {answer.status}")
    connection.close()
    return (cpu_of(process) - before) / answers


@contextmanager
def plainest() -> Iterator[tuple[int, str]]:
    """Serve a site that always returns the same minimal response; yield its process ID and address."""
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
    async def plain() -> PlainTextResponse:  # without async, this would run in a thread
        return PlainTextResponse("ok\n")

    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False))
    server.run(sockets=[listener])


def cpu_of(process: int) -> float:
    """Return the processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
