"""What the tests in a real browser share."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.visits import NAME, Windows

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
    f"--host-resolver-rules=MAP {NAME} 127.0.0.1",
]
# Playwright's own list, which this one replaces, and the pages that Chromium loads into each window's address
# bar: they cost more than the page that is tested.
_WITHOUT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
)

expect.set_options(timeout=60_000)  # five seconds otherwise, in which a busy machine may not even draw


@pytest.fixture(scope="package")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Give a running Chromium. Tests elsewhere must not run beside it: it keeps this thread's event loop."""
    flags = [*_FLAGS, f"--disable-features={','.join(_WITHOUT)}"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def windows(browser: Browser) -> Iterator[Windows]:
    """Give what opens windows."""
    windows = Windows(browser)
    yield windows
    windows.close()
