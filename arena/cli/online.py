"""What the commands that talk to a site have in common."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import quote

from arena.cli.console import USAGE, WRONG, fail
from arena.client.errors import ClientError, SiteTrouble
from arena.client.site import Site
from arena.client.sites import chosen, users_sites
from arena.speech import visible


@contextmanager
def explained() -> Iterator[None]:
    """Turn what goes wrong into one line and an exit code."""
    try:
        yield
    except SiteTrouble as error:
        fail(visible(str(error)), WRONG)
    except ClientError as error:
        fail(visible(str(error)), USAGE)


@contextmanager
def visiting() -> Iterator[Site]:
    """Give the site at which one is logged in; what goes wrong is explained."""
    with explained():
        login = chosen(users_sites(), os.environ)
        with closing(Site(login.site, login.token)) as site:
            yield site


def part(text: str) -> str:
    """Return a name or an id that somebody typed as one part of a path.

    Raises:
        ClientError: It would be none, or lead elsewhere.
    """
    if not text.strip("."):
        raise ClientError(f"{text!r} is the name of nothing")
    return quote(text, safe="@", errors="replace")
