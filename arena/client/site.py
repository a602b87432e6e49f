"""One site: requests with a token, and what is wrong in sentences.

A token is sent to the site's own address and to nobody else: redirects are not followed.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar
from urllib.parse import urljoin

import msgspec
import requests
from requests.auth import AuthBase

from arena import __version__
from arena.client.address import check_address
from arena.client.errors import SiteProblem, SiteTrouble, WrongLogin
from arena.client.reading import Strange, lines, parsed, whole
from arena.client.unreached import why

_API: Final = "/api/v1"
_USUAL: Final = (10.0, 60.0)
"""Seconds until there is a connection, and without a byte of the answer."""

_UPLOAD: Final = (30.0, 180.0)
"""The first is also how long the site may take nothing; a large file takes its time to be written there."""

_UNAUTHORIZED: Final = 401
_REFUSED: Final = 400
_SOON: Final = 60
"""Seconds for which nobody is sent away."""

_DIGITS: Final = 9
_REDIRECTS: Final = range(300, 400)
_MOST_PAGES: Final = 1000
"""Of a list; an arena's have fewer."""

T = TypeVar("T")


class Site:
    """A site, over one connection. Close it after use.

    Every method raises SiteTrouble where no arena answers, and SiteProblem where the arena refuses.

    Args:
        address: As :func:`arena.client.address.check_address` returns it.
        token: The secret; None asks as anybody.
    """

    def __init__(self, address: str, token: str | None = None) -> None:
        self.address = address
        self._auth = _Bearer(token)
        self._session = _Session()
        self._session.headers["User-Agent"] = f"kaiten-arena/{__version__}"

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def get(self, path: str, **query: str | int) -> Any:  # noqa: ANN401 - JSON
        """Return what is at a path below /api/v1."""
        return self._json(self._ask("GET", path, params=query))

    def post(self, path: str, content: object) -> Any:  # noqa: ANN401 - JSON
        """Send JSON, and return the answer."""
        return self._json(self._ask("POST", path, json=content))

    def patch(self, path: str, content: object) -> Any:  # noqa: ANN401 - JSON
        """Send changes as JSON, and return the answer."""
        return self._json(self._ask("PATCH", path, json=content))

    def delete(self, path: str) -> None:
        """Delete what is at a path."""
        with self._ask("DELETE", path) as answer:
            self._check(answer)

    def put(self, path: str, body: Iterable[bytes], **query: str) -> Any:  # noqa: ANN401 - JSON
        """Send bytes while they are made, and return the answer.

        Args:
            path: Where.
            body: Sent in chunks; with its length before it where it has one (``__len__``).
            query: Parameters.
        """
        kind = {"Content-Type": "application/octet-stream"}
        return self._json(
            self._ask("PUT", path, params=query, data=body, headers=kind, timeout=_UPLOAD),
        )

    def pages(self, path: str, member: str, **query: str | int) -> Iterator[Any]:
        """Yield the items of a list, page by page.

        Args:
            path: Of the first page.
            member: The name of the list.
            query: Parameters.
        """
        page = self.get(path, **query)
        known = set[str]()
        while True:
            yield from self.member(page, member)
            following = page.get("next")
            if following is None:
                return
            # Nothing that a site says leads to another host.
            if not isinstance(following, str) or not following.startswith(f"{_API}/"):
                raise self._strange(f"{following!a} as the next page")
            if following in known or len(known) == _MOST_PAGES:
                raise self._strange("a list without end")
            known.add(following)
            page = self.get(following.removeprefix(_API))

    def member(self, answer: object, name: str) -> list[Any]:
        """Return a list of an answer by its name."""
        found = answer.get(name) if isinstance(answer, dict) else None
        if not isinstance(found, list):
            raise self._strange(f"no list of {name}")
        return found

    def read(self, answer: object, kind: type[T]) -> T:
        """Return an answer as a plain object; members that it does not know are left out."""
        try:
            return msgspec.convert(answer, kind)
        except msgspec.ValidationError as error:
            raise self._strange(str(error)) from error

    @contextmanager
    def lines(self, path: str) -> Iterator[Iterator[str]]:
        """Give the lines of an answer as they come."""
        accept = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        with self._ask("GET", path, headers=accept) as answer:
            self._check(answer)
            yield self._lines(answer)

    def parse(self, data: str) -> Any:  # noqa: ANN401 - JSON
        """Return what JSON says that the site has sent among other things."""
        try:
            return parsed(data)
        except Strange as error:
            raise self._strange(str(error)) from error

    def _lines(self, answer: requests.Response) -> Iterator[str]:
        try:
            yield from lines(answer)
        except Strange as error:
            raise self._strange(str(error)) from error
        except requests.RequestException as error:
            raise SiteTrouble(why(self.address, error)) from error

    def _ask(self, method: str, path: str, **request: Any) -> requests.Response:  # noqa: ANN401 - for requests
        url = f"{self.address}{_API}{path}"
        settings = {"timeout": _USUAL} | request
        try:
            # With an object for it, requests looks for no password in ~/.netrc.
            return self._session.request(
                method, url, auth=self._auth, allow_redirects=False, stream=True, **settings
            )
        except requests.RequestException as error:
            raise SiteTrouble(why(self.address, error)) from error

    def _json(self, answer: requests.Response) -> Any:  # noqa: ANN401 - JSON
        with answer:
            self._check(answer)
            if _kind(answer) != "application/json":
                raise self._strange(f"{_kind(answer) or 'something'} where JSON was expected")
            try:
                return parsed(whole(answer))
            except Strange as error:
                raise self._strange(str(error)) from error
            except requests.RequestException as error:
                raise SiteTrouble(why(self.address, error)) from error

    def _check(self, answer: requests.Response) -> None:
        if answer.status_code in _REDIRECTS:
            raise self._elsewhere(answer.headers.get("Location", ""))
        if answer.status_code < _REFUSED:
            return
        if answer.status_code == _UNAUTHORIZED:
            raise SiteProblem(
                _UNAUTHORIZED,
                f"{self.address} does not take this token.",
                f"Make a new one at {self.address}/account, and log in with it: arena login {self.address}",
            )
        raise self._problem(answer)

    def _problem(self, answer: requests.Response) -> SiteTrouble:
        """Return what the site says is wrong, or that something else answers in its place."""
        said: Any = None
        if _kind(answer) == "application/problem+json":
            try:
                said = parsed(whole(answer))
            except (Strange, requests.RequestException):
                said = None
        if not isinstance(said, dict):
            return SiteTrouble(
                f"{self.address} answered {answer.status_code} {answer.reason}, and not as an arena does: "
                "try again in a moment, or check the address"
            )
        detail, hint = str(said.get("detail", "")), str(said.get("hint", ""))
        return SiteProblem(answer.status_code, detail, hint, passes=_passes(answer))

    def _elsewhere(self, location: str) -> SiteTrouble:
        try:
            other = check_address(urljoin(f"{self.address}/", location).partition("/api/")[0])
        except (ValueError, WrongLogin):
            other = self.address
        if other == self.address:
            return self._strange("a redirect")
        return SiteTrouble(f"{self.address} sends to {other}; if that is your arena: arena login {other}")

    def _strange(self, what: str) -> SiteTrouble:
        return SiteTrouble(
            f"{self.address} answered {what}: check that this is an arena's address, and that command and "
            "arena are of the same version"
        )


class _Session(requests.Session):
    """Looks at no redirect: to find out where one leads, requests would read all of its body."""

    def get_redirect_target(self, resp: requests.Response) -> None:  # noqa: ARG002 - as its parent has it
        """Return nothing."""
        return


class _Bearer(AuthBase):
    """Adds the token to a request."""

    def __init__(self, token: str | None) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token is not None:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def _passes(answer: requests.Response) -> bool:
    """Whether it helps to come again soon: who has used up a day's quota must not wait that long."""
    after = answer.headers.get("Retry-After", "")
    return after.isdecimal() and len(after) <= _DIGITS and int(after) <= _SOON


def _kind(answer: requests.Response) -> str:
    return answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
