"""What the tests in a real browser share."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    # Chromium ends as a whole where its process for graphics has not answered in time a few times: on a busy
    # machine that says nothing.
    "--disable-gpu-watchdog",
    "--disable-gpu-process-crash-limit",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A name that is not this machine's own, so that plain HTTP is what it is on a network.
    "--host-resolver-rules=MAP arena.example 127.0.0.1",
]


expect.set_options(timeout=60_000)  # five seconds otherwise, in which a busy machine may not even draw


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Give a running Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=_FLAGS)
        yield browser
        browser.close()
