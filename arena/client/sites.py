"""Where the user of this machine is logged in. Tokens are kept in a file that nobody else can read."""

import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec
import platformdirs

from arena.client.address import check_address
from arena.client.errors import WrongLogin

SITE_VARIABLE: Final = "ARENA_SITE"
TOKEN_VARIABLE: Final = "ARENA_TOKEN"  # noqa: S105 - the name of a variable
_LONGEST: Final = 200
"""Characters; the tokens of a site are shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A site where somebody is logged in.

    Attributes:
        site: Its address, as :func:`arena.client.address.check_address` writes it.
        token: The secret.
        account: Whose it is; empty where that was never asked.
    """

    site: str
    token: str
    account: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """The file: sites in the order of their logins."""

    sites: tuple[Login, ...] = ()


class Sites:
    """The logins of this user.

    Args:
        file: Where they are kept. Its folder is made when the first one is.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def all(self) -> tuple[Login, ...]:
        """Return the logins, the last one at the end.

        Raises:
            WrongLogin: The file can't be read.
        """
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_Kept).sites
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.DecodeError) as error:
            raise WrongLogin(f"{self._file} can't be read ({error}): remove it, and log in again") from error

    def remember(self, login: Login) -> None:
        """Keep a login. It replaces an older one of the same site, and is the default from now on.

        Raises:
            WrongLogin: The file can't be read or written.
        """
        with self._alone():
            self._write((*(each for each in self.all() if each.site != login.site), login))

    def forget(self, site: str) -> None:
        """Forget the login of a site, if there is one.

        Raises:
            WrongLogin: The file can't be read or written.
        """
        with self._alone():
            self._write(tuple(each for each in self.all() if each.site != site))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other commands from changing the file: by a lock on its folder, for the file is replaced."""
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(self._file.parent, os.O_RDONLY)
        except OSError as error:
            raise WrongLogin(f"{self._file} can't be written ({error.strerror})") from error
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def _write(self, logins: tuple[Login, ...]) -> None:
        part = self._file.with_name(f".{self._file.name}.{secrets.token_hex(4)}.part")
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(_Kept(sites=logins))) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._file)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise WrongLogin(f"{self._file} can't be written ({error.strerror})") from error


def users_sites() -> Sites:
    """Return the logins of whoever runs this."""
    return Sites(platformdirs.user_config_path("kaiten") / "sites.json")


def chosen(sites: Sites, environ: Mapping[str, str]) -> Login:
    """Return the login that is meant: that of the environment, or else the last one.

    Args:
        sites: Those of the user.
        environ: ``ARENA_SITE`` chooses a site, and ``ARENA_TOKEN`` is a token of it that is kept nowhere.

    Raises:
        WrongLogin: There is none, or it can't be used.
    """
    named, token = environ.get(SITE_VARIABLE), environ.get(TOKEN_VARIABLE)
    if token:
        if not named:
            raise WrongLogin(
                f"{TOKEN_VARIABLE} is set, and {SITE_VARIABLE} is not: set both, or none of them"
            )
        return Login(site=check_address(named), token=check_token(token))
    known = sites.all()
    if named:
        site = check_address(named)
        known = tuple(each for each in known if each.site == site)
        if not known:
            raise WrongLogin(f"you are not logged in at {site}: arena login {site}")
    if not known:
        raise WrongLogin(
            "you are logged in nowhere: arena login https://…, with the address of an arena's site"
        )
    return replace(known[-1], site=check_address(known[-1].site), token=check_token(known[-1].token))


def check_token(text: str) -> str:
    """Return a token without the white space around it.

    Raises:
        WrongLogin: It can't be a token.
    """
    token = text.strip()
    if not token or len(token) > _LONGEST or not (token.isascii() and token.isprintable()) or " " in token:
        raise WrongLogin("that can't be a token: copy it whole, from kaiten_ to its last letter")
    return token
