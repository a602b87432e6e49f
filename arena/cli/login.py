"""``arena login`` and ``arena logout``."""

import os
import sys
from contextlib import closing
from typing import Annotated, Final

import typer

from arena.cli.console import fail, say
from arena.cli.online import explained
from arena.client.address import can_be_read_on_its_way, check_address
from arena.client.documents import Account
from arena.client.errors import SiteProblem, SiteTrouble, WrongLogin
from arena.client.site import Site
from arena.client.sites import SITE_VARIABLE, TOKEN_VARIABLE, Login, Sites, check_token, chosen, users_sites
from arena.speech import visible

_NEEDED: Final = ("read", "submit")


def login(
    site: Annotated[
        str | None, typer.Argument(help="Its address, such as https://arena.example. Without: the last one.")
    ] = None,
) -> None:
    """Log in at an arena's site with a token. It is asked for, or read from standard input."""
    with explained():
        sites = users_sites()
        address = check_address(site or os.environ.get(SITE_VARIABLE) or _last(sites))
        _warn(address)
        with closing(Site(address)) as visited:
            visited.get("/status")  # before anybody hands out a token: is it an arena at all?
        token = check_token(_asked(address))
        with closing(Site(address, token)) as visited:
            account = visited.read(visited.get("/account"), Account)
        sites.remember(Login(site=address, token=token, account=account.name))
    say(f"logged in at {address} as {visible(account.name)}{_until(account)}")
    if missing := [scope for scope in _NEEDED if scope not in account.scopes]:
        say(f"this token lacks the scope {' and '.join(missing)}: some commands will be refused")
    if os.environ.get(TOKEN_VARIABLE):
        say(f"{TOKEN_VARIABLE} is set here, and the commands go by that")


def logout() -> None:
    """Revoke the token of the last site, or of ARENA_SITE, and forget it."""
    if os.environ.get(TOKEN_VARIABLE):
        fail(f"{TOKEN_VARIABLE} is set here: unset it; the site's page /account revokes it")
    with explained():
        sites = users_sites()
        known = chosen(sites, os.environ)
        _revoke(known)
        sites.forget(known.site)
        left = sites.all()
    say(f"logged out at {known.site}")
    if left:
        say(f"still logged in at {', '.join(each.site for each in left)}; the commands go to {left[-1].site}")


def _revoke(known: Login) -> None:
    try:
        with closing(Site(known.site, known.token)) as site:
            account = site.read(site.get("/account"), Account)
            if account.token is not None:
                site.delete(f"/account/tokens/{account.token.id}")
    except SiteProblem:
        say(f"{known.site} did not take the token any more")
    except SiteTrouble as trouble:
        say(visible(str(trouble)))
        say(f"the token was not revoked: where it still works, {known.site}/account revokes it")


def _last(sites: Sites) -> str:
    known = sites.all()
    if not known:
        raise WrongLogin("name the site, such as https://arena.example")
    return known[-1].site


def _asked(address: str) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline()
    say(f"make a token at {address}/account, with the scopes {' and '.join(_NEEDED)}")
    asked: str = typer.prompt("Token", hide_input=True, err=True)
    return asked


def _warn(address: str) -> None:
    if can_be_read_on_its_way(address):
        say(f"{address} has no HTTPS: whoever shares the network can read the token, and act with it")


def _until(account: Account) -> str:
    return "" if account.token is None else f", until {account.token.expires.astimezone():%Y-%m-%d}"
