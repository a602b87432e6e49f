"""The templates and what they can call."""

from typing import Final

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from web import text
from web.caller import caller_of

_ENVIRONMENT: Final = Environment(
    loader=PackageLoader("web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters.update(
    bot_address=text.bot_address,
    browser_name=text.browser_name,
    clean_name=text.clean_name,
    clock=text.clock,
    count=text.count,
    day=text.day,
    fixed=text.fixed,
    image_name=text.image_name,
    iso_moment=text.iso_moment,
    millis=text.millis,
    odds=text.odds,
    percent=text.percent,
    second=text.second,
    short_digest=text.short_digest,
    signed=text.signed,
    size=text.size,
    span=text.span,
    visible=text.visible,
)


def page(request: Request, template: str, *, status: int = 200, **context: object) -> HTMLResponse:
    """Render a template as an answer. It knows who asks as ``caller``, as far as that was found out."""
    return HTMLResponse(render(template, caller=caller_of(request), **context), status_code=status)


def render(template: str, **context: object) -> str:
    """Render a template that knows nobody."""
    return _ENVIRONMENT.get_template(template).render(context)
