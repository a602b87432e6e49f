"""The templates, with their filters and functions."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from arena.platform.names import WrongName, check_name
from arena.platform.text import clean_name, whole_percent
from arena.protocol.match import OUT_OF_MEMORY
from arena.protocol.states import Scope
from arena.rules import PLAYER_COUNTS, Card
from web.http.authentication import caller_of, is_unencrypted, logged_in, note_caller
from web.http.caching import tagged
from web.http.static import STATIC

_NOTHING: Final = "\N{EN DASH}"
_MINUS: Final = "\N{MINUS SIGN}"
_TEN: Final = 10
_TENTH: Final = 0.1
_TEN_SECONDS: Final = 10_000
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_KIB: Final = 1024
_IMAGE: Final = "sha256:"
_DIGEST: Final = 64
_SHORT_DIGEST: Final = 12
_KEPT_CHARACTERS: Final = "\n\t"


def visible(text: str) -> str:
    """Return untrusted multi-line text with invisible characters escaped.

    Invisible characters are those in categories C, Zl and Zp, such as control characters and bidirectional
    overrides, except line ends and tabs. Templates escape markup.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(
        letter
        if letter.isprintable() or letter in _KEPT_CHARACTERS or unicodedata.category(letter) == "Zs"
        else letter.encode("unicode_escape").decode()
        for letter in lines
    )


def bot_address(name: str) -> str | None:
    """Return the address of a bot's page; None if the name is no longer valid."""
    try:
        check_name(name, "bot")
    except WrongName:
        return None
    return f"/bots/{name}"


def card_name(card: Card) -> str:
    """Return a kind's display name."""
    return card.label.replace("_", " ")


def card_title(label: str) -> str:
    """Return the capitalised display name of the kind with this label."""
    return label.replace("_", " ").capitalize()


def short_card_title(label: str) -> str:
    """Return the capitalised display name of the kind with this label, without ``nigiri``."""
    return card_title(label.removesuffix("_nigiri"))


def browser_name(agent: str) -> str:
    """Return a browser's name and system from its ``User-Agent``, if known."""
    make = next((name for sign, name in _BROWSERS if sign in agent), None)
    system = next((name for sign, name in _SYSTEMS if sign in agent), None)
    if make is None:
        return clean_name(agent) if agent.strip() else "unknown"
    return make if system is None else f"{make} on {system}"


_BROWSERS: Final = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),  # also calls itself Safari
    ("Safari/", "Safari"),
)
_SYSTEMS: Final = (
    ("Android", "Android"),  # also calls itself Linux
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def fixed(value: float | None, digits: int = 2) -> str:
    """Format a number with ``digits`` decimals and a real minus sign; None as a dash."""
    if value is None:
        return _NOTHING
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        return text.lstrip("-")
    return text.replace("-", _MINUS)


def signed(value: float, digits: int = 2) -> str:
    """Format a change like :func:`fixed`, with a plus sign if it is positive."""
    text = fixed(value, digits)
    return f"+{text}" if value > 0 and float(text) > 0 else text


def count(value: int) -> str:
    """Format a count."""
    return f"{value:,}"


def odds(probability: float) -> str:
    """Format a probability as odds."""
    return f"1 in {1 / probability:,.0f}" if probability > 1e-6 else "1 in a million"  # noqa: PLR2004 - the text names this limit


def percent(share: float | None) -> str:
    """Format a share as a whole percentage, or None as a dash. Shares never round to 0% or 100%."""
    return _NOTHING if share is None else f"{whole_percent(share)}%"


def millis(value: float | None) -> str:
    """Format a time in milliseconds (with tenths below 10 ms), or in seconds from 10 s up; None as a dash."""
    if value is None:
        return _NOTHING
    if value < _TENTH:
        return "<0.1 ms"
    if value < _TEN:
        return f"{value:.1f} ms"
    return f"{value:,.0f} ms" if value < _TEN_SECONDS else f"{value / 1000:,.1f} s"


def size(value: int) -> str:
    """Format a number of bytes in the largest unit that fits, with one decimal for KiB and MiB."""
    if value < _KIB:
        return f"{value:,} byte{'s' * (value != 1)}"
    if value < _KIB * _KIB:
        return f"{value / _KIB:,.1f} KiB"
    return f"{value / _KIB / _KIB:,.1f} MiB"


def short_digest(value: str) -> str:
    """Shorten a digest; return other text unchanged."""
    digest = value.removeprefix(_IMAGE)
    return digest[:_SHORT_DIGEST] if len(digest) == _DIGEST else value


def span(value: timedelta) -> str:
    """Format a duration in seconds, minutes or hours."""
    seconds = value.total_seconds()
    if seconds < 1:
        return "<1 s"
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:.0f} h"


def day(value: datetime) -> str:
    """Format the day in UTC."""
    return value.astimezone(UTC).strftime("%Y-%m-%d")


def clock(value: datetime) -> str:
    """Format the time of day in UTC, to the minute."""
    return value.astimezone(UTC).strftime("%H:%M")


def second(value: datetime) -> str:
    """Format the time of day in UTC, to the second."""
    return value.astimezone(UTC).strftime("%H:%M:%S")


def iso_moment(value: datetime) -> str:
    """Format a time for a ``datetime`` attribute."""
    return value.astimezone(UTC).isoformat(timespec="seconds")


def origin(request: Request) -> str:
    """Return the site's origin as given in the visitor's request."""
    return str(request.base_url).rstrip("/")


ENVIRONMENT: Final = Environment(
    loader=PackageLoader("web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.globals.update(
    OUT_OF_MEMORY=OUT_OF_MEMORY,
    PLAYER_COUNTS=PLAYER_COUNTS,
    STATIC=STATIC,
    is_unencrypted=is_unencrypted,
    origin=origin,
)
ENVIRONMENT.filters.update(
    bot_address=bot_address,
    browser_name=browser_name,
    card_name=card_name,
    card_title=card_title,
    clean_name=clean_name,
    clock=clock,
    count=count,
    day=day,
    fixed=fixed,
    iso_moment=iso_moment,
    millis=millis,
    odds=odds,
    percent=percent,
    second=second,
    short_card_title=short_card_title,
    short_digest=short_digest,
    signed=signed,
    size=size,
    span=span,
    visible=visible,
)


def page(request: Request, template: str, *, status: int = 200, **context: object) -> Response:
    """Render a template as a response with an ETag; the template gets the request and its ``caller``."""
    text = render(template, request=request, caller=caller_of(request), **context)
    response = HTMLResponse(text, status_code=status)
    return tagged(request, response)


def render(template: str, **context: object) -> str:
    """Render a template without a request."""
    return ENVIRONMENT.get_template(template).render(context)


class PageRouter(APIRouter):
    """Page routes, each for GET and HEAD unless it specifies other methods.

    Responses from ``anonymous`` routes are the same for everyone; ``private`` routes require a session.
    """

    def __init__(self, *, prefix: str = "", anonymous: bool = False, private: bool = False) -> None:
        noted = [] if anonymous else [Depends(note_caller)]
        super().__init__(prefix=prefix, dependencies=[*noted, Depends(logged_in)] if private else noted)

    def add_api_route(
        self,
        path: str,
        endpoint: Callable[..., Any],
        **options: Any,  # noqa: ANN401 - FastAPI's own
    ) -> None:
        """Add a route."""
        if options.get("methods") in (None, ["GET"]):
            options["methods"] = ["GET", "HEAD"]
        super().add_api_route(path, endpoint, **options)

    def add_form(self, path: str, action: Callable[..., Any], page: str | None = None) -> None:
        """Add a POST route for a form. A GET request to the same path redirects to the page with the form.

        ``page`` is that page's path, with placeholders like those in ``path``; by default, it is the prefix.
        """

        def back(request: Request) -> Response:
            return RedirectResponse((page or self.prefix).format(**request.path_params), 303)

        self.add_api_route(path, back)
        self.add_api_route(path, action, methods=["POST"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """The viewer of a page."""

    account: int | None  # None if not logged in
    operator: bool  # whether the viewer may see everything

    def owns(self, account: int | None) -> bool:
        """Return True if this is the viewer's account; data whose account is None has no owner."""
        return account is not None and account == self.account

    def may_see(self, account: int | None) -> bool:
        """Return True if the viewer may see this account's private data."""
        return self.operator or self.owns(account)


def viewer_of(request: Request) -> Viewer:
    """Return the viewer. Pages are for browsers, so tokens give no access to private pages."""
    caller = caller_of(request)
    if caller is None or caller.session is None:
        return Viewer(account=None, operator=False)
    return Viewer(account=caller.account.id, operator=Scope.OPERATE in caller.scopes)
