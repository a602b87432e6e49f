"""What the tests in a real browser share."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.visits import Windows, chromium


@pytest.fixture(scope="package")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Give a running Chromium. Tests elsewhere must not run beside it: it keeps this thread's event loop."""
    with chromium(chromium_path) as browser:
        yield browser


@pytest.fixture
def windows(browser: Browser) -> Iterator[Windows]:
    """Give what opens windows."""
    windows = Windows(browser)
    yield windows
    windows.close()
