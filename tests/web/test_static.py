"""Static files at versioned addresses."""

import re

import pytest
from fastapi.testclient import TestClient

from web.http.static import STATIC


def test_the_current_version_is_cached_forever(client: TestClient) -> None:
    """Browsers don't request the file again. If they do, they get a 304."""
    answer = client.get(f"{STATIC}/site.css")
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    again = client.get(f"{STATIC}/site.css", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.headers["Cache-Control"]) == (304, answer.headers["Cache-Control"])


@pytest.mark.parametrize("folder", ["/static", f"/static/{'0' * 16}"])
def test_other_versions_have_the_same_files_and_are_revalidated(client: TestClient, folder: str) -> None:
    """Pages from before an upgrade still find their style sheet."""
    answer = client.get(f"{folder}/site.css")
    assert answer.content == client.get(f"{STATIC}/site.css").content
    assert answer.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize(
    "path", ["", "/", "/nothing.css", "/..%2f..%2fapp.py", f"{STATIC[7:]}/site.css", "/%00"]
)
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    """Folders and files elsewhere aren't served, with or without a version."""
    assert client.get(f"{STATIC}{path}").status_code == 404


def test_pages_and_scripts_use_only_the_current_version(client: TestClient) -> None:
    """Scripts use relative addresses."""
    for page in ("/", "/leaderboard", "/cards", "/rules", "/docs", "/tv", "/submit"):
        text = client.get(page).text
        assert set(re.findall(r'"(/static/[^/"]+)/', text)) <= {STATIC}, page
        for script in re.findall(r'src="([^"]+\.js)"', text):
            assert "/static/" not in client.get(script).text, script
