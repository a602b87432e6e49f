"""Static files at versioned addresses, and which responses are compressed."""

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


_TEXTS = ["/", "/leaderboard", "/api/v1/leaderboard", "/static/site.css"]


@pytest.mark.parametrize(
    ("path", "refused"),
    [*((path, "gzip;q=0") for path in _TEXTS), ("/", "br, gzip; q=0.0"), ("/", "gzip;q=0, br;q=1")],
)
def test_a_client_can_refuse_compression(client: TestClient, path: str, refused: str) -> None:
    """A quality of zero refuses gzip, even while a compressed page is cached."""
    for accepted, encoding in (("gzip;q=0.5", "gzip"), (refused, None), ("gzip", "gzip"), (refused, None)):
        answer = client.get(path, headers={"Accept-Encoding": accepted})
        assert answer.headers.get("content-encoding") == encoding
        assert "Accept-Encoding" in answer.headers["vary"]


@pytest.mark.parametrize("path", _TEXTS)
def test_text_is_compressed(client: TestClient, path: str) -> None:
    """The text is the same with and without compression, even if cached. A 304 has no encoding."""
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    for _ in range(2):
        answer = client.get(path, headers={"Accept-Encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip"
        assert "Accept-Encoding" in answer.headers["vary"]
        assert answer.text == plain.text
        assert int(answer.headers["content-length"]) < len(plain.content)
    assert "content-encoding" not in plain.headers
    again = client.get(path, headers={"Accept-Encoding": "gzip", "If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "content-encoding" not in again.headers


def test_pictures_are_not_compressed_again(client: TestClient) -> None:
    """PNG files are already compressed."""
    answer = client.get("/games/faulty-0-0/og.png", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in answer.headers
    assert answer.content.startswith(b"\x89PNG")
