"""Tests of the client of one site: responses, errors, and a token that is sent to no other site."""

import gzip
import json
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from requests import ConnectionError as NoConnection
from requests import RequestException
from requests.exceptions import ChunkedEncodingError, ContentDecodingError, SSLError

from arena.client.games import listed
from arena.client.site import MAX_BYTES, SiteClient, connection_error
from arena.client.sites import SiteError, SiteProblem
from arena.protocol.accounts import Account
from arena.protocol.challenges import PlayedGame
from tests.client.live import Other, answering
from tests.ports import silent_port

JSON = {"Content-Type": "application/json"}
TOKEN = "kaiten_secret"  # noqa: S105 - a test token


@contextmanager
def visited(url: str, token: str | None = TOKEN) -> Iterator[SiteClient]:
    """Yield a client of a site."""
    with closing(SiteClient(url, token)) as site:
        yield site


def trouble_of(other: Other) -> str:
    """Return the error for a server that isn't an arena."""
    with visited(other.url) as site, pytest.raises(SiteError) as raised:
        site.get("/account")
    assert not isinstance(raised.value, SiteProblem)
    assert other.url in str(raised.value)
    return str(raised.value)


def test_a_problem_has_status_detail_and_hint() -> None:
    """All three come from the response. If the token is refused, the error says how to create another one."""
    kind, body = {"Content-Type": "application/problem+json"}, b'{"detail": "No such bot.", "hint": "Look."}'
    with answering((404, kind, body), (401, kind, body)) as other, visited(other.url) as site:
        with pytest.raises(SiteProblem) as missing:
            site.get("/bots/nobody")
        found = missing.value
        assert (found.status, found.detail, found.hint) == (404, "No such bot.", "Look.")
        with pytest.raises(SiteProblem) as refused:
            site.get("/account")
        assert refused.value.status == 401
        assert f"arena login {other.url}" in str(refused.value)


def test_a_redirect_is_not_followed_and_the_token_stays() -> None:
    """The error names the other address, which receives no request."""
    with answering((200, JSON, b"{}")) as elsewhere:
        moved = {"Location": f"{elsewhere.url}/api/v1/account"}
        with answering((301, moved, b"")) as other:
            assert f"arena login {elsewhere.url}" in trouble_of(other)
            assert other.asked[0][1]["Authorization"] == f"Bearer {TOKEN}"
        assert elsewhere.asked == []


@pytest.mark.parametrize("location", ["", "/login", "//", "javascript:x", "http://[", "\x1b[2J"])
def test_a_redirect_without_a_usable_target_is_refused(location: str) -> None:
    """Missing, relative, malformed and non-HTTP targets are all refused."""
    with answering((302, {"Location": location}, b"")) as other:
        assert "check that this is an arena's address" in trouble_of(other)


def test_the_next_page_is_one_of_the_same_site() -> None:
    """The client follows a list's link to the next page only on the same site."""
    following = b'{"rows": [1], "next": "/api/v1/more?before=7"}'
    with answering((200, JSON, following), (200, JSON, b'{"rows": [2], "next": null}')) as other:
        with visited(other.url) as site:
            assert list(site.pages("/list", "rows", limit=1)) == [1, 2]
        assert [path for path, _ in other.asked] == ["/api/v1/list?limit=1", "/api/v1/more?before=7"]
    for target in ("http://evil.example/", "//evil.example/api/v1/", "@evil.example/", 7):
        page = json.dumps({"rows": [1], "next": target}).encode()
        with answering((200, JSON, page)) as other, visited(other.url) as site:
            with pytest.raises(SiteError, match="as the next page"):
                list(site.pages("/list", "rows"))
            assert len(other.asked) == 1


def test_games_are_requested_in_large_pages() -> None:
    """Each page has as many games as the API allows, because a list may have any number of games."""
    with answering((200, JSON, b'{"games": [], "next": null}')) as other, visited(other.url) as site:
        assert list(listed(site, bot="mine")) == []
        assert [path for path, _ in other.asked] == ["/api/v1/games?limit=100&bot=mine"]


def test_an_endless_list_is_refused() -> None:
    """The client refuses a page that links to itself."""
    itself = b'{"rows": [1], "next": "/api/v1/list?before=7"}'
    with answering((200, JSON, itself)) as other, visited(other.url) as site:
        with pytest.raises(SiteError, match="an endless list"):
            list(site.pages("/list", "rows"))
        assert len(other.asked) == 2


def test_no_response_fills_the_memory() -> None:
    """A response that becomes too large isn't read completely, and a redirect's body isn't read at all."""
    packed = gzip.compress(b'"' + b" " * MAX_BYTES + b'"')
    headers = {"Content-Encoding": "gzip"}
    with answering((200, JSON | headers, packed)) as other:
        assert "returned more than 32 MiB" in trouble_of(other)
    with answering((302, headers | {"Location": "/login"}, b"no gzip")) as other:
        assert "returned a redirect" in trouble_of(other)


@pytest.mark.parametrize("year", ["0001", "9999"])
def test_an_impossible_time_is_refused(year: str) -> None:
    """Impossible times are refused anywhere in a response."""
    moment = f"{year}-01-01T00:00:00Z"
    token = {"id": 1, "name": "", "prefix": "", "scopes": [], "created": moment, "expires": moment}
    account = {"name": "ann", "role": "user", "created": "2026-11-03T11:00:00Z", "scopes": []}
    played = {"game": "g", "ended": moment, "seats": []}
    answers = {
        Account: account | {"token": token | {"last_used": None}},
        PlayedGame: played,
    }
    with visited("http://localhost") as site:
        for kind, answer in answers.items():
            with pytest.raises(SiteError, match=f"a time in the year {int(year)}"):
                site.read(answer, kind)


def test_missing_certificates_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong REQUESTS_CA_BUNDLE is not reported as a problem of the site."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/no/such.pem")
    with (
        visited("https://localhost:1") as site,
        pytest.raises(SiteError, match="correct REQUESTS_CA_BUNDLE") as raised,
    ):
        site.get("/status")
    assert "/no/such.pem" in str(raised.value)


def test_a_netrc_password_never_replaces_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password from netrc isn't sent, even without a token."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login ann password hunter2\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with answering((200, JSON, b"{}")) as other:
        for token in (TOKEN, None):
            with visited(other.url, token) as site:
                site.get("/status")
        sent = [headers.get("Authorization") for _, headers in other.asked]
    assert sent == [f"Bearer {TOKEN}", None]


@pytest.mark.parametrize(
    ("status", "kind", "body", "words"),
    [
        (200, "text/html; charset=utf-8", b"<h1>Hotel Wi-Fi</h1>", "returned text/html where JSON"),
        (200, "", b"", "where JSON was expected"),
        (200, "application/json", b"{", "check that this is an arena's address"),
        (200, "application/json", b"\xff", "check that this is an arena's address"),
        (502, "text/html", b"Bad Gateway", "returned 502"),
        (404, "application/json", b'{"detail": "no"}', "returned 404"),
        (500, "application/problem+json", b"[", "returned 500"),
        (500, "application/problem+json", b"[]", "returned 500"),
        (200, "application/json", b"[" * 100_000, "nested too deep"),
        (200, "application/json", b'"\xff\xfe"', "check that this is an arena's address"),
        (500, "application/problem+json", b"[" * 100_000, "returned 500"),
        (500, "application/problem+json", b'"\xff"', "returned 500"),
    ],
)
def test_responses_of_other_servers_are_recognised(status: int, kind: str, body: bytes, words: str) -> None:
    """Captive portals, proxies and other services aren't taken for an arena."""
    with answering((status, {"Content-Type": kind}, body)) as other:
        assert words in trouble_of(other)


def test_a_response_of_another_shape_is_refused() -> None:
    """The error for an unexpected response is a sentence, not a traceback."""
    with answering((200, JSON, b'{"name": 7}')) as other, visited(other.url) as site:
        with pytest.raises(SiteError, match="are the same version"):
            site.read(site.get("/account"), Account)
        with pytest.raises(SiteError, match="no list of rows"):
            list(site.pages("/leaderboard", "rows"))


def test_an_unreachable_site_is_reported() -> None:
    """The error includes the operating system's reason."""
    refused = pytest.raises(SiteError, match=r"can't be reached \(Connection refused\)")
    with silent_port() as port, visited(f"http://127.0.0.1:{port}") as site, refused:
        site.get("/account")


def test_a_broken_connection_is_an_error() -> None:
    """A connection that breaks in the middle of a response is an error."""
    short = {"Content-Type": "application/json", "Content-Length": "100"}
    with answering((200, short, b"{")) as other:
        assert "was lost (IncompleteRead(1 bytes read, 99 more expected)): try again" in trouble_of(other)


@pytest.mark.parametrize(
    ("error", "cause", "words"),
    [
        (SSLError(), ssl.SSLEOFError(8, "EOF"), "was lost (EOF): try again"),
        (SSLError(), ssl.SSLCertVerificationError(1, "expired"), "can't be trusted (expired)"),
        (NoConnection(), TimeoutError("timed out"), "is not responding: try again later"),
        (NoConnection(), TimeoutError(110, "too slow"), "can't be reached (too slow)"),
        (ChunkedEncodingError("ended"), ValueError(), "was lost (ended): try again"),
        (ContentDecodingError(), ValueError(), "data that can't be decoded"),
    ],
)
def test_errors_of_a_connection_are_told_apart(error: RequestException, cause: Exception, words: str) -> None:
    """The cause decides: the requests library reports many errors alike."""
    error.__cause__ = cause
    assert words in connection_error("http://x.example", error)


def test_a_server_without_a_certificate_gets_nothing() -> None:
    """The error says that HTTPS failed, and no request is sent."""
    with answering((200, JSON, b"{}")) as other:
        url = other.url.replace("http:", "https:")
        with visited(url) as site, pytest.raises(SiteError, match=r"certificate of .* can't be trusted"):
            site.get("/account")
        assert other.asked == []
