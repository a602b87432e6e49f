"""What the tests in a real browser share."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A name that is not this machine's own, so that plain HTTP is what it is on a network.
    "--host-resolver-rules=MAP arena.example 127.0.0.1",
]


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Give a running Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=_FLAGS)
        yield browser
        browser.close()
