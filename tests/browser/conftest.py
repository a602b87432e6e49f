"""Fixtures for the tests in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.visits import Visit, Windows, chromium


@pytest.fixture(scope="package")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Yield a running Chromium, for tests of this package only: it occupies the thread's event loop."""
    with chromium(chromium_path) as browser:
        yield browser


@pytest.fixture
def windows(browser: Browser) -> Iterator[Windows]:
    """Yield an object that opens windows, and check that the browser doesn't complain."""
    windows = Windows(browser)
    yield windows
    windows.close()


@pytest.fixture(scope="module")
def window(browser: Browser, url: str) -> Iterator[Visit]:
    """Yield a window for all tests in a file, since opening one takes longer than opening a page."""
    windows = Windows(browser)
    yield windows.open(url, "desktop", "light")
    windows.close()


@pytest.fixture
def visit(window: Visit) -> Iterator[Visit]:
    """Yield the file's window as if it were new, and check that the browser doesn't complain.

    The site's address comes from the file's fixture ``url``.
    """
    window.complaints.clear()
    window.resize("desktop")
    yield window
    window.page.unroute_all()
    window.page.emulate_media(color_scheme="light", media="null", reduced_motion="null", forced_colors="null")
    window.page.evaluate("localStorage.clear()")
    assert window.complaints == []


@pytest.fixture(scope="module")
def plain_window(browser: Browser, url: str) -> Iterator[Visit]:
    """Yield a window without scripts for all tests in a file."""
    windows = Windows(browser)
    yield windows.open(url, "desktop", "light", script=False)
    windows.close()


@pytest.fixture
def plain(plain_window: Visit) -> Visit:
    """Return the file's window without scripts."""
    plain_window.resize("desktop")
    return plain_window
