"""Which responses are compressed."""

import pytest
from fastapi.testclient import TestClient

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
