"""``arena login`` and ``arena logout``, and helpers for all commands that use a site."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arena.cli.console import EXIT_FAILURE, EXIT_USAGE, fail, read_secret, say
from arena.client.sites import (
    ClientError,
    Login,
    SiteError,
    SiteProblem,
    Sites,
    WrongLogin,
    check_address,
    check_token,
    chosen,
    crosses_network_unencrypted,
    users_sites,
)
from arena.platform.environment import OTHER_VARIABLES, SITE_VARIABLE, TOKEN_VARIABLE
from arena.platform.text import visible
from arena.protocol.accounts import Account

if TYPE_CHECKING:
    from arena.client.site import SiteClient


@contextmanager
def exit_on_client_error() -> Iterator[None]:
    """Turn an error into one line and an exit code. Misspelled environment variables count as errors."""
    _check_environment()
    try:
        yield
    except SiteError as error:
        fail(visible(str(error)), EXIT_FAILURE)
    except ClientError as error:
        fail(visible(str(error)), EXIT_USAGE)


def _check_environment() -> None:
    """Reject misspelled variables: with a misspelled ARENA_SITE, a bot could be sent to the wrong site."""
    if all(name in OTHER_VARIABLES for name in os.environ if name.startswith("ARENA_")):
        return
    from arena.platform.settings import WrongSettings, check_names

    try:
        check_names(os.environ)
    except WrongSettings as error:
        fail(str(error))


@contextmanager
def logged_in_site() -> Iterator["SiteClient"]:
    """Open the site that the user is logged in to; turn errors into one line and an exit code."""
    from arena.client.site import SiteClient

    with exit_on_client_error():
        login = chosen(users_sites(), os.environ)
        with closing(SiteClient(login.site, login.token)) as site:
            yield site


_REQUIRED_SCOPES: Final = ("read", "submit")


def login(
    site: Annotated[
        str | None,
        typer.Argument(help="URL of the site. Default: ARENA_SITE or else the site you last logged in to."),
    ] = None,
) -> None:
    """Log in to an arena's site with a token, read from the terminal or standard input."""
    from arena.client.site import SiteClient

    with exit_on_client_error():
        sites = users_sites()
        address = check_address(site or os.environ.get(SITE_VARIABLE) or _last_site(sites))
        if crosses_network_unencrypted(address):
            say(f"{address} doesn't use HTTPS: anyone on the network can read the token and use it")
        with closing(SiteClient(address)) as visited:
            visited.get("/status")  # check that it is an arena before sending it a token
        token = check_token(_read_token(address))
        with closing(SiteClient(address, token)) as visited:
            account = visited.read(visited.get("/account"), Account)
        sites.remember(Login(site=address, token=token, account=account.name))
    until = "" if account.token is None else f", until {account.token.expires.astimezone():%Y-%m-%d}"
    say(f"logged in to {address} as {visible(account.name)}{until}")
    if missing := [scope for scope in _REQUIRED_SCOPES if scope not in account.scopes]:
        say(f"this token lacks scopes that some commands need: {' and '.join(missing)}")
    if os.environ.get(TOKEN_VARIABLE):
        say(f"{TOKEN_VARIABLE} is set and takes precedence over this login")


def logout() -> None:
    """Revoke and delete the token for the site in ARENA_SITE or else the site you last logged in to."""
    if os.environ.get(TOKEN_VARIABLE):
        fail(f"{TOKEN_VARIABLE} is set: unset it. To revoke that token, use the site's /account page")
    with exit_on_client_error():
        sites = users_sites()
        known = chosen(sites, os.environ)
        _revoke(known)
        sites.forget(known.site)
        left = sites.all()
    say(f"logged out of {known.site}")
    if left and not os.environ.get(SITE_VARIABLE):
        say(f"still logged in to {', '.join(each.site for each in left)}; commands now use {left[-1].site}")


def _revoke(known: Login) -> None:
    from arena.client.site import SiteClient

    try:
        with closing(SiteClient(known.site, known.token)) as site:
            account = site.read(site.get("/account"), Account)
            if account.token is not None:
                site.delete(f"/account/tokens/{account.token.id}")
    except SiteProblem:
        say(f"{known.site} refused to revoke the token; if it still works, revoke it at {known.site}/account")
    except SiteError as error:
        say(visible(str(error)))
        say(f"token not revoked: if it still works, revoke it at {known.site}/account")


def _last_site(sites: Sites) -> str:
    known = sites.all()
    if not known:
        raise WrongLogin("no site given: pass a site's URL, such as https://arena.example")
    return known[-1].site


def _read_token(address: str) -> str:
    if sys.stdin.isatty():
        say(f"create a token at {address}/account, with the {' and '.join(_REQUIRED_SCOPES)} scopes")
    return read_secret("Token")
