"""Fixtures of the tests in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.visits import Windows, chromium


@pytest.fixture(scope="package")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Yield a running Chromium, for tests of this package only: it occupies the thread's event loop."""
    with chromium(chromium_path) as browser:
        yield browser


@pytest.fixture
def windows(browser: Browser) -> Iterator[Windows]:
    """Yield an opener of windows."""
    windows = Windows(browser)
    yield windows
    windows.close()
