"""Data files: downloads, and requests by a notebook that runs in the browser on another site."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from arena.ops.export.manifest import MANIFEST
from tests.browser.visits import Visit, Windows, elsewhere, new_page
from tests.databases import sqlite_store
from tests.db.builders import START
from tests.web.exported import SIZE, content_of, name_of, put_files
from tests.web.site import opened

pytestmark = pytest.mark.chromium

NAME = name_of(START.date())

ASK = """
async ([url, method, headers, credentials]) => {
  try {
    const answer = await fetch(url, {method, headers, credentials});
    const body = new Uint8Array(await answer.arrayBuffer());
    return {
      status: answer.status, length: body.length, first: [...body.slice(0, 4)],
      range: answer.headers.get("Content-Range"), etag: answer.headers.get("ETag"),
    };
  } catch (error) {
    return {refused: error.name};
  }
}
"""
"""Sends a request from a page, and returns parts of the response, or the error."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a site with a day's files."""
    folder = tmp_path_factory.mktemp("data")
    sqlite_store(folder / "arena.sqlite3").close()
    put_files(folder / "exports", 1)
    with opened(folder) as site:
        yield site.url


def test_a_click_downloads_a_file(visit: Visit) -> None:
    """The browser saves the file under its own name instead of showing it."""
    page = visit.page
    visit.open("/data")
    with page.expect_download() as begun:
        page.get_by_role("row").filter(has_text=str(START.date())).get_by_role("link").first.click()
    assert begun.value.suggested_filename == NAME
    assert begun.value.path().read_bytes() == content_of(NAME)


def test_a_notebook_on_another_site_reads_files(windows: Windows, url: str) -> None:
    """A notebook can read the manifest, whole files and ranges, without cookies. All else is refused."""
    with elsewhere() as other:
        visit = windows.open(other, "desktop", "light")
        visit.open("/")

        def ask(
            path: str, method: str = "GET", credentials: str = "omit", **headers: str
        ) -> dict[str, object]:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            answer: dict[str, object] = visit.page.evaluate(ASK, [url + path, method, sent, credentials])
            return answer

        assert ask(f"/data/{MANIFEST}")["status"] == 200
        content, file = content_of(NAME), f"/data/{NAME}"
        whole = ask(file)
        assert (whole["status"], whole["length"]) == (200, SIZE)
        assert ask(file, "HEAD")["etag"] == whole["etag"] is not None
        part = ask(file, Range="bytes=100-299", If_Range=str(whole["etag"]))
        assert (part["status"], part["length"], part["first"]) == (206, 200, [*content[100:104]])
        assert part["range"] == f"bytes 100-299/{SIZE}"
        assert ask("/data/missing")["status"] == 404
        for refused in (
            ask(file, credentials="include"),
            ask(file, "PUT"),
            ask("/api/v1/leaderboard"),
            ask("/data"),
        ):
            assert refused == {"refused": "TypeError"}
        visit.forgive("CORS policy")
        visit.forgive("Failed to load resource")


def test_the_day_of_a_file_is_the_same_in_all_zones(browser: Browser, url: str) -> None:
    """The page shows the day in the file's name, even where midnight UTC is on the evening before."""
    page = new_page(browser, timezone_id="America/New_York")
    page.goto(f"{url}/data")
    day = page.locator("time").first
    expect(day).to_have_text(START.date().isoformat())
    page.context.close()
