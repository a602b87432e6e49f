"""The user's logins to sites. Tokens are stored in a file that only the user can read."""

import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec
import platformdirs

from arena.platform.environment import SITE_VARIABLE, TOKEN_VARIABLE
from arena.platform.names import is_loopback
from arena.protocol.decoding import prepared


class ClientError(Exception):
    """A client error. The message says what is wrong and what to do."""


class WrongLogin(ClientError):
    """The site or the token is missing or invalid."""


class CannotSend(ClientError):
    """The author's bot can't be sent."""


class SiteError(ClientError):
    """A site is unreachable, is not an arena, or sent invalid data."""


class NoResponse(SiteError):
    """A site can't be reached, or the connection was lost."""


class SiteProblem(SiteError):
    """A site rejected a request. ``retryable`` is True if the site says that a retry may soon succeed."""

    def __init__(self, status: int, detail: str, hint: str, *, retryable: bool = False) -> None:
        super().__init__(f"{detail} {hint}".strip())
        self.status = status
        self.detail = detail
        self.hint = hint
        self.retryable = retryable


_PORTS: Final = {"http": 80, "https": 443}
_EXAMPLE: Final = "give the site's URL with a scheme and without a path, such as https://arena.example"


def check_address(text: str) -> str:
    """Return a site's normalised address, such as ``https://arena.example``.

    The address is in lower case and has no trailing slash. Raises WrongLogin if ``text`` can't be the address
    of a site.
    """
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname or "", parts.port
        host.encode("idna")  # fails if a label is empty or too long
    except ValueError as error:
        raise WrongLogin(f"{text!a} is not a valid address: {_EXAMPLE}") from error
    beyond = (parts.path.rstrip("/"), parts.query, parts.fragment, parts.username, parts.password)
    if parts.scheme not in _PORTS or not host or not f"{host}".isprintable() or " " in host or any(beyond):
        raise WrongLogin(f"{text!a} can't be the address of a site: {_EXAMPLE}")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + ("" if port in {None, _PORTS[parts.scheme]} else f":{port}")


def crosses_network_unencrypted(address: str) -> bool:
    """Return True if requests to this site cross a network unencrypted."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    return parts.scheme == "http" and not (is_loopback(host) or host.endswith(".localhost"))


_MAX_TOKEN: Final = 200
"""Maximum length of a token in characters; real tokens are shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A login to a site."""

    site: str  # normalised address
    token: str  # the secret
    account: str = ""  # the account's name; empty if unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoginFile:
    """The file's contents: logins, oldest first."""

    sites: tuple[Login, ...] = ()


class Sites:
    """The logins in a file. The first login creates the file and its folder."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def all(self) -> tuple[Login, ...]:
        """Return the logins, oldest first. Raises WrongLogin."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=prepared(_LoginFile)).sites
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.DecodeError) as error:
            raise WrongLogin(f"{self._file} can't be read ({error}): remove it, and log in again") from error

    def remember(self, login: Login) -> None:
        """Store a login. It replaces any earlier login for the same site, and becomes the default.

        Raises WrongLogin.
        """
        with self._lock():
            self._write((*(each for each in self.all() if each.site != login.site), login))

    def forget(self, site: str) -> None:
        """Remove the login for a site, if any. Raises WrongLogin."""
        with self._lock():
            self._write(tuple(each for each in self.all() if each.site != site))

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Lock the file against other commands. The lock is on its folder, because the file is replaced."""
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(self._file.parent, os.O_RDONLY)
        except OSError as error:
            raise WrongLogin(f"{self._file} can't be written ({error.strerror})") from error
        try:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX)
            except OSError as error:  # for example, on a network file system without locking
                raise WrongLogin(f"{self._file.parent} can't be locked ({error.strerror})") from error
            yield
        finally:
            os.close(folder)

    def _write(self, logins: tuple[Login, ...]) -> None:
        part = self._file.with_name(f".{self._file.name}.{secrets.token_hex(4)}.part")
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(_LoginFile(sites=logins))) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._file)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise WrongLogin(f"{self._file} can't be written ({error.strerror})") from error


def users_sites() -> Sites:
    """Return the current user's logins."""
    return Sites(platformdirs.user_config_path("kaiten") / "sites.json")


def chosen(sites: Sites, environ: Mapping[str, str]) -> Login:
    """Return the login to use: from the environment, or else the most recent one.

    ``ARENA_SITE`` selects a site. ``ARENA_TOKEN`` is a token for that site and is not stored. Raises
    WrongLogin if there is no login, or if the login is invalid.
    """
    named, token = environ.get(SITE_VARIABLE), environ.get(TOKEN_VARIABLE)
    if token:
        if not named:
            raise WrongLogin(
                f"{TOKEN_VARIABLE} is set, but {SITE_VARIABLE} is not: set {SITE_VARIABLE}, or unset "
                f"{TOKEN_VARIABLE}"
            )
        return Login(site=check_address(named), token=check_token(token))
    known = sites.all()
    if named:
        site = check_address(named)
        known = tuple(each for each in known if each.site == site)
        if not known:
            raise WrongLogin(f"you are not logged in to {site}: run arena login {site}")
    if not known:
        raise WrongLogin(
            "you are not logged in to any site: run arena login with a site's URL, such as https://arena.example"
        )
    return replace(known[-1], site=check_address(known[-1].site), token=check_token(known[-1].token))


def check_token(text: str) -> str:
    """Return a token without surrounding whitespace. Raises WrongLogin if it can't be a token."""
    token = text.strip()
    if not token or len(token) > _MAX_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
        raise WrongLogin("this is not a token: copy the whole token, from kaiten_ to its last character")
    return token
