"""Find Chromium."""

import shutil


def find_chromium() -> str | None:
    """Return the path of Chromium's program, or None if it is not installed."""
    # The first one has no window system, and needs a quarter less time.
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)
