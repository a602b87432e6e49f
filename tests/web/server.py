"""The site in a thread of the test process, over a real socket."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import uvicorn
from fastapi import FastAPI

from tests.patience import wait_until


@contextmanager
def serving(app: FastAPI, **options: Any) -> Iterator[tuple[str, int]]:  # noqa: ANN401 - uvicorn's options
    """Serve an application on a free port of this host, and yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener, running(app, listener, **options):
        yield listener.getsockname()


@contextmanager
def running(app: FastAPI, listener: socket.socket, **options: Any) -> Iterator[uvicorn.Server]:  # noqa: ANN401 - uvicorn's options
    """Serve an application on a socket, and yield the server."""
    server = uvicorn.Server(
        uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1, **options)
    )
    thread = Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        wait_until(lambda: server.started, "the site")
        yield server
    finally:
        server.should_exit = True
        thread.join()
