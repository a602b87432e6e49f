"""Find Chromium."""

import shutil


def find_chromium() -> str | None:
    """Return the path of the Chromium executable, or None if it is not installed."""
    # The first has no windowing system, and takes a quarter less time.
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)
