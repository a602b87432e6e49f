"""Sends requests to one site, with a token, and turns errors into readable messages.

A token is sent only to the site's own address: redirects are not followed.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from http import HTTPStatus
from http.client import HTTPException, IncompleteRead
from ssl import SSLEOFError, SSLZeroReturnError
from typing import Any, Final, TypeVar
from urllib.parse import urljoin

import msgspec
import requests

from arena import __version__
from arena.client.sites import NoResponse, SiteError, SiteProblem, WrongLogin, check_address
from arena.protocol.decoding import prepared

MAX_BYTES: Final = 32 * 1024 * 1024
"""Maximum size of a response after decompression; an arena's responses are far smaller."""

MAX_EVENT_BYTES: Final = 1024 * 1024
"""Maximum size of one event in a stream. An event ends with an empty line."""

_PIECE: Final = 64 * 1024


def connection_error(address: str, error: requests.RequestException) -> str:
    """Return a message for an error raised by the requests library."""
    causes, reason = tuple(_chain(error)), _reason(error)
    match error:
        case requests.exceptions.ContentDecodingError():
            text = f"{address} sent data that can't be decoded: check that this is an arena's address"
        case _ if any(isinstance(each, _LOST) for each in causes):
            text = f"the connection to {address} was lost ({reason}): try again"
        case requests.exceptions.SSLError():
            text = (
                f"the certificate of {address} can't be trusted ({reason}): check the address or, "
                "for a private certificate authority, set REQUESTS_CA_BUNDLE"
            )
        case requests.exceptions.ProxyError():
            text = f"the proxy for {address} can't be used ({reason}): check HTTPS_PROXY and NO_PROXY"
        case requests.exceptions.ConnectTimeout():
            text = (
                f"{address} can't be reached: nothing is responding there; check the address and your network"
            )
        case _ if any(isinstance(each, TimeoutError) and each.errno is None for each in causes):
            text = f"{address} is not responding: try again later"
        case _:
            text = f"{address} can't be reached ({reason}): check the address and your network"
    return text


_LOST: Final = (
    BrokenPipeError,
    ConnectionResetError,
    IncompleteRead,
    SSLEOFError,
    SSLZeroReturnError,
    requests.exceptions.ChunkedEncodingError,
)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    inner: BaseException | None = error
    while inner is not None:
        yield inner
        inner = inner.__cause__ or inner.__context__


def _reason(error: BaseException) -> str:
    """Return the innermost message of the operating system or of HTTP, or else the error's own text."""
    words = str(error)
    for each in _chain(error):
        if isinstance(each, OSError) and each.strerror:
            words = each.strerror
        elif isinstance(each, HTTPException):
            words = str(each)
    return words


_API: Final = "/api/v1"
_TIMEOUTS: Final = (10.0, 60.0)
"""Timeouts in seconds: for connecting, and for each wait for more of the response."""

_UPLOAD_TIMEOUTS: Final = (30.0, 180.0)
"""Timeouts for uploads. The first also limits how long sending may stall; the second gives the site time to
store a large file."""

_MAX_RETRY_AFTER: Final = 60
"""Longest Retry-After, in seconds, that is worth waiting for."""

_DIGITS: Final = 9
_REDIRECTS: Final = range(300, 400)
_YEARS: Final = range(1970, 9999)
"""Years whose times can be converted to any time zone."""

T = TypeVar("T")


class SiteClient:
    """A client for one site. Close it after use.

    Methods raise SiteError if no arena responds, and SiteProblem if the arena rejects the request.
    ``address`` comes from :func:`arena.client.sites.check_address`; without a token, requests are anonymous.
    """

    def __init__(self, address: str, token: str | None = None) -> None:
        self.address = address
        self._token = token
        self._session = _Session()
        self._session.headers["User-Agent"] = f"kaiten-arena/{__version__}"

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def get(self, path: str, **query: str | int) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON at a path below /api/v1."""
        return self._json(self._request("GET", path, params=query))

    def download(self, path: str) -> bytes:
        """Return the JSON document at a path on the site, as it was sent."""
        return self._document(self._request("GET", path, below=""))

    def post(self, path: str, content: object) -> Any:  # noqa: ANN401 - JSON
        """Send JSON, and return the response."""
        return self._json(self._request("POST", path, json=content))

    def patch(self, path: str, content: object) -> Any:  # noqa: ANN401 - JSON
        """Send changes as JSON, and return the response."""
        return self._json(self._request("PATCH", path, json=content))

    def delete(self, path: str) -> None:
        """Delete the resource at a path."""
        with self._request("DELETE", path) as response:
            self._check(response)

    def put(self, path: str, body: Iterable[bytes], **query: str) -> Any:  # noqa: ANN401 - JSON
        """Stream bytes, and return the response; a body with ``__len__`` is sent with its length."""
        kind = {"Content-Type": "application/octet-stream"}
        return self._json(
            self._request("PUT", path, params=query, data=body, headers=kind, timeout=_UPLOAD_TIMEOUTS),
        )

    def pages(self, path: str, member: str, **query: str | int) -> Iterator[Any]:
        """Yield the items of the list ``member``, page by page."""
        page = self.get(path, **query)
        known = set[str]()
        while True:
            items = page.get(member) if isinstance(page, dict) else None
            if not isinstance(items, list):
                raise self._unexpected_error(f"no list of {member}")
            yield from items
            following = page.get("next")
            if following is None:
                return
            # A response must not lead to another host.
            if not isinstance(following, str) or not following.startswith(f"{_API}/"):
                raise self._unexpected_error(f"{following!a} as the next page")
            if following in known:
                raise self._unexpected_error("an endless list")
            known.add(following)
            page = self.get(following.removeprefix(_API))

    def read(self, response: object, kind: type[T]) -> T:
        """Convert a response to ``kind``, ignoring unknown members."""
        try:
            read = msgspec.convert(response, prepared(kind))
        except msgspec.ValidationError as error:
            raise self._unexpected_error(str(error)) from error
        for moment in _moments(read):
            if moment.year not in _YEARS:
                raise self._unexpected_error(f"a time in the year {moment.year}")
        return read

    @contextmanager
    def lines(self, path: str) -> Iterator[Iterator[str]]:
        """Open a response as a stream of lines."""
        accept = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        with self._request("GET", path, headers=accept) as response:
            self._check(response)
            yield self._lines(response)

    def parse(self, data: bytes | str) -> Any:  # noqa: ANN401 - JSON
        """Decode JSON that the site sent."""
        try:
            return msgspec.json.decode(data)
        except RecursionError as error:
            raise self._unexpected_error("JSON that is nested too deeply") from error
        except (msgspec.DecodeError, ValueError) as error:  # ValueError if it isn't UTF-8
            raise self._unexpected_error(f"invalid JSON ({error})") from error

    def _lines(self, response: requests.Response) -> Iterator[str]:
        """Yield lines as they arrive, without line endings; an unfinished last line is dropped."""
        size, begun = 0, bytearray()
        with self._site_errors():
            for piece in response.iter_content(chunk_size=1):  # a larger chunk would block until it is full
                begun += piece
                size += len(piece)
                if b"\n" in piece:
                    *ended, begun = begun.split(b"\n")
                    for line in ended:
                        text = line.removesuffix(b"\r").decode(errors="replace")
                        size = size if text else len(begun)
                        yield text
                if size > MAX_EVENT_BYTES:
                    raise self._unexpected_error("an event that never ends")

    def _body(self, response: requests.Response) -> bytes:
        body = bytearray()
        with self._site_errors():
            for piece in response.iter_content(_PIECE):
                body += piece
                if len(body) > MAX_BYTES:
                    raise self._unexpected_error(f"more than {MAX_BYTES // 1024**2} MiB")
        return bytes(body)

    @contextmanager
    def _site_errors(self) -> Iterator[None]:
        """Raise SiteError for a broken connection."""
        try:
            yield
        except requests.RequestException as error:
            raise NoResponse(connection_error(self.address, error)) from error
        except OSError as error:
            if error.errno is not None:  # from a file that is being sent
                raise
            # The requests library reports a missing certificate file this way.
            raise SiteError(
                f"the certificate of {self.address} can't be checked ({error}): correct REQUESTS_CA_BUNDLE"
            ) from error

    def _request(
        self,
        method: str,
        path: str,
        below: str = _API,
        **request: Any,  # noqa: ANN401 - options of the requests library
    ) -> requests.Response:
        url = f"{self.address}{below}{path}"
        settings = {"timeout": _TIMEOUTS} | request
        with self._site_errors():
            # With an auth function, requests ignores ~/.netrc.
            return self._session.request(
                method, url, auth=self._add_token, allow_redirects=False, stream=True, **settings
            )

    def _add_token(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token is not None:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def _json(self, response: requests.Response) -> Any:  # noqa: ANN401 - JSON
        return self.parse(self._document(response))

    def _document(self, response: requests.Response) -> bytes:
        with response:
            self._check(response)
            if _kind(response) != "application/json":
                raise self._unexpected_error(f"{_kind(response) or 'something'} where JSON was expected")
            return self._body(response)

    def _check(self, response: requests.Response) -> None:
        if response.status_code in _REDIRECTS:
            raise self._redirect_error(response.headers.get("Location", ""))
        if response.status_code < HTTPStatus.BAD_REQUEST:
            return
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            raise SiteProblem(
                HTTPStatus.UNAUTHORIZED,
                f"{self.address} does not accept this token.",
                f"Create a new one at {self.address}/account, then log in: arena login {self.address}",
            )
        raise self._problem(response)

    def _problem(self, response: requests.Response) -> SiteError:
        """Return the problem that the site reported, or an error if the server is not an arena."""
        problem: Any = None
        if _kind(response) == "application/problem+json":
            try:
                problem = self.parse(self._body(response))
            except SiteError:
                problem = None
        if not isinstance(problem, dict):
            return SiteError(
                f"{self.address} returned {response.status_code} {response.reason}, which is not an arena's "
                "response: try again in a moment, or check the address"
            )
        detail, hint = str(problem.get("detail", "")), str(problem.get("hint", ""))
        return SiteProblem(response.status_code, detail, hint, retryable=_may_retry(response))

    def _redirect_error(self, location: str) -> SiteError:
        try:
            other = check_address(urljoin(f"{self.address}/", location).partition("/api/")[0])
        except (ValueError, WrongLogin):
            other = self.address
        if other == self.address:
            return self._unexpected_error("a redirect")
        return SiteError(
            f"{self.address} redirects to {other}. If that is your arena, run `arena login {other}`"
        )

    def _unexpected_error(self, what: str) -> SiteError:
        return SiteError(
            f"{self.address} returned {what}: check that this is an arena's address, and that the "
            "command and the arena are the same version"
        )


class _Session(requests.Session):
    """Ignores redirects, because requests would read the whole body of a redirect to resolve it."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return None."""


def _moments(value: object) -> Iterator[datetime]:
    """Yield all times in a document."""
    if isinstance(value, datetime):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _moments(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _moments(getattr(value, field.name))


def _may_retry(response: requests.Response) -> bool:
    """Return True if a retry may succeed soon, rather than only once a daily quota is renewed."""
    after = response.headers.get("Retry-After", "")
    return after.isdecimal() and len(after) <= _DIGITS and int(after) <= _MAX_RETRY_AFTER


def _kind(response: requests.Response) -> str:
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
